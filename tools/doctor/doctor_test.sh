#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The program where it is built: with RDMA or without, as a user starts it.
set -eu
doctor=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

run() { # CODE ARGUMENT...
  local code=0 want=$1
  shift
  "$doctor" "$@" >"$out/stdout" 2>"$out/stderr" || code=$?
  [ $code -eq "$want" ] || {
    cat "$out/stdout" "$out/stderr"
    echo "doctor $* ended with $code, not $want"
    exit 1
  }
}

run 0 --help
grep -q '^usage: doctor' "$out/stdout"
run 64 --nonsense
run 64 --seconds 0
run 64 --serve --peer x
run 64 --listen 127.0.0.1:0
run 64 word
run 64 --peer ''
run 64 --measure 10.0.0.0/8
run 64 --serve --measure nonsense
run 64 --cluster a,,b
run 64 --cluster a --peer b
run 64 --cluster a --seconds 11
run 64 --paths 2
grep -q 'doctor --help' "$out/stderr"

if [ -e /sys/class/infiniband ] && [ -n "$(ls /sys/class/infiniband)" ]; then
  echo "this host has RDMA devices: what it says without them is not seen here"
  exit 0
fi
run 2 --seconds 0.1
cat "$out/stdout"
head -1 "$out/stdout" | grep -Eq '^no RDMA \((no_device|no_library)\): '
grep -Eq '^failed +devices ' "$out/stdout"
grep -q '^what to do next:$' "$out/stdout"
grep -q '^doctor: reading' "$out/stderr"
run 2 --seconds 0.1 --json --quiet
[ ! -s "$out/stderr" ]
grep -q '"status":"no_rdma"' "$out/stdout"
grep -q '"inventory":{' "$out/stdout"
run 2 --seconds 0.1 --peer 127.0.0.1:1
grep -q '^degraded *peer' "$out/stdout"

# Both ends over TCP, which is measured without RDMA too.
: >"$out/server"  # the shell that redirects may come late
"$doctor" --serve --listen 127.0.0.1:0 --seconds 0.1 >"$out/server" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null || true; rm -rf "$out"' EXIT
port=
for _ in $(seq 1200); do
  port=$(sed -n 's/^serving on 127.0.0.1:\([0-9]*\);.*/\1/p' "$out/server")
  [ -n "$port" ] && break
  kill -0 $pid || { cat "$out/server"; exit 1; }
  sleep 0.05
done
[ -n "$port" ] || { echo "the doctor did not serve within a minute"; cat "$out/server"; exit 1; }
run 2 --seconds 0.1 --peer "127.0.0.1:$port"
cat "$out/stdout"
grep -Eq '^farcall over tcp +sockets +[0-9]' "$out/stdout"
grep -Eq '^farcall over rdma: no_(device|library)' "$out/stdout"
# A host tells its addresses though its library has no RDMA: raw verbs may say more.
case $(hostname -I) in
  *[0-9.:]*) grep -Eq '^raw verbs: ([0-9a-f.:]+: |the RDMA libraries)' "$out/stdout" ;;
  *) grep -Eq '^raw verbs: the (peer tells no address|RDMA libraries)' "$out/stdout" ;;
esac

# The address is taken: no wrong arguments, and no verdict on RDMA.
run 1 --seconds 0.1 --quiet --serve --listen "127.0.0.1:$port"
grep -q '^doctor: ' "$out/stderr"
run 64 --seconds 0.1 --quiet --serve --listen '::::'
kill -TERM $pid
wait $pid

# A cluster of three, one of which is not there: TCP is measured without RDMA, too.
servers=()
trap 'kill "${servers[@]}" 2>/dev/null || true; rm -rf "$out"' EXIT
for last in 2 3; do
  "$doctor" --serve --quiet --listen "127.0.0.$last:$port" --measure 127.0.0.0/8 --seconds 0.1 \
    >"$out/server$last" 2>&1 &
  servers+=("$!")
done
for last in 2 3; do
  for _ in $(seq 1200); do
    grep -q '^serving on' "$out/server$last" && break
    sleep 0.05
  done
done
printf "127.0.0.%s:$port # a host\n" 2 3 4 >"$out/hosts"
run 2 --seconds 0.1 --quiet --cluster "file://$out/hosts"
cat "$out/stdout"
grep -q '^no RDMA: no path goes over it; 2 of 3 hosts answer, 2 paths' "$out/stdout"
grep -Eq '^3  127.0.0.4  no answer ' "$out/stdout"
[ "$(grep -Ec '^[12]  127.0.0.[23]  ( +[0-9.,]+|[0-9.,]+ *)$' "$out/stdout")" -eq 4 ]
run 2 --seconds 0.1 --quiet --json --cluster "127.0.0.2:$port,127.0.0.3:$port"
[ "$(wc -l <"$out/stdout")" -eq 1 ]
grep -q '^{.*"matrices":\[{"what":"farcall over tcp"' "$out/stdout"
grep -q '^farcall over tcp, MB/s' "$out/stderr"
kill -TERM "${servers[@]}"
wait "${servers[@]}"

# JSON is all that standard output has.
"$doctor" --json --quiet --serve --listen 127.0.0.1:0 --seconds 0.1 >"$out/json" 2>"$out/told" &
pid=$!
for _ in $(seq 1200); do
  grep -q '^serving on 127.0.0.1:' "$out/told" && break
  kill -0 $pid || { cat "$out/told"; exit 1; }
  sleep 0.05
done
kill -TERM $pid
wait $pid
[ "$(wc -l <"$out/json")" -eq 1 ] && grep -q '^{' "$out/json"

# An environment that the library does not take is named, by its own words.
FARCALL_TRAFFIC_CLASS=nonsense run 2 --seconds 0.1 --quiet
grep -q 'FARCALL_TRAFFIC_CLASS' "$out/stdout"
