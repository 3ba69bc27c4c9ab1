# SPDX-License-Identifier: Apache-2.0
"""What the checks hold the repository to: the lists. Who may include whom is in order.py."""

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
    "rpc/session/server/limits/memory_holders",
    "rpc/session/server/protocol_guess",
    "rpc/session/server/request_place",
    "rpc/session/server/limits/session_timeouts",
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
    "transport/carrier/backlog_bound",
    "transport/carrier/drain_mark",
    "transport/reads_use",
    "transport/carrier/framed_backlog",
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
# C++ and Python, without tests.
FOLDER_SOURCES = 30
FUNCTION_LINES = 70
LINE_LENGTH = 100
# Of documents, tables and examples excepted.
TEXT_LINE_LENGTH = 120
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
