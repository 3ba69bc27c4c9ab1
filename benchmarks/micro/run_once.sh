#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage: run_once.sh PROGRAM
#
# Each benchmark of a program of Google Benchmark runs, and none ends with an error.
set -euo pipefail

count=$("$1" --benchmark_list_tests | wc -l)
[ "$count" -gt 0 ]
"$1" --benchmark_min_time=0.001 --benchmark_format=csv >"$TEST_TMPDIR/report.csv"
# name,iterations,...,error_occurred,error_message
reported=$(grep -c '^"' "$TEST_TMPDIR/report.csv")
if [ "$reported" -ne "$count" ]; then
  echo "error: $reported of $count benchmarks reported" >&2
  exit 1
fi
! grep -n ',true,' "$TEST_TMPDIR/report.csv"
