# SPDX-License-Identifier: Apache-2.0
"""A header that gcc reads once for all sources, and not once for each."""

load("@rules_cc//cc:defs.bzl", "CcInfo", "cc_common")
load("@rules_cc//cc:find_cc_toolchain.bzl", "find_cc_toolchain")

def _precompiled_header_impl(ctx):
    toolchain = find_cc_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )

    # gcc takes X.h.gch for the X.h beside it, if no option that matters is another. The copy
    # has a name of its own, so that only who is given it finds it.
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.symlink(output = header, target_file = ctx.file.src)
    precompiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = ctx.file.src.path,
        output_file = precompiled.path,
        quote_include_directories = depset(["."]),
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        use_pic = True,
    )
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(
            feature_configuration = features,
            action_name = "c++-compile",
        ),
        # Behind the options of all compilations comes what makes it a header.
        arguments = ["-x", "c++-header"] + cc_common.get_memory_inefficient_command_line(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ),
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = "c++-compile",
            variables = variables,
        ),
        inputs = depset([ctx.file.src] + ctx.files.hdrs, transitive = [toolchain.all_files]),
        outputs = [precompiled],
        mnemonic = "CppPrecompile",
        progress_message = "Precompiling %s" % header.short_path,
    )
    files = depset([header, precompiled] + ctx.files.hdrs)
    return [
        DefaultInfo(files = files),
        CcInfo(compilation_context = cc_common.create_compilation_context(
            headers = files,
            quote_includes = depset([header.dirname]),
        )),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "src": attr.label(allow_single_file = [".h"], mandatory = True),
        "hdrs": attr.label_list(allow_files = [".h"], doc = "What src includes of ours."),
        "copts": attr.string_list(doc = "What --per_file_copt adds for who includes it."),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
