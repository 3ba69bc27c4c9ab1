# SPDX-License-Identifier: Apache-2.0
"""What the checks hold the repository to: the lists, in one place."""

# --- Who may include whom -------------------------------------------------------
# A file belongs to the longest of these prefixes that its path has. It may include
# the headers of its own directory, and those listed: "a/" is a and all below it,
# "a/*" is only the files directly in a.

_TRANSPORT = ["transport/*", "transport/base/", "transport/buffer/", "transport/loop/"]
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
    "transport/": _TRANSPORT,
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
    "transport/rdma/device/": _rdma("verbs"),
    "transport/rdma/cm/": _rdma("flow", "verbs", "device"),
    "transport/rdma/channel/": _rdma("flow", "verbs", "device"),
    "transport/rdma/host/": _rdma("choice", "flow", "verbs", "device", "cm", "channel"),
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
    "rpc/session/server/": _rpc("wire", "call", "dispatch", "stats")
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
    # Measures the insides.
    "benchmarks/micro/": ["rpc/", "transport/", "benchmarks/"],
    "tools/": _RPC_PUBLIC + _TRANSPORT,
    # The snippets of the documents call the service of the echo example.
    "tools/snippets/": _RPC_PUBLIC + _TRANSPORT + ["examples/echo/"],
    "tools/gen_selectors/": ["tools/node/", "tools/farcall/", "rpc/status/", "transport/base/"],
    "tools/node/": ["rpc/http/", "transport/base/"],
    "tools/farcall/": _RPC_PUBLIC
    + _TRANSPORT
    + ["rpc/reflection/", "rpc/settings/", "rpc/status/", "benchmarks/common/"],
    # Looks at the same devices as the library, and measures beside it.
    "tools/doctor/": _RPC_PUBLIC
    + _TRANSPORT
    + ["rpc/settings/", "rpc/status/", "transport/rdma/", "benchmarks/common/", "tools/"],
}

# Tests, and what only tests use: directories named testing, and files with such names.
TEST_STEMS = ("_test", "_testing", "_harness", "_fuzz", "_selftest")
TEST_DIRECTORIES = ("testing/", "tools/fuzz/")
# They may look inside their neighbours, but never up.
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

# --- Pure targets ---------------------------------------------------------------
# Bytes, events and the time go in, actions come out. A name that ends in "/" is a
# directory; else it is the header and source of that name.
PURE = [
    "rpc/call/answer_place",
    "rpc/call/attachment_memory",
    "rpc/call/call_table",
    "rpc/cluster/balance/",
    "rpc/naming/naming_list",
    "rpc/naming/naming_pace",
    "rpc/cluster/retry_budget",
    "rpc/naming/server_node",
    "rpc/cluster/server_set",
    "rpc/naming/target",
    "rpc/dispatch/adaptive_limit",
    "rpc/dispatch/line_limit",
    "rpc/errors",
    "rpc/http/http_call_request",
    "rpc/http/http_framing",
    "rpc/http/http_head_scanner",
    "rpc/http/http_message",
    "rpc/http/http_origin",
    "rpc/http/http_reader",
    "rpc/http/http_status",
    "rpc/http/http_target",
    "rpc/http/http_writer",
    "rpc/http/json",
    "rpc/retry_policy",
    "rpc/session/client/connect_gate",
    "rpc/session/client/relink_pace",
    "rpc/session/client/waiting_frames",
    "rpc/session/placed_range",
    "rpc/session/server/memory_holders",
    "rpc/session/server/protocol_guess",
    "rpc/session/server/request_place",
    "rpc/session/server/session_timeouts",
    "rpc/stats/error_class",
    "rpc/stats/latency_buckets",
    "rpc/stats/method_snapshot",
    "rpc/stats/sample_ring",
    "rpc/status/field_writer",
    "rpc/status/json_writer",
    "rpc/status/metric_families",
    "rpc/status/rdma_fields",
    "rpc/status/rdma_metrics",
    "rpc/status/runtime_status",
    "rpc/status/server_status",
    "rpc/status/status_fields",
    "rpc/status/status_metrics",
    "rpc/status/text_writer",
    "rpc/types",
    "rpc/user_fields",
    "rpc/version",
    "rpc/wire/",
    "tools/doctor/dcb/dcb_facts",
    "tools/doctor/dcb/queue_counters",
    "tools/node/json_objects",
    "tools/node/parse",
    "transport/address",
    "transport/base/backoff",
    "transport/base/big_endian",
    "transport/base/host/numa_node",
    "transport/base/option_field",
    "transport/base/past_event",
    "transport/base/split_mix",
    "transport/brpc/",
    "transport/brpc_end",
    "transport/connection_info",
    "transport/copied_bytes",
    "transport/fabric_port",
    "transport/rail_ports",
    "transport/backlog_bound",
    "transport/drain_mark",
    "transport/reads_use",
    "transport/framed_backlog",
    "transport/link/hello/",
    "transport/link/stream/",
    "transport/link/upgrade/ask_rate_limit",
    "transport/link/upgrade/rail_rest",
    "transport/link/upgrade/reason",
    "transport/link/upgrade/client_upgrade_machine",
    "transport/link/upgrade/server_upgrade_machine",
    "transport/link_options",
    "transport/loop/drive/drive_turns",
    "transport/loop/drive/driver_claim",
    "transport/loop/queues/flush_list",
    "transport/loop/drivers/near_adapters",
    "transport/loop/drive/polling",
    "transport/loop/queues/timer_queue",
    "transport/rdma/choice/",
    "transport/rdma/flow/",
    "transport/rdma/setup/network_status",
    "transport/rdma_status",
    "transport/peer_trust",
    "transport/why_not_rdma",
    "transport/tcp/heads_alone",
]
# Of the project, what pure code may include beside other pure code.
PURE_MAY_INCLUDE = [
    "rpc/channel_options.h", "transport/base/check.h", "transport/base/time.h", "transport/buffer/",
    "transport/rdma/setup/network_status.pb.h",
]
# Headers that bring threads, locks, files or sockets.
IMPURE_HEADERS = (
    r"(thread|mutex|shared_mutex|atomic|condition_variable|future|semaphore|latch|barrier"
    r"|stop_token|fstream|filesystem|iostream|pthread\.h|unistd\.h|fcntl\.h|poll\.h|signal\.h"
    r"|netdb\.h|time\.h|(sys|net|netinet|linux)/.*"
    r"|absl/synchronization/.*|absl/time/clock\.h|absl/random/random\.h|spdlog/.*)"
)
# Calls that ask the world: clocks, chance, the process.
IMPURE_CALLS = (
    r"::now\s*\(|\b(absl::Now|gettimeofday|clock_gettime|getrandom|getenv|sleep_for)\s*\("
    r"|\brandom_device\b|\babsl::BitGen\b|\bthread_local\b"
)

# --- Sizes ----------------------------------------------------------------------
FILE_LINES = 300
FUNCTION_LINES = 70
LINE_LENGTH = 100
# Bytes. Nothing here is larger but by mistake.
FILE_BYTES = 256 * 1024

# --- Words ----------------------------------------------------------------------
# Left over from work that is not finished, or a check silenced.
LEFTOVER_WORDS = (
    r"\b(TODO|FIXME|XXX|HACK)\b|\bnot implemented\b|\bNOLINT|\bGTEST_SKIP\b|\bDISABLED_"
    r"|clang-format off"
)
# These files name the words because they forbid them.
LEFTOVER_EXEMPT = ["tools/tidy/"]
# Paths of one machine; joined here so that this file does not hold them.
MACHINE_PATHS = r"(?<![\w.$}])/(%s)" % "|".join(["wo" + r"rk/", "tmp/" + "bz"])

# --- Files ----------------------------------------------------------------------
SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_EXTENSIONS = {
    ".bazel", ".BUILD", ".bzl", ".cc", ".cmake", ".css", ".go", ".h", ".html", ".in", ".java",
    ".js", ".proto", ".py", ".sh", ".yaml", ".yml",
}
SPDX_NAMES = {".bazelrc", "CMakeLists.txt", "Dockerfile", "WORKSPACE", "packages.txt"}

KNOWN_EXTENSIONS = SPDX_EXTENSIONS | {".json", ".md", ".svg", ".txt", ".xml"}
KNOWN_NAMES = SPDX_NAMES | {
    ".bazelignore", ".clang-format", ".dockerignore", ".gitignore", "LICENSE", "NOTICE",
}
# Inputs of fuzzers: any name, any bytes.
CORPUS = "/corpus/"
# Pictures of the documents.
PICTURES = ("docs/", ".png")
