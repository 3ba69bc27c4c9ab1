# SPDX-License-Identifier: Apache-2.0
"""Whether two hosts with a device each come to RDMA, or why they do not."""

import os
import sys

import peers
import ports
import reasons
import suite
import tokens
from guest import DRIVER

CASES = reasons.CASES + ports.CASES
# token_probe dials by rdma_cm. Over TCP a token counts on the connection alone that it was told on.
if peers.SET_UP != "tcp":
    CASES += tokens.CASES

if __name__ == "__main__":
    # For all programs of all cases.
    os.environ.update(setting.split("=") for setting in peers.PATIENT[1:])
    # RoCE takes no ports of TCP.
    left_out = () if DRIVER == "siw" else ports.CASES
    sys.exit(suite.main(tuple(case for case in CASES if case not in left_out)))
