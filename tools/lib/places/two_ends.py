# SPDX-License-Identifier: Apache-2.0
"""How programs are run on two hosts by ssh, or in two pods by kubectl: the words that do it, and
what is brought there and taken away again. "A" has the client, "B" the server."""

import contextlib
import os
import shlex
import subprocess
import tempfile

from places.children import ChildFailed

# Ends the program with the standard input, which ends with this process, whatever the program does.
_WITH_STDIN = 'exec 3<&0; "$@" <&3 & p=$!; { cat <&3; kill $p; } >/dev/null 2>&1 & wait $p'
_SHORT = 60  # seconds for what takes no time
_LONG = 600  # to bring a program, or for pods to start
_TOOLS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


class Unfit(Exception):
    """The ends cannot be measured between: why, and the cure."""


def run(name, words, limit=_SHORT, stdin=subprocess.DEVNULL):
    """The output of a command, or ChildFailed with its words."""
    try:
        done = subprocess.run(
            words, stdin=stdin, capture_output=True, timeout=limit, check=False
        )
    except FileNotFoundError:
        raise ChildFailed(name, words, "is not installed here", "") from None
    except subprocess.TimeoutExpired:
        raise ChildFailed(name, words, "did not end within %d s" % limit, "") from None
    if done.returncode:
        stderr = done.stderr.decode(errors="replace")
        raise ChildFailed(name, words, "ended with %d" % done.returncode, stderr)
    return done.stdout.decode(errors="replace")


# Of each program, where Bazel puts it.
PROGRAMS = {
    "echo-bench": "benchmarks/echo/echo_bench",
    "kv-server": "examples/kv/kv_server",
    "kv-bench": "examples/kv/kv_bench",
    "block-server": "examples/attachment/block_server",
    "block-bench": "examples/attachment/block_bench",
}


class Here:
    """Both ends are this host."""

    def __init__(self, bin_dir):
        self._bin_dir = bin_dir

    def name(self, _):
        return "this host"

    def inside(self, _, words):
        return words

    def program(self, _, name):
        return os.path.join(self._bin_dir, PROGRAMS[name])

    def address(self):
        return "127.0.0.1"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


# A master that stays behind would keep our pipes open; one that is there is used.
_SSH = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15", "-o", "ControlMaster=no")


class Hosts:
    """Two hosts that ssh reaches without a question. `programs`: what is brought there."""

    def __init__(self, names, bin_dir, programs):
        self._names = dict(zip("AB", names))
        self._bin_dir = bin_dir
        self._programs = programs
        self._folders = {}

    def name(self, end):
        return self._names[end]

    def inside(self, end, words):
        return ["ssh", *_SSH, self._names[end], "--", shlex.join(words)]

    def program(self, end, name):
        return os.path.join(self._folders[end], name) if self._folders else name

    def address(self):
        """There is none that all hosts have: it is that of an adapter."""
        return ""

    def __enter__(self):
        try:
            for end in self._names if self._programs else ():
                make = ["mktemp", "-d", "/tmp/farcall-bench.XXXXXX"]
                self._folders[end] = self._there(end, make).strip()
                for name in self._programs:
                    self._bring(end, name)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _there(self, end, words, **more):
        return run("ssh to " + self._names[end], self.inside(end, words), **more)

    def _bring(self, end, name):
        copy = ["sh", "-c", 'cat >"$0" && chmod 755 "$0"', self.program(end, name)]
        with open(os.path.join(self._bin_dir, PROGRAMS[name]), "rb") as program:
            self._there(end, copy, limit=_LONG, stdin=program)

    def __exit__(self, *_):
        for end, folder in self._folders.items():
            with contextlib.suppress(ChildFailed):
                self._there(end, ["rm", "-rf", folder])


class Pods:
    """Two pods of the Jobs of k8s/overlays/bench, or of a kustomization over it, which do nothing
    by themselves then. The Jobs are made here, and deleted."""

    # Not before the Jobs have ended by themselves: then pods would be gone in a measurement.
    _KUSTOMIZATION = """resources: [%s]
patches:
- target: {kind: Job}
  patch: |-
    - {op: replace, path: /spec/activeDeadlineSeconds, value: 86400}
    - {op: add, path: /spec/template/spec/terminationGracePeriodSeconds, value: 1}
    - {op: replace, path: /spec/template/spec/containers/0/command, value: [sleep, infinity]}
"""
    _JOBS = {"A": "job/bench-client", "B": "job/bench-server"}
    _MADE = (*_JOBS.values(), "service/bench-server")

    def __init__(self, folder):
        self._folder = folder or os.path.join(os.path.dirname(_TOOLS), "k8s", "overlays", "bench")
        self._pods = {}  # end: (name, address, node)

    def name(self, end):
        return "pod %s on node %s" % (self._pods[end][0], self._pods[end][2])

    def inside(self, end, words):
        return [*self._KUBECTL, "exec", "-i", self._pods[end][0], "-c", "farcall", "--", *words]

    def program(self, _, name):
        return name

    def address(self):
        return self._pods["B"][1]

    _KUBECTL = ("kubectl", "-n", "farcall")

    def _kubectl(self, *words, limit=_SHORT):
        return run("kubectl", [*self._KUBECTL, *words], limit)

    def __enter__(self):
        there = self._kubectl("get", *self._MADE, "--ignore-not-found", "-o", "name").split()
        if there:
            cure = "%s delete %s" % (" ".join(self._KUBECTL), " ".join(there))
            raise Unfit("another run has made %s; if it has ended: %s" % (", ".join(there), cure))
        try:
            with tempfile.TemporaryDirectory() as room:
                room = os.path.realpath(room)
                base = os.path.relpath(os.path.realpath(self._folder), room)
                with open(os.path.join(room, "kustomization.yaml"), "w", encoding="utf-8") as out:
                    out.write(self._KUSTOMIZATION % base)
                self._kubectl("apply", "-k", room)
            for end, job in self._JOBS.items():
                self._pods[end] = self._ready(job)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _ready(self, job):
        ready = "--for=jsonpath={.status.ready}=1"
        try:
            self._kubectl("wait", ready, job, "--timeout=%ds" % _LONG, limit=_LONG + _SHORT)
        except ChildFailed as failed:
            events = self._kubectl("get", "events", "--field-selector=type=Warning")
            raise ChildFailed(job, ["wait"], "has no pod that is ready", events) from failed
        select = "-l=job-name=" + job.partition("/")[2]
        fields = "{.items[0].metadata.name} {.items[0].status.podIP} {.items[0].spec.nodeName}"
        return self._kubectl("get", "pods", select, "-o", "jsonpath=" + fields).split()

    def __exit__(self, *_):
        self._kubectl("delete", *self._MADE, "--ignore-not-found", limit=_LONG)


def server(words):
    """Of words that are run there: they end with their standard input."""
    return ["sh", "-c", _WITH_STDIN, "sh", *words]


def client(words, limit):
    return ["timeout", "%d" % limit, *words]
