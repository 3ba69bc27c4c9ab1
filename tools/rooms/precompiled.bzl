# SPDX-License-Identifier: Apache-2.0
"""The headers of libraries that many sources include, read once by clang for all of them."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "cc_library")

def _precompile_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    output = ctx.actions.declare_file(ctx.label.name + ".pch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.attr.headers[0],
        output_file = output.path,
        use_pic = True,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
    )
    arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = "c++-compile",
        variables = variables,
    )

    # The same bytes in each checkout, or what others compiled would be of no use there: neither the
    # time nor the sandbox's path is in them.
    arguments += ["-Xclang", "-fno-pch-timestamp", "-working-directory=/proc/self/cwd"]
    arguments.append("-fpch-instantiate-templates")
    for header in ctx.attr.headers[1:]:
        arguments += ["-include", header]
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = "c++-compile",
        ),
        arguments = arguments,
        inputs = toolchain.all_files,
        outputs = [output],
        mnemonic = "CppPrecompile",
        progress_message = "Compiling headers of libraries (%s)" % ctx.label.name,
    )
    return [DefaultInfo(files = depset([output]))]

_precompile = rule(
    implementation = _precompile_impl,
    attrs = {
        "copts": attr.string_list(),
        "headers": attr.string_list(allow_empty = False),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def precompiled_headers(name, headers, copts = []):
    """A library with name.pch, for sources that are compiled with -include-pch.

    Args:
      name: of the cc_library.
      headers: of installed libraries; the first one by its absolute path.
      copts: the level of optimisation, which is that of the sources.
    """
    _precompile(
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
