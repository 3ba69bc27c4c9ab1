# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of a source file with one rule changed: mutate.py IN OUT OLD NEW [OLD NEW ...].

Each OLD must be there exactly once, so that a mutant does not outlive the rule it breaks.
"""

import sys


def main():
    source, target, *changes = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for old, new in zip(changes[::2], changes[1::2]):
        if text.count(old) != 1:
            sys.exit("%s: %r is there %d times, not once" % (source, old, text.count(old)))
        text = text.replace(old, new)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)


main()
