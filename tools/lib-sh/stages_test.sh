#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# stages.sh: what it counts and shows.
set -uo pipefail

library="$(dirname "$0")/stages.sh"
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
failures=0
expect() {
  if [[ $2 != $3 ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}

# run SCRIPT: in a shell of its own, with the library and these commands.
run() {
  output=$("$BASH" -uo pipefail -c '. "$1"; logs=$2
    bazel_good() {
      echo "//a:b_test   (cached) PASSED in 0.1s"
      echo "//a:c_test  FLAKY, failed in 1"
    }
    bazel_bad() {
      bazel_good
      echo "==================== Test output for //a:d_test:"
      echo "[ RUN      ] D.E"
      for i in $(seq 100); do echo "line $i"; done
      echo "================================================================================"
      echo "//a:d_test   FAILED in 0.1s"
      echo "//a:e_test   FAILED TO BUILD"
      echo "//a:f_test   TIMEOUT in 60s"
      return 3
    }
    guests() {
      echo "PASS rdma/rxe/calls/small_calls (0.1 s)"
      echo "FAIL rdma/siw/calls/small_calls: lost: a byte"
      for i in $(seq 200); do echo "rdma_vm: rdma/siw/calls/small_calls: seen $i"; done
      echo "PASS nothing that counts"
      return 1
    }
    peers() {
      echo "interop: fetching brpc-java"
      echo "PASS interop/java-to-farcall/echo (0.1 s)"
      echo "PASS interop/farcall-to-java/echo (0.1 s)"
      echo "FAIL interop/java-to-farcall/timeout: not a timeout: success (0.1 s)"
      return 1
    }
    cluster() {
      echo "k8s: building the images"
      echo "PASS k8s/manifests/rules (0.1 s)"
      echo "FAIL k8s/image-farcall/size: 1 MiB, more than 0"
      return 1
    }
    no_build() { echo "x.cc:1: error: expected ;"; return 1; }
    eval "$3"; report' x "$library" "$room" "$1" 2>&1)
  status=$?
}
last_line() { tail -n 1 <<<"$output"; }

run 'run_stage good bazel_good; run_stage plain true'
expect "good: status" "$status" 0
expect "good: last line" "$(last_line)" "3 passed, 0 failed"
expect "good: table" "$output" "*good *2 *0 *plain *1 *0*"

run 'run_stage good bazel_good; run_stage bad bazel_bad'
expect "bad: status" "$status" 1
expect "bad: last line" "$(last_line)" "4 passed, 3 failed"
expect "bad: names" "$output" "*//a:d_test FAILED*//a:e_test FAILED TO BUILD*//a:f_test TIMEOUT*"
expect "bad: the test's end is shown" "$output" "*line 41"$'\n'"*line 100*"
expect "bad: but not its beginning" "$(grep -c 'line 40$\|D\.E' <<<"$output")" 0

run 'run_stage broken no_build'
expect "broken: status" "$status" 1
expect "broken: counts as one" "$(last_line)" "0 passed, 1 failed"
expect "broken: shows the error" "$output" "*x.cc:1: error: expected ;*"

run 'run_stage rdma guests'
expect "guests: every case counts" "$(last_line)" "1 passed, 1 failed"
expect "guests: the reason is shown" "$output" "*FAIL rdma/siw/calls/small_calls: lost: a byte*"
expect "guests: what they saw is shown" "$output" "*: seen 1"$'\n'"*: seen 200"$'\n'"*"

run 'some() { printf "%s\n" "PASS rdma/rxe/a/b" "LEFT OUT rdma/siw/c" "LEFT OUT rdma/siw/d"; }
  run_stage rdma some'
expect "suites that are left out are told" "$output" "*2 suites of rdma*tools/test rdma runs them*"
expect "and do not count" "$(last_line)" "1 passed, 0 failed"

run 'run_stage interop peers'
expect "peers: every case counts" "$(last_line)" "2 passed, 1 failed"
expect "peers: the reason is shown" "$output" "*FAIL interop/java-to-farcall/timeout: not a*"

run 'run_stage k8s cluster'
expect "images and manifests: every case counts" "$(last_line)" "1 passed, 1 failed"
expect "images and manifests: the reason" "$output" "*FAIL k8s/image-farcall/size: 1 MiB, more*"

for line in "[468 / 583] 5 tests" "[2,830 / 2,832] 239 tests" "[ 12%] Building" \
  "PASS rdma/rxe/a (0.1 s)" "interop: fetching" "k8s: building"; do
  printf '%s\n' "Analyzing: 3 targets" "$line" "INFO: not this" >"$room/far.log"
  run '_how_far "$logs/far.log"; run_stage plain true'
  expect "how far: $line" "$output" "?${line:1}*"
done

run 'slow() {
    echo "FAIL: //a:b_test (shard 1 of 4) (see /x)"
    echo "FAIL rdma/rxe/a: lost"
    sleep 6
  }
  _HEARTBEAT=0.2; run_stage slow slow'
expect "what failed is told while the stage runs" \
  "$(grep -c '^\[0:[0-9]*\] slow: FAIL: //a:b_test (shard 1 of 4)$' <<<"$output")" 1
expect "a failed case too" "$(grep -c '^\[0:[0-9]*\] slow: FAIL rdma/rxe/a: lost$' <<<"$output")" 1

run 'run_rdma() { guests; }; run_interop() { peers; }
  start_stages rdma interop; run_stage good bazel_good; end_stages; end_stages'
expect "beside: count once, behind the others" "$output" \
  "*good *2 *0*rdma *1 *1*interop *2 *1*whole run*"
expect "beside: last line" "$(last_line)" "5 passed, 2 failed"
run 'run_rdma() { no_build; }; start_stages rdma; end_stages'
expect "beside: the status counts" "$(last_line)" "0 passed, 1 failed"
run 'run_rdma() { sleep 1000; }; run_interop() { peers; }
  start_stages rdma interop; sleep 0.2; stop_stages; end_stages'
expect "beside: stopped is failed" "$status:$(last_line)" "1:0 passed, 2 failed"
run 'run_a() { sleep 1; touch "$logs/a"; }; run_b() { test -e "$logs/a"; }
  start_stages a b; end_stages'
expect "beside: one behind the other" "$(last_line)" "2 passed, 0 failed"
run 'run_a() { until [ -e "$logs/b" ]; do sleep 0.1; done; }; run_b() { touch "$logs/b"; }
  start_stages a; start_stages b; end_stages'
expect "beside: and beside those of another call" "$(last_line)" "2 passed, 0 failed"
run 'run_a() { sleep 1000; }; run_b() { sleep 1000; }
  start_stages a; start_stages b; sleep 0.2; stop_stages; end_stages'
expect "beside: all are stopped" "$status:$(last_line)" "1:0 passed, 2 failed"

run ':'
expect "nothing ran: not a success" "$status:$(last_line)" "1:0 passed, 0 failed"

expect "logs stay" "$(cat "$room/broken.log")" "x.cc:1: error: expected ;"

[ "$failures" -eq 0 ] && echo PASSED
