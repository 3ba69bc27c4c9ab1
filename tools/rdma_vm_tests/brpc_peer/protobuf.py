# SPDX-License-Identifier: Apache-2.0
"""As much of protobuf's encoding as the messages of this folder need. Pure."""

import struct


class Malformed(Exception):
    pass


def varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 0x7F:
        out.append(0x80 | (value & 0x7F))
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("a number has no end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value & ((1 << 64) - 1), at


def fields(data):
    """{number: the last value of this field}: an int, or bytes of a known length."""
    found, at = {}, 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _read_varint(data, at)
        elif kind in (1, 2, 5):
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = _read_varint(data, at)
            value, at = bytes(data[at : at + size]), at + size
        else:
            raise Malformed("wire type %d" % kind)
        if at > len(data):
            raise Malformed("the end is missing")
        found[key >> 3] = value
    return found
