# SPDX-License-Identifier: Apache-2.0
"""Who may include whom."""

import order
from source_tree import Finding, is_test_path


def _longest_prefix(table, path):
    prefixes = [prefix for prefix in table if path.startswith(prefix)]
    return max(prefixes, key=len, default=None)


def _matches(pattern, header):
    """"dir/*" is that directory only, "dir/" also what is below it."""
    if pattern.endswith("/*"):
        return header.rpartition("/")[0] == pattern[:-2]
    return header.startswith(pattern)


def _check_own(source, number, header, table):
    prefix = _longest_prefix(table, source.path)
    if prefix is None:
        return None
    allowed = {source.path.rpartition("/")[0] + "/*", *table[prefix]}
    if any(_matches(pattern, header) for pattern in allowed):
        return None
    what = "%s may not include %s" % (prefix, header)
    cure = "include only %s, or move the code" % ", ".join(sorted(allowed))
    return Finding(source.path, number, what, cure)


def _check_testing(source, number, header):
    exempt = source.is_test or source.path.startswith(tuple(order.MAY_USE_TESTING))
    if exempt or not is_test_path(header):
        return None
    what = "only tests may include %s" % header
    return Finding(source.path, number, what, "take what it needs as an interface")


def _check_system(source, number, header):
    for prefix, places in order.SYSTEM_HEADERS.items():
        if header.startswith(prefix) and not source.path.startswith(tuple(places)):
            return Finding(
                source.path,
                number,
                "<%s> outside %s" % (header, " and ".join(places)),
                "use the table of verbs instead",
            )
    return None


def _check_root(source, number, header, directories):
    known = directories + tuple(order.LIBRARIES) + tuple(order.SYSTEM_HEADERS)
    if header.startswith(known):
        return None
    what = 'quoted include "%s" is not relative to the root' % header
    return Finding(source.path, number, what, "write the path from the repository's root")


def _check_python(source, paths):
    for number, name in source.imports():
        path = order.PYTHON_ROOT + name.replace(".", "/") + ".py"
        if path in paths:
            yield _check_own(source, number, path, order.PYTHON_LAYERS)


def check(tree):
    paths = {source.path for source in tree}
    directories = tuple({source.path.split("/")[0] + "/" for source in tree if "/" in source.path})
    findings = []
    for source in tree:
        if source.is_python and source.path.startswith(order.PYTHON_ROOT):
            findings += _check_python(source, paths)
        if not source.is_cpp:
            continue
        table = order.TEST_LAYERS if source.is_test else order.LAYERS
        for number, header, in_angles in source.includes():
            findings.append(_check_system(source, number, header))
            if header.startswith(directories):
                findings.append(_check_own(source, number, header, table))
                findings.append(_check_testing(source, number, header))
            elif not in_angles:
                findings.append(_check_root(source, number, header, directories))
    return [finding for finding in findings if finding]
