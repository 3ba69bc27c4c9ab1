# SPDX-License-Identifier: Apache-2.0
"""Tests of tests: a copy of the code with one rule changed, in which a simulation must see it."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//tools/rooms:precompiled.bzl", "HEADERS_OF_GCC")

_MUTATE = "//tools/mutants:mutate.py"
_RUN = "//tools/mutants:run.sh"

# Mutants test simulations, which sanitizers and the inner loop run as they are. Only where it is
# optimised are the sources that mutants replace compiled by themselves.
_COMPATIBLE = select({
    "//tools/rooms:optimised": [],
    "//conditions:default": ["@platforms//:incompatible"],
})

def _quoted(text):
    return "'" + text.replace("$", "$$").replace("'", "'\\''") + "'"

def _copy(prefix, src, label, numbered):
    copy = prefix + src
    mutants = json.encode([[number, name, changes.items()] for number, name, changes in numbered])
    native.genrule(
        name = "copy_" + copy,
        testonly = True,
        srcs = [label],
        outs = [copy],
        cmd = "python3 $(location %s) $(location %s) $@ %s" % (
            _MUTATE,
            label,
            _quoted(mutants),
        ),
        tools = [_MUTATE],
    )
    return copy

def _test(name, program, number):
    native.sh_test(
        name = name,
        size = "small",
        srcs = [_RUN],
        args = ["$(location :%s)" % program, str(number)],
        data = [":" + program],
        target_compatible_with = _COMPATIBLE,
        tags = ["no-sanitizer", "slow"],
    )
    return ":" + name

def mutants(name, mutants, deps, packages = {}):
    """A test for each mutant, one for the code as it is, and a test_suite of them all.

    Args:
      name: of the suite, a plural: with "set_mutants", the mutant "x" is set_mutant_x.
      mutants: of each its name, its source, and what is replaced in it by what (mutate.py).
      deps: what is mutated, what its sources include, and a main that passes if it finds a
        violation.
      packages: of sources that are in another package than this, which one.
    """
    prefix = name[:-1] + "_"
    of_source = {}
    for i, (mutant, src, changes) in enumerate(mutants):
        of_source.setdefault(src, []).append((i + 1, mutant, changes))
    cc_binary(
        name = prefix + "program",
        testonly = True,
        srcs = [
            _copy(prefix, src, packages.get(src, "") + ":" + src, numbered)
            for src, numbered in of_source.items()
        ],
        # The linker takes from an archive only what is not there yet, and the copies have all
        # that the originals have.
        linkstatic = True,
        target_compatible_with = _COMPATIBLE,
        # A rule that is gone leaves variables unused.
        copts = HEADERS_OF_GCC + ["-w"],
        deps = deps + ["//tools/rooms:headers_of_gcc"],
    )
    native.test_suite(
        name = name,
        tests = [_test(prefix + "none", prefix + "program", 0)] + [
            _test(prefix + mutant, prefix + "program", i + 1)
            for i, (mutant, _, _) in enumerate(mutants)
        ],
    )
