#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The benchmark runs in each of its modes and its report is complete. How fast is not a
# question for a test.
set -eu
bench=$1
out=$(mktemp -d)
trap 'kill $pid 2>/dev/null || true; rm -rf "$out"' EXIT

: >"$out/server" # there before the first look at it
"$bench" --listen 127.0.0.1:0 --way=put >"$out/server" &
pid=$!
for _ in $(seq 1200); do
  address=$(sed -n 's/^listening on //p' "$out/server")
  [ -n "$address" ] && break
  kill -0 $pid
  sleep 0.05
done

check() { # the last report has no error, and each of these
  cat "$out/json"
  grep -q '"errors": *0[,}]' "$out/json"
  local member
  for member in '"system": *"farcall' '"transport": *"tcp"' "$@"; do
    grep -q "$member" "$out/json" || { echo "missing: $member"; exit 1; }
  done
}

load="--seconds=0.3 --warmup=0.05 --json=$out/json"
"$bench" --server "$address" $load --in_flight=8 --payload=32 --use_rdma
check '"payload": *32' '"in_flight": *8' '"why_not_rdma": *"[^"]'
"$bench" --server "$address" $load --in_flight=4 --attachment=1048576 --connections=2 --threads=2
check '"attachment": *1048576' '"connections": *2'
"$bench" --server "$address" $load --in_flight=2 --attachment=1000000 --put
check '"attachment": *1000000'
for way in put get; do
  "$bench" --server "$address" $load --in_flight=3 --attachment=1000000 --way=$way
  check '"attachment": *1000000'
done
"$bench" --server "$address" $load --rate=500 --in_flight=64
check '"rate": *500'
"$bench" --server "$address" $load --synchronous --in_flight=3
check '"system": *"farcall synchronous"' '"in_flight": *3'
"$bench" --inproc $load --polling=event
check '"polling": *"event"'

if "$bench" --server 127.0.0.1:1 $load 2>"$out/error"; then exit 1; fi
grep -q '127.0.0.1:1' "$out/error" || { cat "$out/error"; exit 1; }

kill -TERM $pid
wait $pid
