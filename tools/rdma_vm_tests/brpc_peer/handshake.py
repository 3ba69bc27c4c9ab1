# SPDX-License-Identifier: Apache-2.0
"""How both ends come from a TCP connection to a stream, with RDMA or without."""

import socket

import hello
from credits import Credits
from hello import Breach
from queue_pair import QueuePair
from streams import Ended, RdmaStream, TcpStream, read_exactly

_LIMIT = 30  # seconds for each step


def _queue_pair(options):
    return QueuePair(options.device, options.address, options.block, options.sq, options.rq)


def dial(options, reached):
    """A stream to options.server. reached(step) is called behind each step."""
    host, _, port = options.server.rpartition(":")
    sock = socket.create_connection((host, int(port)), _LIMIT)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reached("connect")
    if options.version == 0:
        return TcpStream(sock)
    queue_pair = _queue_pair(options)
    own = queue_pair.hello(options.version)
    said = own.encode()
    sock.sendall(said[:20])
    reached("half_hello")
    sock.sendall(said[20:])
    reached("hello")
    other = hello.read(read_exactly(sock, 4), lambda size: read_exactly(sock, size))
    reached("answer")
    if other.version != options.version:
        raise Breach("an answer of version %d" % other.version)
    if other.refusal or options.change_mind:
        queue_pair.close()
        sock.sendall(hello.ACK_TCP)
        return TcpStream(sock)
    queue_pair.bring_up(other)
    stream = RdmaStream(sock, queue_pair, Credits(own, other, options.report))
    if options.early:
        # By another way than the acknowledgement, and so perhaps before it.
        stream.send(options.early)
        reached("early")
    sock.sendall(hello.ACK_RDMA)
    reached("ack")
    return stream


def welcome(sock, options, reached):
    """The stream to a client that has just connected."""
    sock.settimeout(_LIMIT)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    reached("accept")
    magic = read_exactly(sock, 4)
    if magic == b"PRPC":
        return TcpStream(sock, magic)
    # Such as farcall's own hello.
    if magic not in hello.MAGICS:
        raise Ended("it began with %s" % magic.hex())
    if options.answer == "close":
        raise Ended("it said a hello, which a server without RDMA does not know")
    other = hello.read(magic, lambda size: read_exactly(sock, size))
    reached("half_hello")
    queue_pair = None
    if options.answer == "rdma" and not other.refusal:
        queue_pair = _queue_pair(options)
        queue_pair.bring_up(other)
        own = queue_pair.hello(other.version)
        said = own.encode()
    else:
        said = hello.refusal(other.version, options.answer != "not_rdma")
    sock.sendall(said[:20])
    reached("half_answer")
    sock.sendall(said[20:])
    reached("answer")
    ack = read_exactly(sock, 4)
    reached("ack")
    if ack == hello.ACK_TCP:
        if queue_pair is not None:
            queue_pair.close()
        return TcpStream(sock)
    if ack != hello.ACK_RDMA or queue_pair is None:
        raise Breach("acknowledged with %s" % ack.hex())
    return RdmaStream(sock, queue_pair, Credits(own, other, options.report))
