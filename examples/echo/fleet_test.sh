#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Two servers, of which one is never there and the other goes away.
set -eu
server=$1 client=$2
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

# Nothing is on port 1.
"$client" --servers="list://127.0.0.1:1,$address" --calls=6 | tee "$out/client"
[ "$(grep -c "^hello from $address" "$out/client")" -eq 6 ]
grep -q "tried again 1 times" "$out/client"
grep -qx "0 of 6 calls failed" "$out/client"

"$client" --servers="$address" --calls=3 --backup_request_ms=0 --once | tee "$out/backup"
grep -q "with a backup request" "$out/backup"

kill -TERM $pid
wait $pid
if "$client" --servers="$address" --calls=1 >"$out/error"; then exit 1; fi
cat "$out/error"
grep -q "$address" "$out/error"
