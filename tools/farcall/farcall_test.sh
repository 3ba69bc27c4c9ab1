#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tool against the server of examples/echo, as a newcomer uses both.
set -eu
farcall=$1 server=$2 proto=$3
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

expect() { # CODE ARGUMENT...: farcall ends with CODE; its output is in $out/stdout and stderr
  local code=0 want=$1
  shift
  "$farcall" "$@" >"$out/stdout" 2>"$out/stderr" || code=$?
  cat "$out/stdout" "$out/stderr"
  [ $code -eq "$want" ] || { echo "farcall $* ended with $code, not $want"; exit 1; }
}

echo "--- by the server's own descriptors"
expect 0 list "$address"
grep -qx '  Echo(example.EchoRequest) -> example.EchoResponse' "$out/stdout"
expect 0 list "$address" EchoService
grep -qx '  required string message = 1;' "$out/stdout"
expect 0 call "$address" EchoService.Echo '{"message": "hello"}' --compact
grep -qx '{"message":"hello"}' "$out/stdout"
echo '{"message": "from a pipe"}' >"$out/request"
expect 0 call "$address" example.EchoService/Echo - --compact <"$out/request"
grep -qx '{"message":"from a pipe"}' "$out/stdout"

echo "--- by a .proto file"
expect 0 call "$address" EchoService.Echo '{"message": "hello"}' --proto "$proto" --compact
grep -qx '{"message":"hello"}' "$out/stdout"
expect 0 call "$address" EchoService.Echo '{"message": "hello"}' --compact \
  --proto "$(basename "$proto")" -I "$(dirname "$proto")"

echo "--- bytes beside the message"
head -c 300000 /dev/urandom >"$out/sent"
expect 0 call "$address" EchoService.Echo '{"message": ""}' --attachment "$out/sent" \
  --save-attachment "$out/saved" --verbose
cmp "$out/sent" "$out/saved"
grep -q "^\* $address over tcp" "$out/stderr"

echo "--- what goes wrong"
expect 2 call "$address" EchoService.Echo '{}'
grep -q 'missing field message' "$out/stderr"
expect 2 call "$address" EchoService.Ehco '{}'
grep -q 'has no method Ehco; it has: Echo' "$out/stderr"

echo "--- settings"
printf 'rdma:\n  ack_timeout: 18\n' >"$out/farcall.yaml"
FARCALL_LINK_PEER_TIMEOUT=20s expect 0 settings "$out/farcall.yaml"
grep -Eq "^rdma.ack_timeout +18 +$out/farcall.yaml:2$" "$out/stdout"
grep -Eq '^link.peer_timeout +20 s +FARCALL_LINK_PEER_TIMEOUT$' "$out/stdout"
grep -Eq '^event_loops +default +default$' "$out/stdout"
FARCALL_LINK_PEER_TIMEOUT=20s expect 0 settings --link.peer_timeout=30s --event_loops 2
grep -Eq '^link.peer_timeout +30 s +--link.peer_timeout$' "$out/stdout"
grep -Eq '^event_loops +2 +--event_loops$' "$out/stdout"
expect 2 press "$address" EchoService.Echo '{"message": ""}' --rdma.ack_timeout=180
grep -q -e "--rdma.ack_timeout: rdma.ack_timeout is '180'; it must be from 8 to 22" "$out/stderr"
printf 'rdma:\n  ack_timeout: 180\n' >"$out/farcall.yaml"
expect 2 settings "$out/farcall.yaml"
grep -q "$out/farcall.yaml:2: rdma.ack_timeout is '180'; it must be from 8 to 22" "$out/stderr"
FARCALL_CONFIG=$out/farcall.yaml expect 0 call "$address" EchoService.Echo '{"message": ""}'
FARCALL_CONFIG=$out/farcall.yaml expect 2 call "$address" EchoService.Echo '{"message": ""}' \
  --settings
grep -q "ack_timeout is '180'" "$out/stderr"
expect 0 settings --template
grep -q '^  # ack_timeout: 16$' "$out/stdout"

echo "--- load"
expect 0 press "$address" EchoService.Echo '{"message": "hello"}' --duration 1200ms \
  --concurrency 4 --json "$out/json"
grep -Eq '^ +[0-9]+ s ' "$out/stdout"
grep -q '"failed": 0,' "$out/json"
expect 0 press "$address" EchoService.Echo '{"message": "hello"}' --duration 500ms --qps 200
grep -q '200 calls/s asked for' "$out/stdout"

echo "--- status"
expect 0 status "$address"
grep -q '^example.EchoService.Echo ' "$out/stdout"
expect 0 status "$address" --json
grep -q '"format"' "$out/stdout"

echo "--- dump"
expect 0 dump "$address"
grep -q "^listen $address\$" "$out/stdout"
grep -q '^looked ' "$out/stdout"

kill -TERM $pid
wait $pid
expect 3 call "$address" EchoService.Echo '{"message": "hello"}'
grep -q "$address" "$out/stderr"
