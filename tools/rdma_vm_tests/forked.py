# SPDX-License-Identifier: Apache-2.0
"""A process that begins with all that this one has loaded."""

import ctypes
import os
import select
import signal
import subprocess
import sys
import traceback

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET


def enter_network(name):
    """Of `ip netns`, for this thread and those that it makes."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/run/netns/" + name, "rb") as network:
        if libc.setns(network.fileno(), _NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "cannot enter " + name)


class Forked:
    """As subprocess.Popen, of a function: it has standard streams of its own; what it returns is
    the exit status."""

    def __init__(self, work, stderr):
        theirs_in, mine_in = os.pipe()
        mine_out, theirs_out = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(_run(work, (theirs_in, theirs_out, stderr.fileno())))
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin = os.fdopen(mine_in, "wb")
        self.stdout = os.fdopen(mine_out, "rb")
        self._life = os.pidfd_open(self.pid)
        self.returncode = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.returncode is None:
            self.kill()
            self.wait()
        self.stdin.close()
        self.stdout.close()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout=None):
        if self.returncode is None:
            if not select.select([self._life], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("pid %d" % self.pid, timeout)
            os.close(self._life)
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


def _run(work, streams):
    """In the process itself. It keeps nothing of the other one's open: whoever waits for the end of
    a stream there would wait for this one, too."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        return work()
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
