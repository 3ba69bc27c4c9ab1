# SPDX-License-Identifier: Apache-2.0
"""The headers of libraries that many sources include, read once for all of them."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "cc_library")

# How gcc includes those of //tools/rooms:headers_of_gcc. Which warnings it gives is part of what must
# be the same there; where it is not, gcc says so and reads the headers again.
WARNINGS_OF_GCC = ["-Wvla"]
HEADERS_OF_GCC = WARNINGS_OF_GCC + [
    "-include",
    "$(BINDIR)/tools/rooms/headers_of_gcc_file.h",
    "-Winvalid-pch",
    "-Wno-error=invalid-pch",
]

def _precompile(ctx, source, output, more, inputs = []):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = source,
        output_file = output.path,
        use_pic = True,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = "c++-compile",
        variables = variables,
    )

    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = "c++-compile",
        ),
        arguments = arguments + more,
        inputs = depset(inputs, transitive = [toolchain.all_files]),
        outputs = [output],
        mnemonic = "CppPrecompile",
        progress_message = "Compiling headers of libraries (%s)" % ctx.label.name,
    )

def _clang_impl(ctx):
    output = ctx.actions.declare_file(ctx.label.name + ".pch")

    # The same bytes in each checkout, or what others compiled would be of no use there: neither the
    # time nor the sandbox's path is in them.
    more = ["-Xclang", "-fno-pch-timestamp", "-working-directory=/proc/self/cwd"]
    more.append("-fpch-instantiate-templates")
    for header in ctx.attr.headers[1:]:
        more += ["-include", header]
    _precompile(ctx, ctx.attr.headers[0], output, more)
    return [DefaultInfo(files = depset([output]))]

def _gcc_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    output = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    ctx.actions.write(header, "".join(["#include <%s>\n" % name for name in ctx.attr.headers]))
    _precompile(ctx, header.path, output, [], inputs = [header])
    return [DefaultInfo(files = depset([header, output]))]

def _rule(implementation):
    return rule(
        implementation = implementation,
        attrs = {
            "copts": attr.string_list(),
            "headers": attr.string_list(allow_empty = False),
            "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        },
        fragments = ["cpp"],
        toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    )

_clang = _rule(_clang_impl)
_gcc = _rule(_gcc_impl)

def precompiled_headers(name, headers, copts = [], gcc = False):
    """A library with what the compiler has read, for sources that include it before all else.

    Args:
      name: of the cc_library.
      headers: of installed libraries; for clang the first one by its absolute path.
      copts: the level of optimisation, which is that of the sources.
      gcc: name_file.h is for -include; else name_file.pch is for -include-pch.
    """
    precompile = _gcc if gcc else _clang
    precompile(
        name = name + "_file",
        headers = headers,
        copts = copts,
        tags = ["manual"],
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        textual_hdrs = [":%s_file" % name],
        tags = ["manual"],
        visibility = ["//visibility:public"],
    )
