# SPDX-License-Identifier: Apache-2.0
"""Tests of tests: a copy of the code with one rule changed, in which a simulation must see it."""

load("@rules_cc//cc:defs.bzl", "cc_test")
load("//tools/rooms:precompiled.bzl", "HEADERS_OF_GCC")

_MUTATE = "//tools/mutants:mutate.py"

def _quoted(text):
    return "'" + text.replace("$", "$$").replace("'", "'\\''") + "'"

def _mutant(name, src, label, changes, deps):
    copy = "%s_%s" % (name, src)
    native.genrule(
        name = "copy_" + copy,
        testonly = True,
        srcs = [label],
        outs = [copy],
        cmd = " ".join(
            ["python3 $(location %s) $(location %s) $@" % (_MUTATE, label)] +
            [_quoted(old) + " " + _quoted(new) for old, new in changes.items()],
        ),
        tools = [_MUTATE],
    )
    cc_test(
        name = name,
        size = "small",
        srcs = [copy],
        # The linker takes from an archive only what is not there yet, and the copy has all
        # that the original has.
        linkstatic = True,
        # They test simulations, which sanitizers and the inner loop run as they are. Only there
        # are the sources that they replace compiled by themselves.
        target_compatible_with = select({
            "//tools/rooms:optimised": [],
            "//conditions:default": ["@platforms//:incompatible"],
        }),
        tags = ["no-sanitizer", "slow"],
        copts = HEADERS_OF_GCC,
        deps = deps + ["//tools/rooms:headers_of_gcc"],
    )

def mutants(name, mutants, deps, packages = {}):
    """A test for each mutant, and a test_suite of them all.

    Args:
      name: of the suite, a plural: with "set_mutants", the mutant "x" is set_mutant_x.
      mutants: of each its name, its source, and what is replaced in it by what. Each text must
        be in the source exactly once.
      deps: what is mutated, what its sources include, and a main that passes if it finds a
        violation.
      packages: of sources that are in another package than this, which one.
    """
    prefix = name[:-1] + "_"
    for mutant, src, changes in mutants:
        label = packages.get(src, "") + ":" + src
        _mutant(prefix + mutant, src, label, changes, deps)
    native.test_suite(
        name = name,
        tests = [":" + prefix + mutant for mutant, _, _ in mutants],
    )
