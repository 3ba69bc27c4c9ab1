# SPDX-License-Identifier: Apache-2.0
"""One fuzz target, two programs: a test for every build, libFuzzer for long runs."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//tools/rooms:cc.bzl", "cc_test")

def fuzz_test(name, srcs, corpus, deps, mutations = 20000, max_size = 4096, size = "small"):
    """Fuzzes LLVMFuzzerTestOneInput(const uint8_t* data, size_t size), which srcs define.

    NAME is a test for any compiler and sanitizer. It runs each file of the corpus, then
    mutations of them, which are the same in every run. It says how to run the one that
    failed again.

    NAME_libfuzzer is the same code under clang's libFuzzer; tools/fuzz/run starts it.

    Args:
      name: of the test; by convention it ends in _fuzz.
      srcs: C++ sources.
      corpus: files, the inputs to begin with; by convention glob(["corpus/X/*"]) for
        X_fuzz, which is where tools/fuzz/run looks for them.
      deps: of srcs.
      mutations: how many to run after the corpus.
      max_size: bytes that a mutated input has at most.
      size: of the test.
    """
    cc_test(
        name = name,
        size = size,
        srcs = srcs,
        args = [
            "--mutations=%d" % mutations,
            "--max_size=%d" % max_size,
        ] + ["$(location %s)" % file for file in corpus],
        data = corpus,
        linkstatic = True,
        tags = ["no-threads"],
        deps = deps + ["//tools/fuzz:fuzz_main"],
    )

    cc_binary(
        name = name + "_libfuzzer",
        testonly = True,
        srcs = srcs,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        visibility = ["//visibility:private"],
        deps = deps,
    )
