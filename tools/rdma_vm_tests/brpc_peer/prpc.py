# SPDX-License-Identifier: Apache-2.0
"""Frames of baidu_std (docs/wire.md), and the calls of rdma_peer in them, both ends. Pure."""

import dataclasses
import struct

import protobuf
from hello import Breach
from pattern import pattern

_HEADER = struct.Struct(">4sII")
_MOST_BODY = 256 << 20
_TEXT = 32


@dataclasses.dataclass(frozen=True)
class Frame:
    meta: dict  # RpcMeta's fields
    payload: bytes
    attachment: bytes

    def call_id(self):
        return self.meta.get(4, 0)


def encode(meta, payload, attachment):
    """`meta` without the size of the attachment."""
    if attachment:
        meta += protobuf.number(5, len(attachment))
    body = len(meta) + len(payload) + len(attachment)
    return b"".join((_HEADER.pack(b"PRPC", body, len(meta)), meta, payload, attachment))


class Frames:
    """Cuts a stream of bytes into frames."""

    def __init__(self):
        self._bytes = bytearray()

    def feed(self, data):
        """The frames that are whole now."""
        self._bytes += data
        whole = []
        while len(self._bytes) >= _HEADER.size:
            magic, body, meta_size = _HEADER.unpack_from(self._bytes)
            if magic != b"PRPC" or meta_size > body or body > _MOST_BODY:
                raise Breach("no frame: %s" % bytes(self._bytes[:12]).hex())
            if len(self._bytes) < _HEADER.size + body:
                break
            whole.append(_decode(bytes(self._bytes[12 : 12 + body]), meta_size))
            del self._bytes[: 12 + body]
        return whole


def _decode(body, meta_size):
    try:
        meta = protobuf.fields(body[:meta_size])
    except protobuf.Malformed as error:
        raise Breach("a meta that cannot be read: %s" % error) from None
    size = meta.get(5, 0)
    if size > len(body) - meta_size:
        raise Breach("an attachment of %d bytes in %d" % (size, len(body)))
    return Frame(meta, body[meta_size : len(body) - size], body[len(body) - size :])


def request(call, size):
    """Call number `call` of rdma_peer, whose exchange.proto tells what is in it."""
    names = protobuf.text(1, b"farcall.rdma_peer.Exchange") + protobuf.text(2, b"Call")
    payload = protobuf.number(1, call) + protobuf.text(2, pattern(call, _TEXT))
    return encode(protobuf.text(1, names) + protobuf.number(4, call), payload,
                  pattern(call, size))  # fmt: skip


def answer_is_right(frame, size):
    """That to request(call, size)."""
    call = frame.call_id()
    response = protobuf.fields(frame.meta.get(2, b""))
    payload = protobuf.fields(frame.payload)
    same = call if call % 2 else ~call
    return (response.get(1, 0) == 0 and payload.get(1) == call
            and payload.get(2) == pattern(~call, _TEXT)
            and frame.attachment == pattern(same, size))  # fmt: skip


def answer(frame):
    """(the answer to a request, whether the request is right)."""
    names = protobuf.fields(frame.meta.get(1, b""))
    if names.get(1) != b"farcall.rdma_peer.Exchange":
        failed = protobuf.number(1, 1001) + protobuf.text(2, b"no such service")
        return encode(protobuf.text(2, failed) + protobuf.number(4, frame.call_id()), b"", b""), 0
    asked = protobuf.fields(frame.payload)
    call = asked.get(1, 0)
    size = len(frame.attachment)
    right = asked.get(2) == pattern(call, _TEXT) and frame.attachment == pattern(call, size)
    back = frame.attachment
    if 3 in asked or call % 2 == 0:
        back = pattern(~call, asked.get(3, size))
    payload = protobuf.number(1, call) + protobuf.text(2, pattern(~call, _TEXT))
    meta = protobuf.text(2, b"") + protobuf.number(4, frame.call_id())
    return encode(meta, payload, back), right
