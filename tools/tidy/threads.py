# SPDX-License-Identifier: Apache-2.0
"""Tests that make threads run under ThreadSanitizer: BUILD.bazel says which they are."""

import os
import re

from source_tree import Finding

_MAKES_THREADS = re.compile(r"std::(j?thread|async)\b|\bpthread_create\b")
_RULE = re.compile(r"^(room_test|cc_test)\($(.*?)^\)$", re.MULTILINE | re.DOTALL)


def _stem(path):
    return os.path.splitext(path)[0]


class _Includes:
    """What a file and the sources beside the headers that it includes may run."""

    def __init__(self, tree):
        self._files = {}
        for source in tree:
            if source.is_cpp:
                self._files.setdefault(_stem(source.path), []).append(source)

    def make_threads(self, stem):
        seen = set()
        left = [stem]
        while left:
            stem = left.pop()
            if stem in seen:
                continue
            seen.add(stem)
            for source in self._files.get(stem, []):
                if _MAKES_THREADS.search(source.text):
                    return True
                left += [_stem(header) for _, header, _ in source.includes()]
        return False


def _strings(text, name):
    """Those of "name = [...]" or of "name = "x""."""
    match = re.search(r"^    %s = (\[.*?\]|\".*?\")" % name, text, re.MULTILINE | re.DOTALL)
    return re.findall(r'"([^"]+)"', match.group(1)) if match else []


def _declared(rule, text, folder, tests):
    """{stem of a test: whether its target is said to make threads}."""
    if rule == "cc_test":
        tags = _strings(text, "tags")
        sources = ["%s/%s" % (folder, _stem(name)) for name in _strings(text, "srcs")]
        if "no-sanitizer" in tags or "no-tsan" in tags or "manual" in tags:
            return {}
        return {stem: "no-threads" not in tags for stem in sources if stem in tests}
    threads = _strings(text, "threads")
    without = _strings(text, "without")
    every = re.search(r"^    threads = True,", text, re.MULTILINE)
    return {
        stem: bool(every) or stem.rpartition("/")[2] in threads
        for stem in tests
        if stem.rpartition("/")[2] not in without
    }


def check(tree):
    includes = _Includes(tree)
    tests = {}
    for source in tree:
        if source.path.endswith("_test.cc"):
            tests.setdefault(source.path.rpartition("/")[0], set()).add(_stem(source.path))
    findings = []
    for source in tree:
        if source.name != "BUILD.bazel":
            continue
        folder = source.path.rpartition("/")[0]
        for match in _RULE.finditer(source.text):
            line = source.text.count("\n", 0, match.start()) + 1
            declared = _declared(match.group(1), match.group(2), folder, tests.get(folder, set()))
            for stem, threads in sorted(declared.items()):
                if not threads and includes.make_threads(stem):
                    what = "%s.cc makes threads, and ThreadSanitizer does not see it" % stem
                    cure = "name it in `threads` of its room_test, or take the tag no-threads away"
                    findings.append(Finding(source.path, line, what, cure))
    return findings
