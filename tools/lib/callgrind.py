# SPDX-License-Identifier: Apache-2.0
"""Instructions counted by callgrind, with the part of a stand-in taken out.

The file format is that of valgrind's manual, "Callgrind Format Specification".
"""

import re

_NAME = re.compile(r"\((\d+)\)(?: (.*))?$")


class _Names:
    """Names are written once as "(7) name", afterwards as "(7)"."""

    def __init__(self):
        self._names = {}

    def read(self, text):
        match = _NAME.match(text)
        if match is None:
            return text
        number, name = match.groups()
        if name is not None:
            self._names[number] = name
        return self._names[number]


def count(lines, is_stand_in):
    """Instructions outside of the functions that `is_stand_in(name)` says are not the
    program's own, nor in what those call. `lines` are of one callgrind.out file that
    counts instructions (Ir) and nothing else."""
    names = _Names()
    inside = False  # the function whose costs are read is a stand-in
    callee = False
    call = False  # the next cost is that of a call, all that it took
    total = 0
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("events:") and line.split()[1:] != ["Ir"]:
            raise ValueError("the file counts something else than instructions: " + line)
        if line.startswith("fn="):
            inside = is_stand_in(names.read(line[3:]))
        elif line.startswith("cfn="):
            callee = is_stand_in(names.read(line[4:]))
        elif line.startswith("calls="):
            call = True
        elif line and line[0] in "0123456789+-*":
            cost = int(line.split()[1])
            if not call:
                total += cost
            elif callee and not inside:
                # All that the stand-in and what it called took, which other lines add.
                total -= cost
            call = False
    return total
