# SPDX-License-Identifier: Apache-2.0
"""Calls between two hosts with a device each, in one guest."""

import os
import sys

import calls
import peers
import store
import suite

CASES = calls.CASES + store.CASES

if __name__ == "__main__":
    # For all programs of all cases.
    os.environ.update(setting.split("=") for setting in peers.PATIENT[1:])
    sys.exit(suite.main(CASES))
