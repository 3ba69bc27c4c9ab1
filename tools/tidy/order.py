# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the lists, from below to above."""

# A file belongs to the longest of these prefixes that its path has. It may include
# the headers of its own directory, and those listed: "a/" is a and all below it,
# "a/*" is only the files directly in a.

_TRANSPORT = [
    "transport/*", "transport/base/", "transport/buffer/", "transport/loop/", "transport/carrier/",
]
_BELOW_LOOP = ["transport/base/"] + [
    "transport/loop/%s/" % room for room in ("drive", "queues", "sources")
]
_RPC_PUBLIC = ["rpc/*", "rpc/runtime/"]


def _rdma(*rooms):
    return _TRANSPORT + ["transport/rdma/%s/" % room for room in rooms]


def _fabric(*rooms):
    return _TRANSPORT + ["transport/rdma/testing/fabric/%s/" % room for room in rooms]


def _link(*rooms):
    return _TRANSPORT + ["transport/link/%s/" % room for room in rooms]


def _rpc(*rooms):
    return _TRANSPORT + ["rpc/*"] + ["rpc/%s/" % room for room in rooms]


LAYERS = {
    "transport/": ["transport/base/", "transport/buffer/"],
    # What all kinds of transport keep in the same way.
    "transport/carrier/": ["transport/*", "transport/base/"],
    "transport/base/": [],
    # Its rooms, from below to above; the top knows neither.
    "transport/base/host/": ["transport/base/*"],
    "transport/base/threads/": ["transport/base/*", "transport/base/host/"],
    "transport/buffer/": ["transport/base/"],
    # The parts of a loop, which know neither it nor each other.
    "transport/loop/drive/": ["transport/base/"],
    "transport/loop/queues/": ["transport/base/"],
    "transport/loop/sources/": ["transport/base/"],
    "transport/loop/": _BELOW_LOOP,
    # The threads above a loop, which knows nothing of them.
    "transport/loop/drivers/": ["transport/base/", "transport/loop/*", "transport/loop/drive/"],
    # The hellos of another framework: for whoever has a TCP connection in its hands.
    "transport/brpc/": _TRANSPORT,
    # The kinds of transport never see each other.
    "transport/tcp/": _TRANSPORT + ["transport/tcp/"],
    "transport/rdma/": _TRANSPORT + ["transport/rdma/"],
    # Its rooms, from below to above.
    "transport/rdma/choice/": _rdma(),
    "transport/rdma/flow/": _rdma(),
    "transport/rdma/verbs/": _rdma(),
    "transport/rdma/memory/": _rdma("verbs"),
    "transport/rdma/device/": _rdma("verbs", "memory"),
    "transport/rdma/cm/": _rdma("flow", "verbs", "device"),
    "transport/rdma/channel/": _rdma("flow", "verbs", "memory", "device"),
    "transport/rdma/host/": _rdma("choice", "flow", "verbs", "memory", "device", "cm", "channel"),
    "transport/rdma/setup/": _rdma("choice", "flow", "verbs", "device", "cm", "host"),
    "transport/link/": _TRANSPORT + ["transport/link/"],
    # Its rooms, from below to above.
    "transport/link/hello/": _link(),
    "transport/link/stream/frames/": _link(),
    "transport/link/stream/bytes/": _link(),
    "transport/link/stream/rails/": _link("stream/bytes"),
    "transport/link/stream/": _link("stream/frames", "stream/bytes", "stream/rails"),
    "transport/link/upgrade/": _link("hello"),
    "transport/link/connection/": _link("hello", "stream", "upgrade") + ["transport/brpc/"],
    "transport/tls/": _TRANSPORT + ["transport/tls/"],
    # What its rooms and users speak of: it knows no room.
    "rpc/": _TRANSPORT,
    # Its rooms, from below to above. Names and their addresses know nothing of sessions and calls.
    "rpc/naming/": _rpc(),
    "rpc/reflection/": _rpc(),
    "rpc/stats/": _rpc(),
    "rpc/wire/": _rpc(),
    "rpc/call/": _rpc("wire"),
    "rpc/dispatch/": _rpc("stats"),
    "rpc/settings/": _rpc() + ["rpc/status/runtime_status.h"],
    # The two sides of a connection never see each other, and what they share sees neither.
    "rpc/session/": _rpc("wire"),
    "rpc/session/client/": _rpc("wire", "call", "naming")
    + ["rpc/session/*", "rpc/status/runtime_status.h"],
    "rpc/session/server/limits/": ["rpc/*", "transport/base/"],
    "rpc/session/server/": _rpc("wire", "call", "dispatch", "stats", "session/server/limits")
    + ["rpc/session/*", "transport/brpc/"],
    # Of each other they know one header.
    "rpc/http/": _rpc("wire", "dispatch", "session/server") + ["rpc/status/json_writer.h"],
    "rpc/status/": _rpc("stats", "session/server") + ["rpc/http/http_page.h"],
    "rpc/cluster/balance/": _rpc("naming"),
    "rpc/cluster/": _rpc("wire", "call", "naming", "session/client", "cluster/balance"),
    "rpc/runtime/": _TRANSPORT + ["rpc/"],
    # The composition root: the one file of rpc that knows which transports there are.
    "rpc/runtime/runtime.cc": _TRANSPORT
    + ["rpc/", "transport/tcp/", "transport/tls/", "transport/rdma/", "transport/link/"],
    "examples/": _RPC_PUBLIC + ["transport/*", "transport/buffer/", "transport/loop/"],
    # They measure.
    "examples/attachment/": _RPC_PUBLIC
    + ["transport/*", "transport/buffer/", "benchmarks/common/", "examples/common/"],
    "examples/kv/": _RPC_PUBLIC
    + ["transport/*", "transport/buffer/", "benchmarks/common/", "examples/common/"],
    "benchmarks/": _RPC_PUBLIC + _TRANSPORT + ["benchmarks/"],
    "benchmarks/common/figures/": [],
    # Measures the insides.
    "benchmarks/micro/": ["rpc/", "transport/", "benchmarks/"],
    "tools/": _RPC_PUBLIC + _TRANSPORT,
    # The snippets of the documents call the service of the echo example.
    "tools/snippets/": _RPC_PUBLIC + _TRANSPORT + ["examples/echo/"],
    "tools/gen_selectors/": [
        "tools/node/", "tools/farcall/text/", "rpc/status/", "transport/base/",
    ],  # fmt: skip
    "tools/node/": ["rpc/http/", "transport/base/"],
    "tools/farcall/text/": ["benchmarks/common/figures/", "transport/base/"],
    "tools/farcall/": ["tools/farcall/text/"]
    + _RPC_PUBLIC
    + _TRANSPORT
    + ["rpc/reflection/", "rpc/settings/", "rpc/status/", "benchmarks/common/"],
    # Looks at the same devices as the library, and measures beside it.
    "tools/doctor/": _RPC_PUBLIC
    + _TRANSPORT
    + ["rpc/settings/", "rpc/status/", "transport/rdma/", "benchmarks/common/", "tools/"],
}

# Tests, and what only tests use: directories named testing, and files with such names.
TEST_STEMS = ("_test", "_testing", "_harness", "_fuzz", "_selftest")
TEST_DIRECTORIES = ("testing/", "tools/fuzz/", "tools/rdma_vm_tests/")
# They may look inside their neighbours.
TEST_LAYERS = {
    "transport/": ["transport/"],
    # What is below all else is tested by itself.
    "transport/base/": ["transport/base/"],
    "transport/loop/": ["transport/base/", "transport/loop/"],
    "transport/loop/drive/": ["transport/base/"],
    "transport/loop/queues/": ["transport/base/"],
    "transport/loop/sources/": ["transport/base/"],
    # What tests share, from below to above: the suite knows no transport, the network is one.
    "transport/testing/": _TRANSPORT,
    "transport/testing/conformance/": _TRANSPORT + ["transport/testing/*"],
    "transport/testing/sim/": _TRANSPORT
    + ["transport/testing/*", "transport/testing/conformance/"],
    # A stand-in for what lies below the transport knows nothing of it.
    "transport/rdma/testing/fabric/": _TRANSPORT
    + ["transport/rdma/testing/fabric/", "transport/rdma/verbs/", "transport/testing/*"],
    # Its rooms, from below to above.
    "transport/rdma/testing/fabric/device/": _TRANSPORT + ["transport/testing/*"],
    "transport/rdma/testing/fabric/queues/": _fabric("device"),
    "transport/rdma/testing/fabric/cm/": _fabric("device", "queues"),
    "rpc/": ["rpc/", "transport/"],
    # Tests of the whole by topic, and what they share: no topic knows another.
    "rpc/testing/": _rpc("runtime", "reflection", "session", "status", "wire")
    + ["rpc/testing/*", "transport/"],
    "examples/": ["examples/", "rpc/", "transport/"],
    "benchmarks/": ["benchmarks/", "rpc/", "transport/"],
    "tools/": ["tools/", "rpc/", "transport/", "benchmarks/common/"],
}
# Beside tests, who may include what only tests use.
MAY_USE_TESTING = ["benchmarks/micro/"]

# The rooms of Python. What they import is named from the folder above all of them, as in
# `from console.table import Table`. Tests have no rights of their own.
PYTHON_ROOT = "tools/lib/"
PYTHON_LAYERS = {
    "tools/lib/": ["tools/lib/"],
    # From below to above.
    "tools/lib/console/": [],
    "tools/lib/places/": ["tools/lib/console/"],
    "tools/lib/loads/": ["tools/lib/console/", "tools/lib/places/"],
}

# Headers of the system that only one part may include.
SYSTEM_HEADERS = {
    "infiniband/": ["transport/rdma/", "tools/doctor/"],
    "openssl/": ["transport/tls/"],
    "rdma/": ["transport/rdma/", "tools/doctor/"],
    "sys/sdt.h": ["transport/base/"],
}

# What a quoted include may start with, beside the repository's own directories. farcall/: the
# public headers as users include them.
LIBRARIES = [
    "absl/", "benchmark/", "boost/", "farcall/", "fmt/", "gmock/", "google/", "grpcpp/", "gtest/",
    "prometheus/", "spdlog/", "yaml-cpp/",
]
