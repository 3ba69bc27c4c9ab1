#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Server and benchmark as two processes: each row is there, and no call failed or had a wrong
# value. How fast is not a question for a test.
set -eu
server=$1 bench=$2
out=$(mktemp -d)
: >"$out/server" # there before the first look at it
"$server" --listen=127.0.0.1:0 >"$out/server" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$out"' EXIT
address=
for _ in $(seq 1200); do
  address=$(sed -n 's/^listening on //p' "$out/server")
  [ -n "$address" ] && break
  kill -0 $pid || { cat "$out/server"; exit 1; }
  sleep 0.05
done
[ -n "$address" ] || { echo "the server did not come up in a minute"; cat "$out/server"; exit 1; }

short="--seconds=0.3 --warmup=0.05 --keys=1000"
"$bench" --server="$address" $short --qps=1000 --multi_get_qps=100 | tee "$out/table"
grep -qE '^get +tcp +1,000 .* 0$' "$out/table"
grep -qE '^multi-get 30 +tcp +100 .* 0$' "$out/table"
grep -qE '^(get +rdma .* 0|rdma is not here: .*)$' "$out/table"

# As fast as it goes, with values that are attached.
"$bench" --server="$address" $short --value_bytes=20000 --qps=0 --multi_get_qps=0 --in_flight=4 \
  --connections=2 --multi_get=5 --transports=tcp | tee "$out/table"
grep -qE '^multi-get 5 +tcp +- .* 0$' "$out/table"

if "$bench" --server=127.0.0.1:1 2>"$out/error"; then exit 1; fi
grep -q '127.0.0.1:1' "$out/error"
kill -TERM $pid
wait $pid
