#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Half a minute of the soak (docs/soak.md).
set -euo pipefail

exec python3 -B tools/lib/soak.py --bin . --seconds 30 --seed 1
