# SPDX-License-Identifier: Apache-2.0
"""C++ is as clang-format leaves it."""

import re
import shutil
import subprocess

from source_tree import Finding

# The version is part of the rule: another one formats differently.
FORMATTER = "clang-format-14"


def check(tree):
    sources = {source.full_path: source.path for source in tree if source.is_cpp}
    if not sources:
        return []
    if shutil.which(FORMATTER) is None:
        cure = "apt-get install " + FORMATTER
        return [Finding(".clang-format", 1, "%s is missing" % FORMATTER, cure)]
    command = [FORMATTER, "--style=file", "--dry-run", "--Werror"] + sorted(sources)
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    findings = {}
    for line in result.stdout.decode("utf-8", "replace").splitlines():
        match = re.match(r"(.+?):(\d+):\d+: error: ", line)
        if match and match.group(1) in sources:
            path = sources[match.group(1)]
            # One finding a file: one command cures them all.
            cure = "%s -i %s" % (FORMATTER, path)
            findings.setdefault(path, Finding(path, int(match.group(2)), "not formatted", cure))
    if result.returncode and not findings:
        findings[""] = Finding(".clang-format", 1, result.stdout.decode()[-500:], "see there")
    return list(findings.values())
