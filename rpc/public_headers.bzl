# SPDX-License-Identifier: Apache-2.0
"""The headers that users include as "farcall/NAME.h", by the folder they stand in."""

PUBLIC_HEADERS = {
    "rpc": [
        "attachment_placer",
        "authenticator",
        "channel_options",
        "closure",
        "controller",
        "errors",
        "interceptor",
        "log",
        "options",
        "retry_policy",
        "runtime_options",
        "server_options",
        "traffic_class",
        "types",
        "user_fields",
        "version",
    ],
    "rpc/runtime": [
        "channel",
        "coroutine",
        "coroutine_task",
        "run_until_asked_to_quit",
        "runtime",
        "server",
        "setting_flags",
        "settled_connection",
    ],
    "transport/buffer": [
        "buffer",
        "registered_memory",
    ],
}

def public_headers(folder):
    return [name + ".h" for name in PUBLIC_HEADERS[folder]]
