# SPDX-License-Identifier: Apache-2.0
"""Headers of the system come from packages that tools/packages.txt names, or from what those
depend on: a machine that has more installed would not notice that one is missing there."""

import glob
import os
import re
import subprocess

from source_tree import Finding

PACKAGES = "tools/packages.txt"
# Where compilers look, beside their own directories.
_PLACES = ["/usr/include"] + glob.glob("/usr/include/*-linux-gnu*")
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]+")


def _run(*command):
    """What it says; nothing where it cannot be run, as on other systems than Debian."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except OSError:
        return b""


def owners(headers):
    """{header: package} of those that a package of this machine brought."""
    paths = {}
    for header in headers:
        for place in _PLACES:
            path = os.path.join(place, header)
            if os.path.exists(path):
                paths.setdefault(os.path.realpath(path), header)
                paths.setdefault(path, header)
    found = {}
    for line in _run("dpkg", "-S", *sorted(paths)).decode().splitlines() if paths else []:
        packages, _, path = line.rpartition(": ")
        owner = packages.split(",")[0].split(":")[0]
        # Not what is told of a diversion.
        if path in paths and _NAME.fullmatch(owner):
            found[paths[path]] = owner
    return found


def dependencies():
    """{package, or what one provides: the names that it depends on} of this machine."""
    graph = {}
    form = "${Package}\t${Provides}\t${Depends}, ${Pre-Depends}\n"
    for line in _run("dpkg-query", "-W", "-f", form).decode().splitlines():
        package, provides, depends = line.split("\t")
        # Alternatives count too, versions do not.
        names = {
            match.group()
            for one in re.split("[,|]", depends)
            for match in [_NAME.match(one.strip())]
            if match
        }
        graph.setdefault(package, set()).update(names)
        for one in provides.split(","):
            match = _NAME.match(one.strip())
            if match:
                graph.setdefault(match.group(), set()).add(package)
    return graph


def _reached(names, graph):
    reached, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left.extend(graph.get(name, ()))
    return reached


def check(tree, owners=owners, dependencies=dependencies):
    listed = {
        line.split()[1]
        for source in tree
        if source.path == PACKAGES
        for line in source.lines
        if len(line.split()) == 2 and not line.startswith("#")
    }
    own = {source.path for source in tree}
    first = {}
    for source in tree:
        for number, header, _ in source.includes() if source.is_cpp else []:
            if header not in own:
                first.setdefault(header, (source.path, number))
    known = _reached(listed, dependencies())
    return [
        Finding(*first[header], "%s is of %s, which is not listed" % (header, package),
                "name the package in %s" % PACKAGES)  # fmt: skip
        for header, package in sorted(owners(sorted(first)).items())
        if package not in known
    ]
