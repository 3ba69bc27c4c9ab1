# SPDX-License-Identifier: Apache-2.0
"""The headers that users include as "farcall/NAME.h", by the folder they stand in."""

PUBLIC_HEADERS = {
    "rpc": [
        "attachment_placer",
        "authenticator",
        "channel",
        "channel_options",
        "closure",
        "controller",
        "coroutine",
        "coroutine_task",
        "errors",
        "interceptor",
        "log",
        "options",
        "retry_policy",
        "run_until_asked_to_quit",
        "runtime",
        "runtime_options",
        "server",
        "server_options",
        "setting_flags",
        "settled_connection",
        "traffic_class",
        "types",
        "user_fields",
        "version",
    ],
    "transport/buffer": [
        "buffer",
        "registered_memory",
    ],
}

def public_headers(folder):
    return [name + ".h" for name in PUBLIC_HEADERS[folder]]
