# SPDX-License-Identifier: Apache-2.0
"""What is measured: one load, and one way of putting it on."""

import dataclasses
import re

from console.units import bytes_text, parse_size

_CELL = re.compile(r"(?:(put|get):)?([^x+:]+)(?:\+([^x+]+))?x(\d+)(s?)")


@dataclasses.dataclass(frozen=True)
class Cell:
    """A load: bytes in the message, bytes beside it, calls in flight on a connection."""

    payload: int
    attachment: int
    in_flight: int
    synchronous: bool = False  # each is a thread that waits for it
    # echo, or put or get: the bytes beside it go into memory of the server, or come from there.
    way: str = "echo"

    @classmethod
    def parse(cls, text):
        """32x64: 32 B with 64 in flight. 32+4Kx64: the same with 4 KiB attached. 32x16s: 16 threads
        that make synchronous calls. put:32+4Kx64: 4 KiB
        into memory of the server; get: from there."""
        match = _CELL.fullmatch(text.strip())
        if not match:
            raise ValueError(
                '"%s" is no cell; write it like 32x64, or 32+4Kx64 with an attachment' % text
            )
        way, payload, attachment, in_flight, synchronous = match.groups()
        sizes = parse_size(payload), parse_size(attachment or "0")
        cell = cls(*sizes, int(in_flight), bool(synchronous), way or "echo")
        if not 1 <= cell.in_flight <= 65536:
            raise ValueError('"%s": calls in flight must be from 1 to 65536' % text)
        if way and not (cell.payload and cell.attachment):
            raise ValueError('"%s": a put or a get has bytes in the message and beside it' % text)
        return cell

    def size_text(self):
        text = bytes_text(self.payload)
        return text + " + " + bytes_text(self.attachment) if self.attachment else text

    def in_flight_text(self):
        return "%d%s" % (self.in_flight, " sync" if self.synchronous else "")

    def __str__(self):
        text = "%s x %s" % (self.size_text(), self.in_flight_text())
        return text if self.way == "echo" else "%s: %s" % (self.way, text)


def parse_cells(text):
    """Cells separated by commas, each once."""
    cells = list(dict.fromkeys(Cell.parse(part) for part in text.split(",") if part.strip()))
    if not cells:
        raise ValueError("no cell is given")
    return cells


@dataclasses.dataclass(frozen=True)
class Variant:
    """A system, and how it polls."""

    system: str  # farcall, pool (farcall with all handlers on threads of their own), grpc or raw
    polling: str  # event, adaptive or busy

    def __str__(self):
        return self.system if self.system == "grpc" else self.system + " " + self.polling


def measures(variant, cell):
    """Whether the system has such a load: gRPC has no memory of the program's own to write to."""
    return variant.system not in ("grpc", "pool") or cell.way == "echo"


POLLINGS = {
    "farcall": ("adaptive", "event", "busy"),
    "pool": ("adaptive", "event", "busy"),
    "grpc": ("event",),
    "raw": ("event", "busy"),
}


def parse_variants(systems, pollings):
    """`systems`: names separated by commas. `pollings`: for each, its pollings likewise."""
    variants = []
    for system in (part.strip() for part in systems.split(",")):
        if system not in POLLINGS:
            raise ValueError('"%s" is no system; there are %s' % (system, ", ".join(POLLINGS)))
        for polling in (part.strip() for part in pollings[system].split(",")):
            if polling not in POLLINGS[system]:
                known = ", ".join(POLLINGS[system])
                raise ValueError('%s has no polling "%s"; it has %s' % (system, polling, known))
            variants.append(Variant(system, polling))
    return list(dict.fromkeys(variants))
