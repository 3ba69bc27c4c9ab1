#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Puts and gets blocks of 1 MiB between two processes; the client compares every byte.
set -eu
server=$1 client=$2
out=$(mktemp -d)
: >"$out/server" # there before the first look at it
"$server" --listen="unix:$out/socket" --capacity=16 >"$out/server" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$out"' EXIT
for _ in $(seq 200); do
  grep -q '^listening on ' "$out/server" && break
  kill -0 $pid || { cat "$out/server"; exit 1; }
  sleep 0.05
done

"$client" --server="unix:$out/socket" --blocks=16
"$client" --server="unix:$out/socket" --blocks=2 --block_bytes=33554432

# A full store says so, with the number.
status=0
"$client" --server="unix:$out/socket" --blocks=17 --block_bytes=10 2>"$out/error" || status=$?
[ $status -eq 1 ]
cat "$out/error"
grep -q 'the store holds 16 blocks already' "$out/error"

kill -TERM $pid
wait $pid
