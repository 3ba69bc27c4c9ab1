# SPDX-License-Identifier: Apache-2.0
"""Stands before a server of farcall as one that knows no hello of farcall: it closes a connection
that begins with it, as brpc's servers do, and passes all others on. So two ends of farcall speak by
brpc's RDMA, which does not come this way; the TCP connection beside it does, and carries nothing.

usage: brpc_gate.py SERVER..., which announces "listening on ADDRESS" and ends with its standard
input, as this does."""

import os
import socket
import subprocess
import sys
import threading

_OURS = 0xFA  # the first byte of farcall's hello


def _pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def _pass_on(client, host, port):
    with client:
        begin = client.recv(65536)
        if not begin or begin[0] == _OURS:
            return
        with socket.create_connection((host, port)) as server:
            for sock in (client, server):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server.sendall(begin)
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join()


def _accept(listener, host, port):
    while True:
        client = listener.accept()[0]
        threading.Thread(target=_pass_on, args=(client, host, port), daemon=True).start()


def main(server):
    child = subprocess.Popen(server, stdout=subprocess.PIPE)
    for line in child.stdout:
        if line.startswith(b"listening on "):
            break
    else:
        return child.wait() or 1
    host, _, port = line.split()[2].decode().rpartition(":")
    listener = socket.create_server((host, 0))
    threading.Thread(target=_accept, args=(listener, host, int(port)), daemon=True).start()
    print("listening on %s:%d" % listener.getsockname()[:2], flush=True)
    return child.wait()


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))
