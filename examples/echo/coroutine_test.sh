#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Coroutines on both sides: clients call a server that asks two echo servers.
set -eu
server=$1 coroutine_server=$2 client=$3 coroutine_client=$4
out=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; rm -rf "$out"' EXIT

start() { # NAME PROGRAM ARGUMENT...: its address is then in $address
  local name=$1
  shift
  : >"$out/$name" # there before the first look at it
  "$@" --listen=127.0.0.1:0 >"$out/$name" 2>&1 &
  pids+=($!)
  for _ in $(seq 1200); do
    address=$(sed -n 's/^listening on //p' "$out/$name")
    [ -z "$address" ] || return 0
    kill -0 "${pids[-1]}" || break
    sleep 0.05
  done
  echo "$name did not come up"
  cat "$out/$name"
  exit 1
}

start one "$server"
one=$address
start two "$server"
start both "$coroutine_server" --servers="$one,$address"

"$coroutine_client" --server="$one" --tasks=10 --calls=50 | tee "$out/client"
grep -qx '10 tasks of 50 calls, 0 failed' "$out/client"
"$client" --server="$address" --message=hello --calls=1 --timeout_ms=30000 | tee "$out/answer"
grep -q '^hello, hello + ' "$out/answer"

# One of the two is gone: the exception of its call fails the whole.
kill -TERM "${pids[0]}"
wait "${pids[0]}"
if "$client" --server="$address" --calls=1 --timeout_ms=30000 2>"$out/error"; then exit 1; fi
cat "$out/error"
grep -q "EINTERNAL.*exception: .*$one" "$out/error"

kill -TERM "${pids[2]}"
wait "${pids[2]}" # exits 0 after a graceful stop
