# SPDX-License-Identifier: Apache-2.0
"""The RDMA of brpc, with a peer that shares no code with farcall. iWARP cannot carry it."""

import sys

import brpc_clients
import brpc_servers
import suite

CASES = brpc_clients.CASES + brpc_servers.CASES

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
