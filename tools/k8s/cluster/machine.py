# SPDX-License-Identifier: Apache-2.0
"""A node in an emulated machine: containerd, a kubelet and Soft-RoCE on a PCI card."""

import os
import subprocess

from cases import Trouble
from control_plane import free_ports

# By which the API server reaches the kubelet, since it is an address of this host, too.
NAME = "localhost"
# Seconds that all cases may take together, and the machine at most.
_LIMIT = 3000
_MIB = 7168


class Machine:
    """Runs as long as this context. `room` has the control plane's files, and images/*.tar."""

    def __init__(self, root, cache, programs, room):
        (port,) = free_ports(1)
        self._log = os.path.join(room, "node.log")
        self._command = [
            os.path.join(root, "tools", "rdma_vm"), "--card", "--forward", str(port), "--mem",
            str(_MIB), "--timeout", str(_LIMIT), "--",
            os.path.join(root, "tools", "k8s", "cluster", "node.sh"), room, cache, programs,
            str(port)]
        self._process = None

    def __enter__(self):
        with open(self._log, "wb") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def said(self):
        with open(self._log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def step(self):
        """While others wait: it has not ended."""
        if self._process.poll() is not None:
            raise Trouble("the machine ended: " + self.said()[-4000:])

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
