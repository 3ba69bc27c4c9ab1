#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Client, benchmark and server as processes. The client compares every byte.
set -eu
server=$1 client=$2 bench=$3
out=$(mktemp -d)
: >"$out/server" # there before the first look at it
"$server" --listen="unix:$out/socket" --blocks=2048 >"$out/server" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$out"' EXIT
for _ in $(seq 1200); do
  grep -q '^listening on ' "$out/server" && break
  kill -0 $pid || { cat "$out/server"; exit 1; }
  sleep 0.05
done
at="--server=unix:$out/socket"

"$client" "$at" --blocks=2048 | tee "$out/client"
grep -qx '2048 blocks of 4096 bytes were written, read and compared' "$out/client"
# From its own memory and into it: the client fails if more was copied than had been read ahead.
grep -qE '^copied: 0 bytes of those written, [0-9]+ of those read$' "$out/client"
"$client" "$at" --blocks=700 --at_once=256 | tee "$out/large"
copied=$(sed -nE 's/^copied: 0 bytes of those written, ([0-9]+) of those read$/\1/p' "$out/large")
[ "$copied" -le $((3 * 80 * 1024)) ]

# Beyond the end: an error with the numbers.
if "$client" "$at" --blocks=2049 2>"$out/error"; then exit 1; fi
cat "$out/error"
grep -q 'there are 2048 blocks, and not 1 from number 2048 on' "$out/error"

"$bench" "$at" --runtime=0.2 --ramp_time=0.05 --rw=randread,randwrite,randrw,read --iodepth=1,8 |
  tee "$out/bench"
for rw in randread randwrite randrw read; do
  [ "$(grep -cE "^$rw: bs=4096B, iodepth=[18], numjobs=1, over " "$out/bench")" -eq 2 ]
done
# Four kinds of jobs at two depths: reads in three of them, writes in two.
[ "$(grep -cE '^  read: IOPS=.*, BW=.*MiB/s ' "$out/bench")" -eq 6 ]
[ "$(grep -cE '^  write: IOPS=' "$out/bench")" -eq 4 ]
[ "$(grep -cE '^    clat \(us\): min=.*, p99.99=' "$out/bench")" -eq 10 ]
# So short that no call may end: a row all the same.
"$bench" "$at" --runtime=0.000001 --ramp_time=0 --rw=randread --iodepth=1 | tee "$out/short"
grep -qE '^  read: IOPS=' "$out/short"
"$bench" "$at" --runtime=0.1 --ramp_time=0 --rw=write --iodepth=4 --bs=65536 --numjobs=2
if "$bench" "$at" --bs=1000 2>"$out/error"; then exit 1; fi
grep -q 'a multiple of 4096, at most 256 times' "$out/error"

kill -TERM $pid
wait $pid
# Nothing that was read; of what was written what came along with the heads.
grep -qE '^copied: [0-9]+ bytes of those written, 0 of those read$' "$out/server"
