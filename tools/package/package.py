#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: Apache-2.0
"""Lays out a static library with its headers, pkg-config and CMake files in a tar.

The tar unpacks under any prefix:
  lib/libNAME.a
  lib/pkgconfig/NAME.pc
  lib/cmake/NAME/NAMEConfig.cmake, NAMEConfigVersion.cmake
  include/NAME/FILE.h       the public headers, by the names of their files
  include/NAME/internal/... what these include, by its path in the repository
"""

import argparse
import io
import os
import re
import sys
import tarfile

# Link option -> (CMake target, what find_dependency needs to define it).
CMAKE_TARGETS = {
    "-lprotobuf": ("protobuf::libprotobuf", "Protobuf"),
    "-lspdlog": ("spdlog::spdlog", "spdlog"),
    "-lfmt": ("fmt::fmt", "fmt"),
    "-lpthread": ("Threads::Threads", "Threads"),
}
# Headers that users of the package need not have: it was built with them.
NOT_FOR_USERS = ("infiniband/", "rdma/", "sys/sdt.h")


def cmake_target(flag):
    """The CMake target and package behind a link option; the option itself and None
    where there is no such package."""
    if flag.startswith("-labsl_"):
        return "absl::" + flag[len("-labsl_") :], "absl"
    return CMAKE_TARGETS.get(flag, (flag, None))


def reachable(headers, public):
    """The headers of `public`, and those that they include.

    `headers` is a dictionary from the path in the repository to the file.
    """
    directories = {path.split("/")[0] for path in headers}
    missing = set(public) - set(headers)
    if missing:
        sys.exit("no dependency provides %s" % ", ".join(sorted(missing)))
    wanted = list(public)
    seen = set(wanted)
    while wanted:
        path = wanted.pop()
        with open(headers[path]) as stream:
            text = stream.read()
        for name in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, re.MULTILINE):
            if name.startswith(NOT_FOR_USERS):
                sys.exit("%s includes <%s>, which users need not have" % (path, name))
        for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE):
            if name.split("/")[0] not in directories or name in seen:
                continue
            if name not in headers:
                sys.exit("%s includes %s, which no dependency provides" % (path, name))
            seen.add(name)
            wanted.append(name)
    return sorted(seen)


def installed_names(name, paths, public):
    """Path in the repository -> how the installed header is included."""
    names = {}
    for path in paths:
        place = os.path.basename(path) if path in public else "internal/" + path
        if "%s/%s" % (name, place) in names.values():
            sys.exit("two public headers are named %s" % place)
        names[path] = "%s/%s" % (name, place)
    return names


def as_installed(text, names):
    """The text of a header, which includes others by their installed names."""

    def rename(match):
        return match[1] + names.get(match[2], match[2]) + match[3]

    return re.sub(r'^(\s*#\s*include\s*")([^"]+)(")', rename, text, flags=re.MULTILINE)


def substitutions(args):
    targets = []
    packages = []
    for flag in args.link:
        target, package = cmake_target(flag)
        targets.append(target)
        if package and package not in packages:
            packages.append(package)
    major, minor = args.version.split(".")[:2]
    return {
        "@NAME@": args.name,
        "@VERSION@": args.version,
        "@VERSION_MAJOR@": major,
        "@VERSION_MINOR@": minor,
        "@DESCRIPTION@": args.description,
        "@LINK_FLAGS@": " ".join(args.link),
        "@FIND_DEPENDENCIES@": "\n".join("find_dependency(%s)" % p for p in sorted(packages)),
        "@LINK_TARGETS@": ";".join(targets),
    }


def layout(args):
    """Path in the prefix -> bytes."""
    values = substitutions(args)
    folders = {".pc": "lib/pkgconfig/", ".cmake": "lib/cmake/%s/" % args.name}
    tree = {}
    for template in args.template:
        name = os.path.basename(template)[: -len(".in")]
        with open(template) as stream:
            text = stream.read()
        for key, value in values.items():
            text = text.replace(key, value)
        tree[folders[os.path.splitext(name)[1]] + name] = text.encode()
    with open(args.archive, "rb") as stream:
        tree["lib/lib%s.a" % args.name] = stream.read()
    headers = dict(header.split("=", 1) for header in args.header)
    names = installed_names(args.name, reachable(headers, args.public), args.public)
    for path, name in names.items():
        with open(headers[path]) as stream:
            tree["include/" + name] = as_installed(stream.read(), names).encode()
    return tree


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("out", "name", "version", "description", "archive"):
        parser.add_argument("--" + name, required=True)
    for name in ("template", "public", "link", "header"):
        parser.add_argument("--" + name, action="append", default=[])
    args = parser.parse_args()
    with tarfile.open(args.out, "w:gz", compresslevel=1) as tar:
        for path, data in sorted(layout(args).items()):
            member = tarfile.TarInfo(path)
            member.size = len(data)
            member.mode = 0o644
            tar.addfile(member, io.BytesIO(data))


if __name__ == "__main__":
    main()
