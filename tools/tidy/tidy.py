#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Checks the repository against its own rules.

usage: tools/tidy/tidy.py [ROOT]

Prints "file:line: what; cure: ..." for each broken rule, and exits with 1 if there
is one. The rules' lists are in order.py and policy.py.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor

import formatting
import headers
import layers
import purity
import sizes
import strays
import words
from source_tree import read_tree

CHECKS = [
    formatting.check,
    layers.check,
    purity.check,
    purity.check_names,
    sizes.check,
    words.check,
    strays.check,
    headers.check,
]


def main():
    here = os.path.dirname(os.path.realpath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(here))
    tree = read_tree(root)
    # The formatter is a process of its own, and takes as long as all else.
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda check: list(check(tree)), CHECKS))
    findings = [finding for of_check in found for finding in of_check]
    for finding in sorted(findings, key=lambda f: (f.path, f.line)):
        print(finding)
    print("%d files, %d findings" % (len(tree), len(findings)))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
