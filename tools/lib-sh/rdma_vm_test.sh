#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/rdma_vm with arguments that are wrong, with parts missing, and with a QEMU of our
# own; and the suites on a machine of our own.
set -uo pipefail

tools=$(cd "$(dirname "$0")/.." && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/bin"
export ROOM=$room
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
run() {
  output=$(PATH="$room/bin:$PATH" RDMA_VM_CACHE=$room/cache TMPDIR=$room \
    "$tools/rdma_vm" "$@" 2>&1 </dev/null)
  status=$?
}

run --help
expect "help" "$status:$output" "0:usage: tools/rdma_vm *--two-hosts*--nat*--both*Exit status:*"
for wrong in "--driver mlx5 -- x" "--pairs 3 -- x" "--timeout 0 -- x" "--mtu big -- x" \
  "--cpus" "--nonsense -- x" "x" "" "--pairs 2 -- x" "--both --routed -- x" \
  "--no-network --both -- x" "--card --pairs 2 -- x" "--forward 10250 -- x" \
  "--nodes 3 -- x" "--out /no/where -- x"; do
  run $wrong
  expect "\"$wrong\" is wrong" "$status:$output" "2:rdma_vm: *"
  expect "\"$wrong\": one line" "$(wc -l <<<"$output")" 1
done

# A cache that is complete, and tools that need do nothing.
scripts=("$tools/lib-sh/rdma_vm/"{initramfs,modules}.sh)
stamp=$(cat "${scripts[@]}" | sha256sum | cut -c 1-12)
built=built-$(sha256sum "${scripts[1]}" | cut -c 1-12)
mkdir -p "$room/cache/6.1.0-1-amd64/$built"
echo 6.1.0-1-amd64 >"$room/cache/release"
for file in vmlinux "$built"/{siw,rdma_rxe}.ko "initramfs-$stamp.cpio"; do
  echo x >"$room/cache/6.1.0-1-amd64/$file"
done
printf '#!/bin/sh\necho 2596096\n' >"$room/cache/clock"
chmod +x "$room/cache/clock"
for tool in busybox cpio modprobe depmod xz rdma make gcc-12; do fake "$tool" 'exit 1'; done
# The guest: it finds the directory of the state among its arguments.
fake qemu-system-x86_64 'printf "%s\n" "$@" >"$ROOM/arguments"
for word in "$@"; do
  case $word in local,id=state,path=*) state=${word#*path=} state=${state%%,*} ;; esac
done
cp -r "$state/." "$ROOM/seen"
echo out >"$state/stdout"
echo err >"$state/stderr"
[ ! -e "$ROOM/hangs" ] || exec sleep 100
echo start >>"$ROOM/starts"
[ "$(wc -l <"$ROOM/starts")" -gt "${SLOW_STARTS:-0}" ] || exec sleep 100
[ -e "$ROOM/breaks" ] || cat "$ROOM/result" >"$state/status"
[ ! -e "$ROOM/said" ] || cp "$ROOM/said" "$state/complaints"
echo "Kernel panic" >"$state/console"'
mkdir "$room/seen"

run --prepare
expect "prepared" "$status:$output" "0:"
echo 7 >"$room/result"
run --two-hosts --both --driver siw --mtu 1500 --out "$room/seen" -- echo "a b"
expect "the command's status and output" "$status:$(sort <<<"$output" | tr '\n' ' ')" "7:err out "
expect "the command arrives" "$(cat "$room/seen/command")" 'echo a\\ b '
expect "the settings arrive" "$(cat "$room/seen/settings")" \
  "vm_driver=siw vm_second=rxe vm_topology=hosts vm_mtu=1500 *"
expect "the kernel is told how fast its clock runs" \
  "$(grep -c 'tsc_early_khz=2596096$' "$room/arguments")" 1
expect "a kernel that stalls is to panic" \
  "$(grep -c 'sysctl.kernel.panic_on_rcu_stall=1' "$room/arguments")" 1
expect "the directory is shared" "$(grep -c "path=$room/seen," "$room/arguments")" 1
run --nat --pairs 2 -- true
expect "two of a kind" "$(cat "$room/seen/settings")" "vm_driver=rxe vm_second=rxe vm_topology=nat*"
expect "one node without its being said" "$(grep -cx -e -numa "$room/arguments")" 0
run --nodes 2 --cpus 3 --mem 1025 -- true
expect "two nodes" "$(grep -A1 -xE -e '-(numa|object)' "$room/arguments" | tr '\n' ' ')" \
  "-object memory-backend-ram,id=mem0,size=512M -numa node,nodeid=0,cpus=0-0,memdev=mem0 \
-object memory-backend-ram,id=mem1,size=513M -numa node,nodeid=1,cpus=1-2,memdev=mem1 "
expect "no card without its being said" "$(grep -c e1000 "$room/arguments")" 0
run --card --forward 10250 -- true
expect "a card, and a port that leads to the guest" \
  "$(grep -A2 e1000 "$room/arguments" | tr '\n' ' ')" \
  "e1000,netdev=card -netdev user,id=card,hostfwd=tcp:127.0.0.1:10250-:10250 "
run --no-network -- true
expect "none at all" "$(cat "$room/seen/settings")" "*vm_topology=none*"
printf 'WARNING: CPU\n<TASK>\n' >"$room/said"
run -- true
expect "each line of a kernel's complaint is told as ours" "$status:$output" "7:*rdma_vm: \
the guest's kernel complained:"$'\n'"rdma_vm:   WARNING: CPU"$'\n'"rdma_vm:   <TASK>*"
rm "$room/said"
touch "$room/breaks"
run -- true
expect "a machine that breaks" "$status:$output" \
  "125:*rdma_vm:   Kernel panic*stopped without a result*"
touch "$room/hangs"
run --timeout 1 -- true
expect "the time limit" "$status:$output" "124:*time limit of 1 s*"
rm "$room/hangs" "$room/breaks" "$room/starts"
RDMA_VM_START_LIMIT=1 SLOW_STARTS=2 run -- true
expect "a machine that hangs twice before it starts" "$status:$(wc -l <"$room/starts")" "7:3"
expect "each hang is told" "$(grep -c 'not started within 1 s; starting another' <<<"$output")" 2
rm "$room/starts"
RDMA_VM_START_LIMIT=1 SLOW_STARTS=9 run -- true
expect "a machine that never starts" "$status:$(wc -l <"$room/starts"):$output" \
  "125:3:*has not started within 1 s"
expect "nothing is left behind" "$(find "$room" -maxdepth 1 -name 'rdma_vm.*')" ""

rm "$room/cache/clock"
fake gcc-12 'echo "no such compiler" >&2; exit 1'
run --prepare
expect "the clock cannot be measured" "$status:$output" \
  "125:*no such compiler*the machine could not be prepared"
fake gcc-12 "exec '$(command -v gcc-12)' \"\$@\""
run --prepare
khz=$("$room/cache/clock")
expect "the clock is measured" "$status:$((khz > 100000 && khz < 20000000))" "0:1"

rm "$room/cache/release"
fake apt-cache 'true'
fake id 'echo 1000'
run --prepare
expect "no such package" "$status:$output" "125:*no linux-image-amd64; cure: apt-get update*"
rm "$room/bin/id"

# The suites, with machines that say what was asked of them; each goes on as its line of `plan`
# says: exit status, and how many suites come to their end; "-" where the guest does not start.
mkdir -p "$room/root/tools"
cat >"$room/root/tools/rdma_vm" <<'END'
#!/usr/bin/env bash
echo "asked: $*"
read -r status ends <"$ROOM/plan"
sed -i 1d "$ROOM/plan"
[ "$ends" = - ] || echo "TOOK rdma/x/boot (5.0 s)"
while [ $# -gt 0 ] && [[ $1 != */several.sh ]]; do shift; done
shift 2
for ((; ends > 0; ends--)); do
  read -r driver suite _ <<<"$1"
  echo "PASS rdma/$driver/$suite/case (0.1 s)"
  echo "TOOK rdma/$driver/$suite/total (1.0 s)"
  shift
done
exit "$status"
END
chmod +x "$room/root/tools/rdma_vm"
suites() {
  printf '%s\n' "$1" >"$room/plan"
  shift
  output=$(cd "$room/root" && . "$tools/lib-sh/rdma_vm/suites.sh" && "$@" 2>&1)
  status=$?
}
three=("rxe a --routed" "rxe b --nat --pairs 2" "rxe c --nat")
suites "0 1" rdma_run_suite BIN siw nat a_case
expect "a suite" "$status:$output" "0:asked: --no-network --nodes 2 --timeout 3600 -- \
tools/rdma_vm_tests/several.sh BIN siw nat --nat --pairs 2 -- a_case*TOOK rdma/siw/nat/total*"
suites "1 1" rdma_run_suite BIN rxe hosts
expect "a suite that fails says so itself" "$status:$(grep -c FAIL <<<"$output")" "1:0"
suites "125 -" rdma_run_suite BIN rxe hosts
expect "a machine that fails" "$status:$output" "1:*FAIL rdma/rxe/hosts/machine: exit status 125"
suites "0 1" rdma_run_suite BIN rxe nothing
expect "an unknown suite" "$status:$output" \
  "1:FAIL rdma/rxe/nothing: there is no such suite*rxe conformance*siw priorities*siw rails*"
suites "0 3" rdma_run_suites BIN "${three[@]}"
expect "suites in one machine" "$status:$(grep -c asked: <<<"$output")" "0:1"
expect "all can have their time" "$output" "*--timeout 10800 *"
suites $'3 2\n0 1' rdma_run_suites BIN "${three[@]}"
expect "the rest in another machine, where one is not as it was" "$status:$output" \
  "1:*rxe/b/total*asked: *several.sh BIN rxe c --nat*TOOK rdma/rxe/c/total*"
expect "which the suite says itself" "$(grep -c FAIL <<<"$output")" 0
suites $'125 1\n0 1' rdma_run_suites BIN "${three[@]}"
expect "a machine that is lost in a suite" "$status:$output" \
  "1:*rxe/a/total*FAIL rdma/rxe/b/machine: exit status 125*asked: *BIN rxe c --nat*TOOK rdma/rxe/c*"
suites "125 -" rdma_run_suites BIN "${three[@]}"
expect "no machine" "$status:$output" "1:*FAIL rdma/rxe/a/machine: exit status 125*\
FAIL rdma/machine: not run: rxe b --nat --pairs 2; rxe c --nat; "
suites "0 2" rdma_run_suites BIN "${three[@]}"
expect "a suite that says nothing" "$status:$output" "1:*FAIL rdma/machine: not run: rxe c --nat; "
mkdir -p "$room/root/"{transport,rpc/testing/rdma_peer,examples/attachment,tools/doctor}
# All suites, those of "$fails" without success; "asked rxe hosts" for each that runs.
for program in rpc/testing/rdma_peer/rdma_peer transport/rdma/device_conformance_test; do
  mkdir -p "$room/root/bin/${program%/*}"
  echo one >"$room/root/bin/$program"
done
all() {
  rdma_run_suites() {
    local line driver suite
    [ -z "$changes" ] || echo >>"bin/$changes"
    for line in "${@:2}"; do
      read -r driver suite _ <<<"$line"
      echo "asked $driver $suite"
      case $driver/$suite in
        $fails) echo "FAIL rdma/$driver/$suite/case: no" ;;
        *) echo "PASS rdma/$driver/$suite/case (0.1 s)" ;;
      esac
      echo "TOOK rdma/$driver/$suite/total (1.0 s)"
    done
    [[ $2 != ${fails%/*}* ]]
  }
  rdma_run_all bin "$(rdma_sources_key)" $which
}
which=
known=$(. "$tools/lib-sh/rdma_vm/suites.sh" && rdma_suites | cut -d' ' -f1,2 | sort)
changes=
asked() { sed -n 's/^asked //p' <<<"$output" | sort; }
fails=rxe/hosts
suites "" all
expect "all suites are run" "$(asked)" "$known"
expect "one of them fails" "$status" 1
fails=none
suites "" all
expect "what has passed is not run again" "$status:$(asked)" "0:rxe hosts"
expect "and is told" "$(grep -c '^PASS .*/case (passed before)$' <<<"$output")" \
  $(($(wc -l <<<"$known") - 1))
echo two >"$room/root/bin/rpc/testing/rdma_peer/rdma_peer"
suites "" all
expect "a program changes" "$(asked)" "$(grep -v conformance <<<"$known")"
echo >>"$room/root/tools/rdma_vm"
suites "" all
expect "a script changes" "$(asked)" "$known"
BAZEL_FLAGS="--a --nocache_test_results" suites "" all
expect "all again, as asked" "$(asked)" "$known"
suites "" all
expect "nothing changed" "$status:$(asked)" "0:"
changes=transport/rdma/device_conformance_test
BAZEL_FLAGS=--nocache_test_results suites "" all
changes=
suites "" all
expect "what changes while they run was not tested" "$(asked)" "$known"
fails=siw/nat
BAZEL_FLAGS=--nocache_test_results suites "" all
expect "one of the other driver fails" "$status" 1

# A change above the transports.
fails=none
BAZEL_FLAGS=--nocache_test_results suites "" all
echo three >"$room/root/bin/rpc/testing/rdma_peer/rdma_peer"
which=changed
suites "" all
expect "the programs change, not the transports" "$status:$(asked)" "0:rxe hosts"
expect "what is left out is told" "$(grep -c '^LEFT OUT rdma/' <<<"$output")" \
  $(($(grep -vc conformance <<<"$known") - 1))
suites "" all
expect "and is still left out" "$(asked):$(grep -c '^LEFT OUT' <<<"$output")" \
  ":$(($(grep -vc conformance <<<"$known") - 1))"
BAZEL_FLAGS=--nocache_test_results suites "" all
expect "all, as asked" "$(asked)" "$known"
echo four >"$room/root/bin/rpc/testing/rdma_peer/rdma_peer"
echo >"$room/root/transport/tcp.cc"
suites "" all
expect "the transports change" "$(asked)" "$(grep -v conformance <<<"$known")"
fails=siw/nat
echo five >"$room/root/bin/rpc/testing/rdma_peer/rdma_peer"
which=
suites "" all
fails=none
which=changed
suites "" all
expect "what failed since has not passed" "$(asked)" "siw nat"
echo six >"$room/root/bin/rpc/testing/rdma_peer/rdma_peer"
which=
suites "" all
expect "all that a change concerns" "$(asked)" "$(grep -v conformance <<<"$known")"

[ "$failures" -eq 0 ] && echo PASSED
