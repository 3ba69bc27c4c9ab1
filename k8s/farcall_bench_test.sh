#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# farcall-bench with an echo-bench and a perftest of our own: what it makes of their figures where
# there is RDMA, and of their failures.
set -uo pipefail

bench=$1
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir "$room/bin" "$room/devices"
export ROOM=$room PATH="$room/bin:$PATH" SYS_INFINIBAND=$room/devices TMPDIR=$room
failures=0
expect() {
  if [[ $2 != $3 ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}
fake() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$room/bin/$1"
  chmod +x "$room/bin/$1"
}

fake farcall ':'
fake sleep ':'
# RDMA is twice as fast. $ROOM/off makes it fall back, $ROOM/broken fail.
fake echo-bench 'echo "$*" >>"$ROOM/calls"
[ ! -e "$ROOM/broken" ] || { echo "echo_bench: no route" >&2; exit 1; }
over=tcp qps=1000 why=
[[ $* != *--use_rdma* ]] || over=rdma qps=2000
[ ! -e "$ROOM/off" ] || { [ $over = tcp ] || why="no locks: 1 MiB, of 2"; over=tcp; }
echo "{\"transport\": \"$over\", \"why_not_rdma\": \"$why\", \"errors\": 0, \"qps\": $qps,\
 \"p50_us\": 10.5, \"p99_us\": 20.25, \"mb_per_s\": 3.5}"'
# As perftest 4.5 prints it.
fake ib_write_bw 'echo "$*" >>"$ROOM/perftest"
echo " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"
echo " 65536      5000             1100.00            1000.00          0.016000"'
fake ib_write_lat '[ ! -e "$ROOM/unroutable" ] || { echo "Failed to modify QP to RTR" >&2; exit 1; }
echo " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]  more"
echo " 8       1000          1.70           5.36         1.76               1.77         0.05"'

run() {
  rm -f "$room/calls" "$room/perftest"
  output=$(CELLS="${cells:-32+4096x8}" PATIENCE=${patience:-2} "$bench" "$@" 2>&1)
  status=$?
}
last_line() { tail -n 1 <<<"$output"; }

touch "$room/devices/mlx5_0"
PERFTEST_FLAGS="-d mlx5_0 -x 3" run client server.example
expect "rdma: status" "$status" 0
expect "rdma: rows side by side" "$output" \
  "*32+4096*8*tcp *1000*10.5*20.2*3.5*32+4096*8*rdma *2000*10.5*"
expect "rdma: no excuse" "$(grep -c 'not rdma' <<<"$output")" 0
expect "what echo-bench is asked" "$(head -n 1 "$room/calls")" \
  "--server=server.example:8010 --payload=32 --attachment=4096 --in_flight=8 *--json=-"
expect "latency of perftest" "$output" "*8 *ib_write_lat *1.76*"
expect "bandwidth in 10^6 bytes" "$output" "*65536 *ib_write_bw *1048.6*"
expect "perftest's flags, port and host" "$(head -n 1 "$room/perftest")" \
  "-F -s 65536 -p 8013 -d mlx5_0 -x 3 server.example"
expect "the last line is JSON" "$(last_line | python3 -c 'import json, sys
parts = json.load(sys.stdin)
print([part["asked"] for part in parts["echo"]], parts["echo"][1]["report"]["transport"],
      parts["perftest"][0], parts["perftest"][3], parts["why_not_rdma"] == "")')" \
  "\['tcp', 'rdma'\] rdma {*lat', 'bytes': 8, 'one_way_us': 1.76} {*'mb_per_s': 1048.6} True"

ECHO_FLAGS="--connections=4 --way=put" run client server.example
expect "more flags of echo" "$(grep -c -e '--connections=4 --way=put$' "$room/calls")" 2

cells="32x1 64x2" run client server.example
expect "a row for each cell and carrier" "$(wc -l <"$room/calls")" 4

touch "$room/unroutable"
run client server.example
expect "perftest fails: echo counts" "$status" 0
expect "perftest fails: its words" "$output" "*ib_write_lat: Failed to modify QP to RTR*"
rm "$room/unroutable"

# As coreutils' timeout ends it: killed, with nothing said.
fake timeout 'shift; [ "$1" != ib_write_lat ] || exit 124; exec "$@"'
run client server.example
expect "perftest without an end" "$output" "*ib_write_lat: no end within 60 s*ib_write_bw *1048.6*"
rm "$room/bin/timeout"

touch "$room/off"
run client server.example
expect "fallback: status" "$status" 0
expect "fallback: marked, with the reason" "$output" \
  "*tcp\* *2000*not rdma because: no locks: 1 MiB, of 2*"
REQUIRE_RDMA=1 run client server.example
expect "fallback, where RDMA is required" "$status" 1
rm "$room/off"

rm "$room/devices/mlx5_0"
run client server.example
expect "no device: no perftest" "$status:$(last_line)" "0:*\"perftest\": \[\]*"

touch "$room/broken"
run client server.example
expect "echo fails: status and words" "$status:$output" "1:*echo_bench: no route*"
rm "$room/broken"

fake farcall 'echo "nobody listens" >&2; exit 3'
fake sleep 'exec /bin/sleep 0.2'
run client server.example
expect "no server: within its patience" "$status:$output" "1:*nobody listens*"

# The server waits for the client, not for ever.
fake echo-bench 'exec /bin/sleep 60'
run server
expect "no client" "$status:$output" "1:*no client came within 2 s*"

# proc(5): 1F4A is 8010. $ROOM/net is what the server sees of its connections.
mkdir "$room/net"
export PROC_NET=$room/net
connected() { printf '  0: 0100007F:%s 0100007F:9C40 %s 0\n' "$1" "$2" >"$room/net/tcp"; }
fake echo-bench 'echo "$*" >>"$ROOM/calls"; exec /bin/sleep 60'
fake sleep 'n=$(cat "$ROOM/sleeps" 2>/dev/null || echo 0); echo $((n + 1)) >"$ROOM/sleeps"
[ "$n" -lt 20 ] || rm -f "$ROOM/net/tcp"; exec /bin/sleep 0.1'
connected 1F4E 01
IDLE=2 run server
expect "the last of perftest's clients keeps it; without any it ends" \
  "$status:$([ "$(cat "$room/sleeps")" -gt 20 ] && echo stayed)" 0:stayed
expect "where it listens" "$(cat "$room/calls")" "--listen=0.0.0.0:8010 --use_rdma --threads=1"
connected 1F4F 01
BENCH_LISTEN=[::] THREADS=2 ECHO_FLAGS=--way=put patience=1 IDLE=1 run server
expect "another port is of no client" "$status:$output" "1:*no client came within 1 s*"
expect "where it is told to" "$(cat "$room/calls")" \
  "--listen=\[::\]:8010 --use_rdma --threads=2 --way=put"
connected 1F4B 0A
patience=1 run server
expect "who listens is no client" "$status:$output" "1:*no client came within 1 s*"

run
expect "wrong arguments" "$status:$output" "2:usage:*"

[ "$failures" -eq 0 ] && echo PASSED
