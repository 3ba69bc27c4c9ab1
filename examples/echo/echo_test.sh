#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The three programs as two processes, as a newcomer runs them.
set -eu
server=$1 client=$2 async_client=$3
out=$(mktemp -d)
: >"$out/server" # there before the first look at it
"$server" --listen=127.0.0.1:0 >"$out/server" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$out"' EXIT

for _ in $(seq 1200); do
  address=$(sed -n 's/^listening on //p' "$out/server")
  [ -n "$address" ] && break
  kill -0 $pid || { cat "$out/server"; exit 1; }
  sleep 0.05
done
[ -n "$address" ] || { echo "the server did not come up in a minute"; cat "$out/server"; exit 1; }

"$client" --server="$address" --message=hello --calls=2 --timeout_ms=30000 | tee "$out/client"
[ "$(grep -c "^hello + 24 bytes from $address over tcp" "$out/client")" -eq 2 ]
"$async_client" --server="$address" --calls=500 | tee "$out/async"
grep -qx '500 calls, 0 failed' "$out/async"

kill -TERM $pid
wait $pid # exits 0 after a graceful stop

# Nothing listens any more: the error names the address and the cause.
if "$client" --server="$address" 2>"$out/error"; then exit 1; fi
cat "$out/error"
grep -q "$address" "$out/error"
