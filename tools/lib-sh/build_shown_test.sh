#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What build_shown.sh shows of a build.
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/build_shown.sh"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

expect() {
  [ "$2" = "$3" ] && return
  echo "FAILED: $1: \"$2\" and not \"$3\"" >&2
  failed=1
}

cat >"$log" <<'END'
Loading: 0 packages loaded
[12 / 345] Compiling transport/a_file_with_a_rather_long_name_that_is_not_cut_here.cc; 3s
INFO: something
END
step=$(_build_progress "$log")
expect "the step" "$step" \
  "12 of 345: Compiling transport/a_file_with_a_rather_long_name_that_is_not_cut_here.cc; 3s"
expect "the whole line" "$(_build_line 200 7 "$step")" "building, 7 s: $step"
expect "before the first step" "$(_build_line 80 0 "")" "building, 0 s: starting"
# The last column stays free: a terminal goes on to the next line after it.
for columns in 20 79 80 81; do
  line=$(_build_line "$columns" 1234 "$step")
  expect "of $columns columns" "${#line}" "$((columns - 1))"
done
expect "no terminal" "$(_terminal_columns 2>"$log")" 80

# What the build says is shown only where it fails.
bazel_command() { echo "[1 / 2] Compiling"; echo "a.cc:1:1: error: no"; return "$result"; }
result=0
expect "a build" "$(build_shown //a 2>&1)" ""
result=1
expect "a failed build" "$(build_shown //a 2>&1 | head -n 2 | tr '\n' '|')" \
  "error: the build failed:|  a.cc:1:1: error: no|"
exit "$failed"
