#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A minute of the soak (docs/soak.md).
set -euo pipefail

exec python3 -B tools/lib/soak.py --bin . --seconds 60 --seed 1
