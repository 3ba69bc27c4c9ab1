# SPDX-License-Identifier: Apache-2.0
"""What holds up the guest: told with what did not end in time."""

import contextlib
import os
import re
import subprocess
import time

# Of a stack, from the innermost.
_FRAMES = 12
_KERNEL_LINES = 12


def _read(path):
    """Empty where it is gone meanwhile."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _said(*command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as why:
        return ["%s: %s" % (" ".join(command), why)]
    return done.stdout.decode(errors="replace").splitlines()


def frames(lines):
    """The functions of a stack, as /proc or the kernel's log has it: "inner < outer < ..."."""
    found = []
    for line in lines:
        # A "?" is before what may be left from another call.
        frame = re.search(r"(?:\] |^) *(?:RIP: \S+:)?([\w.]+)\+0x[\da-f]+/0x", line)
        if frame:
            found.append(frame[1])
    return " < ".join(found[:_FRAMES])


def _processes():
    return [name for name in os.listdir("/proc") if name.isdigit()]


def waiting():
    """Threads that wait in the kernel and cannot be interrupted, and where."""
    for process in _processes():
        room = "/proc/%s/task" % process
        for thread in os.listdir(room) if os.path.isdir(room) else ():
            name, _, rest = _read("%s/%s/stat" % (room, thread)).rpartition(")")
            if rest[:2] == " D":
                where = frames(_read("%s/%s/stack" % (room, thread)).splitlines())
                yield "%s of process %s waits in %s" % (name.replace(" (", " ", 1), process, where)


def opened(process):
    """The files of RDMA devices that it has open; " (deleted)" is behind those of removed ones."""
    links = []
    with contextlib.suppress(OSError):
        for file in os.listdir("/proc/%s/fd" % process):
            with contextlib.suppress(FileNotFoundError):
                links.append(os.readlink("/proc/%s/fd/%s" % (process, file)))
    return sorted(link for link in links if link.startswith("/dev/infiniband/uverbs"))


def _openers():
    """Which processes have which RDMA devices open."""
    for process in _processes():
        devices = opened(process)
        if devices:
            command = _read("/proc/%s/cmdline" % process).replace("\0", " ").strip()
            yield "open by %s, %s: %s" % (process, command[-60:], " ".join(devices))


def running(log):
    """What each processor did, of the kernel's log from where it was asked."""
    said = []
    for line in log:
        if "NMI backtrace for cpu" in line:
            said.append([line.partition("NMI backtrace for ")[2]])
        elif said:
            said[-1].append(line)
    for about, *lines in said:
        who = next((line.partition("Comm: ")[2] for line in lines if "Comm: " in line), "")
        yield "%s %s %s" % (about, who.split(" ")[0], frames(lines))


def _processors():
    before = len(_said("dmesg"))
    try:
        with open("/proc/sysrq-trigger", "w", encoding="ascii") as trigger:
            trigger.write("l")
    except OSError as why:
        return ["processors: %s" % why]
    time.sleep(0.5)
    return running(_said("dmesg")[before:])


def report():
    """Lines. Takes a second."""
    return [
        *waiting(),
        *_openers(),
        *("there is " + line for line in _said("rdma", "resource", "show")),
        *("the kernel said " + line for line in _said("dmesg")[-_KERNEL_LINES:]),
        *_processors(),
    ]
