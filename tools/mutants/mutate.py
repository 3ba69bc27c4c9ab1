# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of a C++ source that has mutants in it: mutate.py IN OUT MUTANTS

MUTANTS is JSON: for each mutant its number, its name and [OLD, NEW] for each text that it replaces.
Each OLD is there exactly once, so that a mutant does not outlive the rule it breaks, and within the
body of a function. The copy has such a body once as it is, and once more for each mutant of it. The
environment variable MUTANT has the number of the mutant that runs; 0, or no variable: none does. So
all mutants of a source are compiled at once.
"""

import json
import re
import sys

CHOICE = """#include <cstdlib>
static const int chosen_mutant = std::getenv("MUTANT") ? std::atoi(std::getenv("MUTANT")) : 0;
"""


def body_around(text, at):
    """Where the body of the function that `at` is in begins and ends, or None. The source is
    formatted: its function begins where all code of its namespace does, or of its class, and so
    does the brace that ends it."""
    for indent in ("", "  "):
        lines = [m.start() for m in re.finditer("(?m)^%s[A-Za-z_]" % indent, text[:at + 1])]
        if lines and not re.match("(class|struct) ", text[lines[-1]:]):
            break
    else:
        return None
    function = re.compile(r"[^{}]*\)[^{}]*(?:\{\}[^{}]*)*"  # its head, with what a constructor has
                          r"\{(.*(?=\}\n)|\n(?s:.*?)^%s(?=\}\n))" % indent, re.M)
    found = function.match(text, lines[-1])
    return found.span(1) if found and found.start(1) <= at < found.end(1) else None


def bodies(text, mutants):
    """Of each body that mutants change, where it begins and ends: the mutants' numbers, each with
    the body that it has."""
    changed = {}
    for number, name, changes in mutants:
        for old, new in changes:
            if text.count(old) != 1:
                raise ValueError("%s: %r is there %d times, not once"
                                 % (name, old, text.count(old)))
            at = text.index(old)
            body = body_around(text, at)
            if body is None or at + len(old) > body[1]:
                raise ValueError("%s: %r is not within the body of a function" % (name, old))
            mutated = changed.setdefault(body, {})
            before = mutated.get(number, text[slice(*body)])
            if before.count(old) != 1:
                raise ValueError("%s: %r is in what it puts there, too" % (name, old))
            mutated[number] = before.replace(old, new)
    return changed


def with_mutants(source, text, mutants):
    """The text, with a choice of bodies where mutants have their own."""
    parts = [CHOICE]
    done = 0

    def add(begin, code):
        line = text.count("\n", 0, begin) + 1
        parts.append('\n#line %d "%s"\n%s' % (line, source, code))

    for (begin, end), mutated in sorted(bodies(text, mutants).items()):
        add(done, text[done:begin])
        for number, body in mutated.items():
            parts.append("\nif (chosen_mutant == %d) {" % number)
            add(begin, body + "\n} else")
        parts.append(" {")
        add(begin, text[begin:end] + "\n}")
        done = end
    add(done, text[done:])
    return "".join(parts)


def main():
    source, target, mutants = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    try:
        text = with_mutants(source, text, json.loads(mutants))
    except ValueError as error:
        sys.exit("%s: %s" % (source, error))
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


main()
