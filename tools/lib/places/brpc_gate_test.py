#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""The gate that knows no hello of farcall, before a server that says what it hears."""

import os
import socket
import subprocess
import sys
import unittest

GATE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "brpc_gate.py")
SERVER = """
import socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    while True:
        sock = listener.accept()[0]
        sock.sendall(b"heard " + sock.recv(4))
        sock.close()
threading.Thread(target=serve, daemon=True).start()
print("ready"); print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
sys.stdin.read(); sys.exit(3)
"""


class GateTest(unittest.TestCase):
    def test_only_farcalls_hello_is_turned_away(self):
        command = (sys.executable, "-B", GATE, sys.executable, "-c", SERVER)
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe) as gate:
            port = int(gate.stdout.readline().rpartition(b":")[2])
            for said, heard in ((b"\xfaCLH", b""), (b"RDMA", b"heard RDMA"), (b"", b"")):
                with socket.create_connection(("127.0.0.1", port), 60) as sock:
                    sock.sendall(said)
                    sock.shutdown(socket.SHUT_WR)
                    found = b""
                    while more := sock.recv(64):
                        found += more
                self.assertEqual(found, heard)
            gate.stdin.close()
            self.assertEqual(gate.wait(60), 3)

    def test_a_server_that_does_not_listen_is_a_failure(self):
        command = (sys.executable, "-B", GATE, "sh", "-c", "echo no; exit 0")
        done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, b""))


if __name__ == "__main__":
    unittest.main()
