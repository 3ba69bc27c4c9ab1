# SPDX-License-Identifier: Apache-2.0
"""The targets of a room, a folder of C++ sources: a library, what only tests use, and the tests.

Each takes its files from the folder by their names, so a new file needs no line in BUILD.bazel:

    x.h  x.cc         room_library
    x_testing.*       room_testing, as does any other file of a folder named testing
    x_harness.*
    x_test.cc         room_test
    x_fuzz.cc         a fuzz_test of its own (//tools/fuzz)

Reading the headers of Abseil, protobuf and GoogleTest takes longer than compiling what our small
files say, so several sources of a target are compiled as one file. Therefore a library's sources do
not use each other's names in unnamed namespaces; each test has a namespace of its own. Who forgets
to include a header is found by --config=alone.
"""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load(":precompiled.bzl", "HEADERS_OF_GCC")

# Sources that are compiled as one: a balance between reading headers seldom, and compiling little
# after a change, on all cores.
_JOINED_FILES = 16

_OF_TESTS = ["*_testing", "*_harness"]
_TESTS = ["*_test.cc", "*_fuzz.cc"]

# Under a sanitizer these are optimised: simulations, copies and what fuzzers call are in them.
_COMPUTES = [
    "rpc/cluster/balance",
    "rpc/dispatch",
    "rpc/wire",
    "tools/doctor/checks",
    "transport",
]

# Of them not these. What waits more than it computes is compiled in half the time without, and its
# tests take no longer.
_WAITS = ["transport/base", "transport/tcp", "transport/tls"] + [
    "transport/rdma/" + room
    for room in ["cm", "device", "host", "memory", "setup", "verbs"]
]

# What the compiler says names the sources, not what is made of them.
_JOIN = """
out=$1; shift
for file; do
  printf '#line 1 "%s"\\n' "$file"
  case $file in
    *_test.cc) name=${file##*/}; sed "s/^namespace {$/namespace ${name%.cc} {/" "$file" ;;
    *) cat "$file" ;;
  esac
done >"$out"
"""

def _join_impl(ctx):
    outputs = []
    sources = ctx.files.srcs
    for first in range(0, len(sources), _JOINED_FILES):
        part = sources[first:first + _JOINED_FILES]

        # The name's end is what .bazelrc knows tests by.
        output = ctx.actions.declare_file("%s_joined_%d%s.cc" % (
            ctx.attr.prefix,
            first // _JOINED_FILES,
            "_test" if ctx.attr.tests else "",
        ))
        ctx.actions.run_shell(
            inputs = part,
            outputs = [output],
            arguments = [output.path] + [source.path for source in part],
            command = _JOIN,
            mnemonic = "JoinSources",
        )
        outputs.append(output)
    return [DefaultInfo(files = depset(outputs))]

_join = rule(
    implementation = _join_impl,
    attrs = {
        "prefix": attr.string(mandatory = True),
        "srcs": attr.label_list(allow_files = [".cc"]),
        "tests": attr.bool(),
    },
)

def _without(srcs, others):
    return [src for src in srcs if src not in others]

def _join_files(name, srcs, tests = False):
    _join(
        name = name + "_joined",
        srcs = srcs,
        prefix = name,
        tests = tests,
        testonly = True if tests else None,
        visibility = ["//visibility:private"],
    )
    return [":%s_joined" % name]

def _joined(name, srcs, mutated = [], tests = False):
    """A few files that have all sources; or these, with --config=alone. Those that are mutated are
    by themselves where mutants are tested, so that a mutant replaces no more than its source."""
    if len(srcs) < 2:
        return srcs
    joined = _join_files(name, srcs, tests)
    if not mutated:
        return select({"//tools/rooms:alone": srcs, "//conditions:default": joined})
    unmutated = _without(srcs, mutated)
    return select({
        "//tools/rooms:alone": srcs,
        "//tools/rooms:optimised": mutated + (
            _join_files(name + "_unmutated", unmutated) if len(unmutated) > 1 else unmutated
        ),
        "//conditions:default": joined,
    })

def _within(rooms):
    package = native.package_name()
    return any([package == room or package.startswith(room + "/") for room in rooms])

def _include_headers(name):
    return ["-include-pch", "$(BINDIR)/tools/rooms/%s_file.pch" % name]

def compiled(kwargs, optimised = False, test = False):
    """Adds to the arguments of a target how it is compiled, unless it says so itself."""
    if "copts" in kwargs:
        return kwargs
    sanitized = "headers_optimised" if optimised else "headers"

    # Sources of tests are never optimised (.bazelrc), and what gcc has read is.
    of_gcc = HEADERS_OF_GCC if not test else []
    return dict(
        kwargs,
        copts = select({
            "//tools/rooms:sanitized": ["-O1"] if optimised else [],
            "//conditions:default": [],
        }) + select({
            "//tools/rooms:precompiled_sanitized": _include_headers(sanitized),
            "//tools/rooms:precompiled": _include_headers("headers"),
            "//tools/rooms:precompiled_by_gcc": of_gcc,
            "//conditions:default": [],
        }),
        deps = kwargs.get("deps", []) + select({
            "//tools/rooms:precompiled_sanitized": ["//tools/rooms:" + sanitized],
            "//tools/rooms:precompiled": ["//tools/rooms:headers"],
            "//tools/rooms:precompiled_by_gcc": ["//tools/rooms:headers_of_gcc"],
            "//conditions:default": [],
        }),
    )

def _library(name, srcs, hdrs, apart = [], mutated = [], generated = [], **kwargs):
    cc_library(
        name = name,
        srcs = _joined(name, _without(srcs, apart), mutated) + apart + generated,
        hdrs = hdrs,
        **compiled(kwargs, optimised = _within(_COMPUTES) and not _within(_WAITS))
    )

def _stems(stems, suffix):
    return [stem + suffix for stem in stems]

def room_library(name, only = [], without = [], **kwargs):
    """What others use of the room.

    Args:
      name: of the cc_library.
      only: stems of the files that are in it, where a room has two libraries.
      without: stems of files that are not.
      apart: sources that are compiled by themselves, since they use each other's names.
      mutated: sources that have mutants.
      **kwargs: of the cc_library.
    """
    exclude = _stems(_OF_TESTS + without, ".*") + _TESTS + ["main.cc"]
    _library(
        name,
        native.glob(_stems(only, ".cc") or ["*.cc"], exclude = exclude),
        native.glob(_stems(only, ".h") or ["*.h"], exclude = exclude),
        **kwargs
    )

def room_testing(name = "testing", without = [], **kwargs):
    """What tests share: in a folder named testing all that is no test, else files of such names.

    Args:
      name: of the cc_library.
      without: stems of files that are not in it.
      **kwargs: of the cc_library.
    """
    folder = native.package_name()
    stems = ["*"] if folder.endswith("/testing") or "/testing/" in folder else _OF_TESTS
    exclude = _stems(without, ".*") + _TESTS
    _library(
        name,
        native.glob(_stems(stems, ".cc"), exclude = exclude),
        native.glob(_stems(stems, ".h"), exclude = exclude),
        testonly = True,
        **kwargs
    )

def _test(name, stems, test = cc_test, **kwargs):
    test(
        name = name,
        srcs = _joined(name, _stems(stems, ".cc"), tests = True),
        **compiled(kwargs, test = True)
    )

def one_thread_test(name, deps, tags = [], **kwargs):
    """A cc_test that ThreadSanitizer does not run: a test in which a second thread runs fails."""
    kwargs = dict(kwargs, deps = deps + ["//tools/sanitizers:one_thread"])
    cc_test(
        name = name,
        tags = tags + ["no-threads"],
        **compiled(kwargs, test = True)
    )

def room_test(name, deps, threads = False, without = [], shards = None, tags = [], **kwargs):
    """The tests of the room: one program, or two where only some tests make threads.

    Args:
      name: of the cc_test; that of the other one, if there is one, ends in _thread_test.
      deps: of both.
      threads: whether all make threads, or the stems of those that do: they run under
        ThreadSanitizer, too. Any other test in which a second thread runs fails.
      without: stems of the tests that have a cc_test of their own.
      shards: of each program, as many processes share its tests.
      tags: of both.
      **kwargs: of both.
    """
    stems = [
        file[:-len(".cc")]
        for file in native.glob(["*_test.cc"], exclude = _stems(without, ".cc"))
    ]
    with_threads = stems if threads == True else (threads or [])
    plain = [stem for stem in stems if stem not in with_threads]
    if plain:
        _test(name, plain, one_thread_test, deps = deps, shard_count = shards, tags = tags, **kwargs)
    if with_threads:
        other = name[:-len("_test")] + "_thread_test" if plain else name
        _test(other, with_threads, deps = deps, shard_count = shards, tags = tags, **kwargs)
