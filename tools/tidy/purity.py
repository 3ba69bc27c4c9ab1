# SPDX-License-Identifier: Apache-2.0
"""Pure targets hold no thread, lock, clock or socket."""

import re

import policy
from source_tree import Finding


def is_pure(path):
    for name in policy.PURE:
        if path.startswith(name) if name.endswith("/") else path in (name + ".h", name + ".cc"):
            return True
    return False


def _check_include(source, number, header, directories):
    if re.fullmatch(policy.IMPURE_HEADERS, header):
        return Finding(
            source.path,
            number,
            "a pure target includes %s" % header,
            "let the caller give what it needs: bytes, events, the time",
        )
    of_project = header.startswith(directories)
    if of_project and not is_pure(header) and not header.startswith(tuple(policy.PURE_MAY_INCLUDE)):
        return Finding(
            source.path,
            number,
            "a pure target includes %s, which is not pure" % header,
            "include only pure headers (tools/tidy/policy.py), or move the code",
        )
    return None


def check(tree):
    directories = tuple({f.path.split("/")[0] + "/" for f in tree if "/" in f.path})
    findings = []
    for source in tree:
        if not source.is_cpp or source.is_test or not is_pure(source.path):
            continue
        for number, header, _ in source.includes():
            findings.append(_check_include(source, number, header, directories))
        for number, line in enumerate(source.code().splitlines(), 1):
            match = re.search(policy.IMPURE_CALLS, line)
            if match:
                findings.append(
                    Finding(
                        source.path,
                        number,
                        "a pure target asks the world: %s" % match.group().strip(" ("),
                        "take it as an argument",
                    )
                )
    return [finding for finding in findings if finding]


def check_names(tree):
    """Every name in the list exists, so that a renamed file does not slip out."""
    paths = [source.path for source in tree]
    return [
        Finding("tools/tidy/policy.py", 1, "pure target %s does not exist" % name, "correct PURE")
        for name in policy.PURE
        if not any(path.startswith(name) for path in paths)
    ]
