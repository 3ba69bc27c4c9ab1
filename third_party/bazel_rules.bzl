# SPDX-License-Identifier: Apache-2.0

"""The rule repositories that Bazel would otherwise download, from Debian packages."""

_SHARE = "/usr/share/bazel"

def _debian_rules_cc_impl(ctx):
    source = _SHARE + "/rules/cc"
    if not ctx.path(source).exists:
        fail("%s is missing: apt-get install bazel-rules-cc" % source)
    result = ctx.execute(["cp", "-R", source + "/.", "."])
    if result.return_code:
        fail(result.stderr)

    # Debian 12 pairs rules_cc 0.0.4 with Bazel 4.2.3, whose toolchain_utils.bzl
    # has no use_cpp_toolchain yet.
    utils = ctx.read(ctx.path(Label("@bazel_tools//tools/cpp:toolchain_utils.bzl")))
    if "def use_cpp_toolchain" in utils:
        return
    for name in ["cc_flags_supplier.bzl", "compiler_flag.bzl"]:
        path = "cc/private/rules_impl/" + name
        text = ctx.read(path)
        text = text.replace(', "use_cpp_toolchain"', "")
        text = text.replace(
            "use_cpp_toolchain()",
            '["@bazel_tools//tools/cpp:toolchain_type"]',
        )
        ctx.file(path, text, executable = False)

_debian_rules_cc = repository_rule(implementation = _debian_rules_cc_impl)

def bazel_rules():
    """Defines rules_cc, rules_java, rules_proto and the like for Debian's Bazel.

    An official Bazel release brings or downloads the versions that it needs;
    only a release names its version.
    """
    if native.bazel_version:
        return
    _debian_rules_cc(name = "rules_cc")
    for name, path in [
        ("rules_java", "/rules/java"),
        ("rules_proto", "/rules/proto"),
        ("platforms", "/tools/platforms"),
        ("bazel_skylib", "/tools/skylib"),
    ]:
        native.local_repository(name = name, path = _SHARE + path)

    # Every cc_test depends on it, with or without coverage.
    native.local_repository(
        name = "remote_coverage_tools",
        path = "third_party/coverage",
    )
