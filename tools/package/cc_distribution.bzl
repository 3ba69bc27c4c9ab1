# SPDX-License-Identifier: Apache-2.0
"""A tar of one static library, its public headers, pkg-config and CMake files.

What a user of the library must link is taken from the build graph: the objects of
this repository go into the archive, the link options of the libraries outside it
into the pkg-config and CMake files.
"""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _own(label):
    return not label.workspace_name

def _collect(deps):
    """The headers, objects and link flags of this repository behind `deps`."""
    headers = []
    objects = []
    flags = []
    for dep in deps:
        info = dep[CcInfo]
        for header in info.compilation_context.headers.to_list():
            if _own(header.owner) and header.extension == "h":
                headers.append(header)
        for linker_input in info.linking_context.linker_inputs.to_list():
            flags.extend(linker_input.user_link_flags)
            if not _own(linker_input.owner):
                continue
            for library in linker_input.libraries:
                # Position independent, so that a user may link it into a shared library.
                objects.extend(library.pic_objects or library.objects)
    return struct(
        headers = depset(headers).to_list(),
        objects = depset(objects).to_list(),
        flags = depset(flags).to_list(),
    )

def _archive(ctx, objects):
    archive = ctx.actions.declare_file("lib%s.a" % ctx.attr.library)
    toolchain = find_cpp_toolchain(ctx)
    args = ctx.actions.args()
    args.add("qcsD")
    args.add(archive)
    args.add_all(objects)
    ctx.actions.run(
        executable = toolchain.ar_executable,
        arguments = [args],
        inputs = depset(objects, transitive = [toolchain.all_files]),
        outputs = [archive],
        mnemonic = "CcDistributionArchive",
    )
    return archive

def _header_argument(header):
    return "--header=%s=%s" % (header.short_path, header.path)

def _flag_argument(flag):
    return "--link=" + flag

def _cc_distribution_impl(ctx):
    parts = _collect(ctx.attr.deps)
    archive = _archive(ctx, parts.objects)
    tar = ctx.actions.declare_file(ctx.label.name + ".tar.gz")

    args = ctx.actions.args()
    args.add("--out", tar)
    args.add("--name", ctx.attr.library)
    args.add("--version", ctx.attr.version)
    args.add("--description", ctx.attr.description)
    args.add("--archive", archive)
    args.add_all(ctx.files._templates, before_each = "--template")
    args.add_all(ctx.attr.public_headers, before_each = "--public")
    args.add_all(parts.flags, map_each = _flag_argument)
    args.add_all(parts.headers, map_each = _header_argument)
    ctx.actions.run(
        executable = ctx.executable._package,
        arguments = [args],
        inputs = [archive] + parts.headers + ctx.files._templates,
        outputs = [tar],
        mnemonic = "CcDistribution",
    )
    return [DefaultInfo(files = depset([tar]))]

cc_distribution = rule(
    implementation = _cc_distribution_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], mandatory = True),
        "description": attr.string(mandatory = True),
        "library": attr.string(mandatory = True),
        # Paths; what these headers include is taken along.
        "public_headers": attr.string_list(mandatory = True),
        "version": attr.string(mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
        "_package": attr.label(
            default = "//tools/package",
            executable = True,
            cfg = "exec",
        ),
        "_templates": attr.label(default = "//tools/package:templates"),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
