#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Of a program's tests, the one that makes a thread fails, and no other.
set -uo pipefail

"$1" >"$TEST_TMPDIR/log" 2>&1 && echo "FAIL: a test that makes a thread fails" >&2 && exit 1
failed=$(sed -nE 's/^\[  FAILED  \] ([A-Za-z.]+) \(.*/\1/p' "$TEST_TMPDIR/log")
[ "$failed" = Planted.MakesOneThatEnds ] && exit 0
echo "FAIL: one test fails" >&2
cat "$TEST_TMPDIR/log" >&2
exit 1
