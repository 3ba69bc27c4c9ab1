#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage, in the guest: several.sh BIN "DRIVER SUITE NETWORK..." ... [-- CASE...]
#
# One suite after the other in this machine, each on devices and a network of its own, which are
# taken away after it. What a suite leaves is a failure: its processes, namespaces, addresses,
# RDMA objects or devices. Prints what took how long, besides the lines of the cases:
#
#   TOOK rdma/rxe/boot (5.1 s)
#   TOOK rdma/rxe/hosts/total (60.3 s)
#
# Exit status: 1 if a case failed; 3 if this machine is not as it was before the last suite that
# has such a line, so that the others should have another machine.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
room=$here/../lib-sh/rdma_vm

# seconds SINCE: since this $EPOCHREALTIME, with one decimal.
seconds() {
  local tenths=$(((${EPOCHREALTIME/./} - ${1/./}) / 100000))
  echo "$((tenths / 10)).$((tenths % 10)) s"
}

# What is there now, a thing each line. Few programs are started for it: each takes a tenth of a
# second here.
things() {
  local process command namespace netdev address words i
  for process in /proc/[0-9]*; do
    read -r -d '' command <"$process/cmdline" || [ -n "$command" ] || continue
    [ "$process" = "/proc/$BASHPID" ] || echo "process ${process#/proc/} $command"
  done 2>/dev/null
  for namespace in "" /run/netns/*; do
    [ -z "$namespace" ] || echo "namespace ${namespace##*/}"
    # "2: vethA    inet 10.9.0.1/24 scope global ..."
    ip ${namespace:+-n "${namespace##*/}"} -o -4 address | while read -r _ netdev _ address _; do
      echo "address ${namespace##*/} $netdev $address"
    done
  done
  # "0: rdmaA: pd 2 cq 3 qp 1 cm_id 0 mr 0 ctx 0 srq 0"
  rdma resource show | while read -r -a words; do
    echo "device ${words[1]}"
    for ((i = 2; i + 1 < ${#words[@]}; i += 2)); do
      case ${words[i]} in
        ctx | cm_id | mr | srq) [ "${words[i + 1]}" = 0 ] || echo "${words[1]} ${words[*]:i:2}" ;;
      esac
    done
  done
}

# Of things that there are now and were not, when these files were written.
more() { grep -vxFf "$1" "$2" | tr '\n' ';'; }

# No process of the suite is left, but what the kernel has of it may be for a moment.
leaves_nothing() {
  local attempt left
  for attempt in {1..50}; do
    things >/run/things_after
    left=$(more /run/things_before /run/things_after)
    [ -n "$left" ] || return 0
    sleep 0.2
  done
  echo "FAIL $name/leaves_nothing: $left"
  return 1
}

# remove_device NAME: the kernel waits as long as somebody has it open, and cannot be interrupted.
remove_device() {
  local remover attempt
  rdma link delete "$1" &
  remover=$!
  for attempt in {1..300}; do
    kill -0 "$remover" 2>/dev/null || { wait "$remover" && return; }
    sleep 0.1
  done
  echo "FAIL $name/leaves_nothing: $1 cannot be removed"
  return 1
}

take_away() {
  local device namespace
  for device in /sys/class/infiniband/*; do
    [ ! -e "$device" ] || remove_device "${device##*/}" || return
  done
  for namespace in $(ip netns list | cut -d' ' -f1); do
    [ "$namespace" = suite ] || ip netns delete "$namespace" || return
  done
}

# In namespace "suite": name, driver, suite, options of tools/rdma_vm, and cases are set.
one_suite() {
  local status=0
  fail() {
    echo "FAIL $name/network: $*"
    exit 3
  }
  . "$room/arguments.sh"
  . "$room/network.sh"
  rdma_vm_parse --driver "$driver" "${options[@]}" -- suite || fail "no such network"
  modprobe -a $(printf '%s\n' "$vm_driver" ${vm_second:+"$vm_second"} | sed 's/rxe/rdma_rxe/') ||
    fail "cannot load $vm_driver or $vm_second"
  make_network
  export RDMA_VM=$vm_driver RDMA_VM_TOPOLOGY=$vm_topology
  things >/run/things_before
  # Python takes less than a second to begin, and three where it compiles all that it loads. -E: no
  # variable keeps it from what is compiled, nor from keeping more (the guest's files are its own).
  # -S: without site.py, which a suite does not need.
  timeout -k 5 "${RDMA_SUITE_LIMIT:-3600}" \
    /usr/bin/python3 -ES "$here/$suite.py" "$bin" "$name/" "${cases[@]}" || status=$?
  # The suite itself fails with 1, after a line for each case.
  [ "$status" -le 1 ] || echo "FAIL $name/suite: exit status $status"
  leaves_nothing && take_away || return 3
  echo "PASS $name/leaves_nothing"
  return $((status > 0))
}

# The first rule of packets in a hook, and the end of the last one, make the kernel rewrite its own
# code. QEMU's other processor went on with the breakpoint that this takes, without end, where it
# was busy with packets just then. So each hook has a chain all the time.
keep_hooks() {
  local hook
  modprobe nf_tables
  for hook in prerouting input forward output postrouting; do
    echo "add chain inet keep_hooks $hook { type filter hook $hook priority 0; }"
  done | { echo "add table inet keep_hooks" && cat; } | nft -f -
}

# mode_of SUITE: shared, or exclusive: devices are shown in their own network namespace alone.
# mode MODE: the kernel takes it while there is no other namespace, and one that was deleted goes a
# little later.
mode_of() { [ "$1" = exclusive ] && echo exclusive || echo shared; }
mode() {
  local attempt
  for attempt in {1..50}; do
    rdma system set netns "$1" 2>/dev/null && return
    sleep 0.1
  done
  echo "FAIL $name/network: RDMA namespaces cannot be $1"
  return 3
}

main() {
  local lines=() line started failed=0 status
  bin=$1
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do lines+=("$1") && shift; done
  cases=("${@:2}")
  keep_hooks || return
  echo "TOOK rdma/${lines[0]%% *}/boot ($(</run/rdma_vm/ready) s)"
  for line in "${lines[@]}"; do
    started=$EPOCHREALTIME status=0
    read -r driver suite line <<<"$line"
    read -r -a options <<<"$line"
    name=rdma/$driver/$suite
    mode "$(mode_of "$suite")" && ip netns add suite &&
      ip netns exec suite "$0" --inside "$bin" "$driver" "$suite" "${#options[@]}" \
        "${options[@]}" "${cases[@]}" || status=$?
    ip netns delete suite || status=3
    echo "TOOK $name/total ($(seconds "$started"))"
    [ "$status" -eq 0 ] || failed=1
    [ "$status" -le 1 ] || return 3
  done
  return "$failed"
}

if [ "$1" = --inside ]; then
  # The way of set-up behind the driver, where it is not chosen by itself.
  bin=$2 driver=${3%+*} suite=$4 name=rdma/$3/$4
  [ "$3" = "$driver" ] || export FARCALL_RDMA_SET_UP=${3#*+}
  options=("${@:6:$5}") cases=("${@:6+$5}")
  one_suite
else
  main "$@"
fi
