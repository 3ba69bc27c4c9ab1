# SPDX-License-Identifier: Apache-2.0
"""Leftover words, paths of one machine, `friend`, macros, header guards, SPDX lines."""

import re

import policy
from source_tree import Finding


def check_leftovers(tree):
    for source in tree:
        if policy.CORPUS in source.path:
            continue
        exempt = source.path.startswith(tuple(policy.LEFTOVER_EXEMPT))
        for match in [] if exempt else re.finditer(policy.LEFTOVER_WORDS, source.text):
            what = "leftover word: %s" % match.group()
            cure = "finish it, or take it out"
            yield Finding(source.path, source.line_of(match), what, cure)
        for match in re.finditer(policy.MACHINE_PATHS, source.text):
            what = "path of one machine: %s" % match.group()
            cure = "make it relative, or ask for it"
            yield Finding(source.path, source.line_of(match), what, cure)


def check_friends(tree):
    for source in tree:
        if source.is_cpp:
            for match in re.finditer(r"(?m)^[ \t]*friend\b", source.code()):
                cure = "a public function, or a part of its own that both may see"
                yield Finding(source.path, source.line_of(match), "friend declaration", cure)


def guard_of(path):
    return "FARCALL_%s_" % re.sub(r"[^A-Z0-9]", "_", path.upper())


def check_macros(tree):
    """No macro but the guard, and the guard named after the path."""
    for source in tree:
        if not source.is_cpp:
            continue
        guard = guard_of(source.path) if source.extension == ".h" else None
        defined = []
        for match in re.finditer(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)", source.code()):
            defined.append(match.group(1))
            if match.group(1) != guard:
                cure = "a function, a template or a constant"
                if not defined[1:] and guard and match.group(1).endswith("_H_"):
                    cure = "name the guard " + guard
                yield Finding(source.path, source.line_of(match), "macro " + match.group(1), cure)
        for match in re.finditer(r"(?m)^[ \t]*#[ \t]*pragma[ \t]+once", source.code()):
            cure = "use the guard %s" % guard
            yield Finding(source.path, source.line_of(match), "#pragma once", cure)
        if guard and guard not in defined:
            yield Finding(source.path, 1, "no header guard " + guard, "add it")


def check_spdx(tree):
    for source in tree:
        wants = (
            source.extension in policy.SPDX_EXTENSIONS
            or source.name in policy.SPDX_NAMES
            or source.is_script
        )
        if not wants or policy.CORPUS in source.path:
            continue
        head = source.lines[:2] if source.is_script else source.lines[:1]
        if not any(policy.SPDX in line for line in head):
            cure = "begin with a comment: %s" % policy.SPDX
            yield Finding(source.path, 1, "no SPDX line", cure)


def check(tree):
    return (
        list(check_leftovers(tree))
        + list(check_friends(tree))
        + list(check_macros(tree))
        + list(check_spdx(tree))
    )
