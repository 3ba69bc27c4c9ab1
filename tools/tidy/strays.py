# SPDX-License-Identifier: Apache-2.0
"""Files that are here by mistake: binary, large, or of a kind nobody expects."""

import policy
from source_tree import Finding


def _complaint(source):
    folder, extension = policy.PICTURES
    picture = source.path.startswith(folder) and source.extension == extension
    if len(source.data) > policy.FILE_BYTES:
        return "%d bytes, more than %d" % (len(source.data), policy.FILE_BYTES)
    if picture or policy.CORPUS in "/" + source.path:
        return None
    if source.is_binary:
        return "binary file"
    known = source.extension in policy.KNOWN_EXTENSIONS or source.name in policy.KNOWN_NAMES
    if not known and not source.is_script:
        return "file of an unknown kind"
    return None


def check(tree):
    findings = []
    for source in tree:
        what = _complaint(source)
        if what:
            cure = "remove it, ignore it in .gitignore, or admit it in tools/tidy/policy.py"
            findings.append(Finding(source.path, 1, what, cure))
    return findings
