# SPDX-License-Identifier: Apache-2.0
"""The hello of brpc's RDMA in its versions 2 and 3, and the acknowledgement. Pure.

Both ends say one on the TCP connection, the client first; the server's may refuse."""

import dataclasses
import struct

import protobuf

ACK_RDMA = struct.pack(">I", 1)
ACK_TCP = struct.pack(">I", 0)
MAGICS = {b"RDMA": 2, b"RDM3": 3}
# Magic, size of the whole, version, implementation, then the fields of Hello.
_V2 = struct.Struct(">4sHHHIHHH16sI")
_LEAST_BLOCK = 1024
_LEAST_QUEUE = 16


class Breach(Exception):
    """The other end does not keep to the protocol: the connection ends."""


@dataclasses.dataclass(frozen=True)
class Hello:
    version: int
    block_size: int
    sq_size: int
    rq_size: int
    lid: int
    gid: bytes
    qp_num: int
    # Why RDMA is refused; empty: it is not.
    refusal: str = ""

    def encode(self):
        if self.version == 2:
            return _V2.pack(b"RDMA", 40, 2, 1, self.block_size, self.sq_size, self.rq_size,
                            self.lid, self.gid, self.qp_num)  # fmt: skip
        return _v3(self.block_size, self.sq_size, self.rq_size, self.lid, self.gid, self.qp_num)


def _v3(block_size, sq_size, rq_size, lid, gid, qp_num):
    message = b"".join(
        (
            protobuf.number(1, block_size),
            protobuf.number(2, sq_size),
            protobuf.number(3, rq_size),
            protobuf.number(4, lid),
            protobuf.text(5, gid),
            protobuf.number(6, qp_num),
        )
    )
    return b"RDM3" + struct.pack(">I", len(message)) + message


def refusal(version, rdma_mode=True):
    """What a server says that has RDMA, but not for this client; or one that has none."""
    if version == 3:
        return _v3(0, 0, 0, 0, bytes(16), 0)
    return struct.pack(">4sHH", b"RDMA", 40, 0 if rdma_mode else 0xFFFF) + bytes(32)


def read(magic, read_exactly):
    """The rest of a hello that begins with `magic`; read_exactly(n) gives n bytes."""
    if magic == b"RDMA":
        size = struct.unpack(">H", read_exactly(2))[0]
        if not 40 <= size <= 4096:
            raise Breach("a hello of %d bytes" % size)
        return _read_v2(read_exactly(size - 6))
    if magic == b"RDM3":
        size = struct.unpack(">I", read_exactly(4))[0]
        if not 1 <= size <= 8192:
            raise Breach("a hello whose message has %d bytes" % size)
        return _read_v3(read_exactly(size))
    raise Breach("no hello: %s" % magic.hex())


def _read_v2(rest):
    version, implementation, *values = struct.unpack_from(">HHIHHH16sI", rest)
    refused = "" if (version, implementation) == (2, 1) else "its version is %d" % version
    return _judged(Hello(2, *values), refused)


def _read_v3(message):
    try:
        found = protobuf.fields(message)
    except protobuf.Malformed as error:
        raise Breach("the hello's message: %s" % error) from None
    if any(field not in found for field in range(1, 7)):
        raise Breach("a field of the hello is missing")
    block_size, sq_size, rq_size, lid, gid, qp_num = (found[field] for field in range(1, 7))
    hello = Hello(3, block_size, sq_size, rq_size, lid, gid, qp_num)
    if len(gid) != 16:
        return _judged(hello, "a GID of %d bytes" % len(gid))
    if max(sq_size, rq_size, lid) > 0xFFFF:
        return _judged(hello, "a number above 65535")
    return _judged(hello, "" if qp_num else "its queue pair is 0")


def _judged(hello, refused):
    if not refused and hello.block_size < _LEAST_BLOCK:
        refused = "blocks of %d bytes" % hello.block_size
    if not refused and min(hello.sq_size, hello.rq_size) < _LEAST_QUEUE:
        refused = "queues of %d and %d" % (hello.sq_size, hello.rq_size)
    return dataclasses.replace(hello, refusal=refused)
