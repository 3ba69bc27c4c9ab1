# SPDX-License-Identifier: Apache-2.0
"""Runs programs of an image as Kubernetes runs them, without an engine: with a read-only root, as
any user, with no privilege but those named, as process 1 of a PID namespace. Needs root."""

import os
import signal
import subprocess

from cases import Trouble

# Arguments: root, user, setpriv's bounding set, command. What the container runtime mounts, and
# the rest of what securityContext asks for.
_START = r"""
set -e
root=$1 user=$2 bounding=$3
shift 3
mount --make-rprivate /
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root/dev"
for name in null zero random urandom; do
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
mkdir "$root/dev/shm"
mount -t tmpfs -o size=64m,mode=1777 tmpfs "$root/dev/shm"
exec chroot "$root" setpriv --reuid="$user" --regid="$user" --clear-groups --no-new-privs \
  --bounding-set="$bounding" --inh-caps=-all --ambient-caps=-all -- "$@"
"""
LIMIT = 60  # seconds


class Container:
    """The root of an image, mounted, and its configuration."""

    def __init__(self, root, config):
        self.root = root
        self.user = int(config["User"].split(":")[0])
        self.command = config["Cmd"]
        self.environment = dict(entry.split("=", 1) for entry in config.get("Env") or [])
        self.signal = config.get("StopSignal", "SIGTERM")

    def start(self, command, user=None, capabilities=(), environment=None):
        """A Popen of `unshare`, whose child is the command."""
        bounding = ",".join(["-all"] + ["+" + name.lower() for name in capabilities])
        words = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child",
                 "bash", "-c", _START, "container", self.root,
                 str(self.user if user is None else user), bounding] + list(command)
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True,
                                env={**self.environment, **(environment or {})})

    def run(self, command, **how):
        """(exit status, standard output, standard error)."""
        process = self.start(command, **how)
        try:
            out, errors = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Trouble("%s did not end in %d s" % (command[0], LIMIT)) from None
        return process.returncode, out, errors

    def output(self, command, **how):
        status, out, errors = self.run(command, **how)
        if status:
            raise Trouble("%s: status %d: %s%s" % (" ".join(command), status, out, errors))
        return out


def signal_first_process(process, number=signal.SIGTERM):
    """To the program itself: as kubelet does it, from outside of its PID namespace."""
    path = "/proc/%d/task/%d/children" % (process.pid, process.pid)
    with open(path, encoding="ascii") as stream:
        os.kill(int(stream.read().split()[0]), number)

