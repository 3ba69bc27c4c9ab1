# SPDX-License-Identifier: Apache-2.0
"""Instructions counted by callgrind, with the part of a stand-in taken out, and how often functions
were entered.

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
    positions = 1
    callee = False
    call = False  # the next cost is that of a call, all that it took
    total = 0
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("events:") and line.split()[1:] != ["Ir"]:
            raise ValueError("the file counts something else than instructions: " + line)
        if line.startswith("positions:"):
            positions = len(line.split()) - 1
        if line.startswith("fn="):
            inside = is_stand_in(names.read(line[3:]))
        elif line.startswith("cfn="):
            callee = is_stand_in(names.read(line[4:]))
        elif line.startswith("calls="):
            call = True
        elif line and line[0] in "0123456789+-*":
            cost = int(line.split()[positions])
            if not call:
                total += cost
            elif callee and not inside:
                # All that the stand-in and what it called took, which other lines add.
                total -= cost
            call = False
    return total


def entries(lines, functions):
    """How often the functions were entered that have one of these names, whatever version of a
    library stands behind it ("free@@GLIBC_2.2.5"): what their first instructions took. Callgrind's
    own numbers of calls do not know --toggle-collect. The file is one of --dump-instr=yes
    --compress-pos=no."""
    names = _Names()
    counted = None  # of the function whose costs are read: what each instruction took
    call = False
    each = {}
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("positions:") and line.split()[1] != "instr":
            raise ValueError("the file does not tell instructions apart: " + line)
        if line.startswith("fn="):
            name = names.read(line[3:])
            counted = each.setdefault(name, {}) if name.split("@")[0] in functions else None
        elif line.startswith("cfn="):
            names.read(line[4:])
        elif line.startswith("calls="):
            call = True
        elif line.startswith("0x"):
            if counted is not None and not call:
                address, _, cost = line.split()[:3]
                counted[int(address, 16)] = counted.get(int(address, 16), 0) + int(cost)
            call = False
    return sum(counted[min(counted)] for counted in each.values() if counted)
