# SPDX-License-Identifier: Apache-2.0

"""Debian's cross compiler for arm64, with the libraries that tools/arm64/sysroot has unpacked."""

_PREFIX = "/usr/bin/aarch64-linux-gnu-"

_BUILD = """
load("@bazel_tools//tools/cpp:unix_cc_toolchain_config.bzl", "cc_toolchain_config")
load("@rules_cc//cc:defs.bzl", "cc_toolchain", "cc_toolchain_suite")

package(default_visibility = ["//visibility:public"])

cc_toolchain_suite(
    name = "toolchain",
    toolchains = {{"aarch64": ":gcc"}},
)

filegroup(name = "nothing")

cc_toolchain(
    name = "gcc",
    all_files = ":nothing",
    compiler_files = ":nothing",
    dwp_files = ":nothing",
    linker_files = ":nothing",
    objcopy_files = ":nothing",
    strip_files = ":nothing",
    toolchain_config = ":config",
)

cc_toolchain_config(
    name = "config",
    abi_libc_version = "glibc",
    abi_version = "gcc",
    builtin_sysroot = "{sysroot}",
    compile_flags = ["-Wall", "-fno-omit-frame-pointer"],
    compiler = "gcc",
    cpu = "aarch64",
    cxx_builtin_include_directories = [
        "/usr/lib/gcc-cross/aarch64-linux-gnu",
        "/usr/aarch64-linux-gnu/include",
        "{sysroot}",
    ],
    host_system_name = "local",
    # /usr/bin has ld.mold, which is one program for all processors.
    link_flags = ["-B/usr/bin", "-Wl,-z,relro,-z,now"],
    link_libs = ["-lstdc++", "-lm"],
    opt_compile_flags = ["-DNDEBUG", "-ffunction-sections", "-fdata-sections"],
    opt_link_flags = ["-Wl,--gc-sections"],
    target_libc = "glibc",
    target_system_name = "aarch64-linux-gnu",
    tool_paths = {tools},
    toolchain_identifier = "aarch64-linux-gnu",
    unfiltered_compile_flags = ["-no-canonical-prefixes"],
)

# Before a program of arm64; before any other it does nothing.
sh_binary(
    name = "emulated",
    srcs = ["emulated.sh"],
)
"""

_EMULATED = """#!/bin/sh
if [ "$(od -A n -t x2 -j 18 -N 2 "$1")" = " 00b7" ]; then
  exec qemu-aarch64-static -L {sysroot} "$@"
fi
exec "$@"
"""

def _arm64_toolchain_impl(ctx):
    sysroot = ctx.os.environ.get("FARCALL_ARM64_SYSROOT", "")
    if not sysroot:
        fail("--config=arm64 needs --repo_env=FARCALL_ARM64_SYSROOT=$(tools/arm64/sysroot)")
    tools = {
        name: _PREFIX + name
        for name in ["ar", "cpp", "dwp", "gcov", "ld", "llvm-cov", "nm", "objcopy", "objdump", "strip"]
    }
    tools["gcc"] = _PREFIX + "gcc"
    ctx.file("BUILD.bazel", _BUILD.format(sysroot = sysroot, tools = tools))
    ctx.file("emulated.sh", _EMULATED.format(sysroot = sysroot))

arm64_toolchain = repository_rule(
    implementation = _arm64_toolchain_impl,
    environ = ["FARCALL_ARM64_SYSROOT"],
)
