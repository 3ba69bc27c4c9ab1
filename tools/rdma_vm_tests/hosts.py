# SPDX-License-Identifier: Apache-2.0
"""All that two hosts with a device each are needed for, in one guest."""

import sys

import calls
import ports
import reasons
import store
import suite
import tokens

CASES = calls.CASES + tokens.CASES + reasons.CASES + store.CASES + ports.CASES

if __name__ == "__main__":
    sys.exit(suite.main(CASES))
