#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# fuzz_main finds a planted mistake (an input that begins with the byte ff), says how
# to run it again, saves its input, and finds nothing where there is nothing.

set -uo pipefail

program=$PWD/$1
unset TEST_UNDECLARED_OUTPUTS_DIR
cd "$TEST_TMPDIR"
printf 'good' >good
printf '\xff' >bad

fail() {
  echo "FAIL: $1" >&2
  [ ! -f log ] || cat log >&2
  exit 1
}

"$program" --mutations=0 good >log 2>&1 || fail "a good file alone passes"
grep -q '1 files, 0 mutations' log || fail "it says what was run"

"$program" --mutations=0 good bad >log 2>&1 && fail "a bad file in the corpus is a failure"
grep -q 'failed on bad' log || fail "the file is named"

"$program" --mutations=20000 good >log 2>&1 && fail "the mistake is found by mutations"
only=$(grep -o -- '--only=[0-9]*' log) || fail "the mutation is named"
[ "$(head -c 1 fuzz_failed_input | od -An -tx1 | tr -d ' ')" = ff ] || fail "its input is saved"

"$program" "$only" good >log 2>&1 && fail "the same mutation fails again"
"$program" --mutations=0 fuzz_failed_input >log 2>&1 && fail "the saved input fails again"

"$program" --mutations=10 >log 2>&1 && fail "no corpus is a mistake of the caller"
"$program" --mutations=10 missing >log 2>&1 && fail "a missing file is an error"
grep -q 'cannot read missing' log || fail "the missing file is named"
echo PASS
