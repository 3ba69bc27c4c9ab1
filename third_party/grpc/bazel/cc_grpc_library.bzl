# SPDX-License-Identifier: Apache-2.0

"""cc_grpc_library as in gRPC's own build, on the installed protoc and plugin."""

load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_proto//proto:defs.bzl", "ProtoInfo")

def _grpc_sources_impl(ctx):
    proto = ctx.attr.proto[ProtoInfo]
    outputs = []
    for source in proto.direct_sources:
        stem = source.basename[:-len(".proto")]
        outputs.append(ctx.actions.declare_file(stem + ".grpc.pb.h"))
        outputs.append(ctx.actions.declare_file(stem + ".grpc.pb.cc"))

    args = ctx.actions.args()
    args.add_all(proto.transitive_proto_path, format_each = "-I%s")
    args.add(ctx.executable._plugin, format = "--plugin=protoc-gen-grpc=%s")
    args.add(ctx.bin_dir.path, format = "--grpc_out=%s")
    args.add_all(proto.direct_sources)
    ctx.actions.run(
        outputs = outputs,
        inputs = proto.transitive_sources,
        executable = ctx.executable._protoc,
        tools = [ctx.executable._plugin],
        arguments = [args],
        mnemonic = "GrpcProtoc",
        progress_message = "Generating gRPC code for %s" % ctx.label,
    )
    return [DefaultInfo(files = depset(outputs))]

_grpc_sources = rule(
    implementation = _grpc_sources_impl,
    attrs = {
        "proto": attr.label(providers = [ProtoInfo], mandatory = True),
        "_plugin": attr.label(
            default = "//src/compiler:grpc_cpp_plugin",
            executable = True,
            cfg = "exec",
        ),
        "_protoc": attr.label(
            default = "@com_google_protobuf//:protoc",
            executable = True,
            allow_files = True,
            cfg = "exec",
        ),
    },
)

def cc_grpc_library(name, srcs, deps, grpc_only = True, **kwargs):
    """A cc_library of the gRPC stubs of one proto_library.

    Args:
      name: the library.
      srcs: one proto_library of this package.
      deps: its cc_proto_library.
      grpc_only: must be True, as in gRPC's own rule when deps is given.
      **kwargs: passed to cc_library.
    """
    if len(srcs) != 1 or not grpc_only:
        fail("cc_grpc_library takes one proto_library and grpc_only = True")
    _grpc_sources(
        name = name + "_sources",
        proto = srcs[0],
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [name + "_sources"],
        hdrs = [name + "_sources"],
        deps = deps + [Label("//:grpc++")],
        **kwargs
    )
