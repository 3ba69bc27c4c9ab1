# SPDX-License-Identifier: Apache-2.0
#
# One run of the machine. Sourced by tools/rdma_vm.

# Host and guest talk through a directory of this run: settings and command go in, the
# exit status comes back.
_write_state() {
  cp "$room/guest.sh" "$room/network.sh" "$vm_state/" || return
  export -p >"$vm_state/environment"
  printf '%q ' "$@" >"$vm_state/command"
  printf '%s\n' ${vm_outs[@]+"${vm_outs[@]}"} >"$vm_state/outs"
  printf 'vm_driver=%q vm_second=%q vm_topology=%q vm_mtu=%q vm_directory=%q\n' \
    "$vm_driver" "$vm_second" "$vm_topology" "$vm_mtu" "$PWD" >"$vm_state/settings"
}

_finish() {
  [ -z "$_qemu" ] || kill "$_qemu" 2>/dev/null
  [ ${#_helpers[@]} -eq 0 ] || kill "${_helpers[@]}" 2>/dev/null
  rm -rf "$vm_state"
}

_share() {
  _shares+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:-}"
    -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

# CPUs and memory in NUMA nodes, as evenly as they can be.
_nodes() {
  local node cpu next_cpu mem next_mem
  for ((node = 0; vm_nodes > 1 && node < vm_nodes; node++)); do
    cpu=$((node * vm_cpus / vm_nodes)) next_cpu=$(((node + 1) * vm_cpus / vm_nodes))
    mem=$((node * vm_mem / vm_nodes)) next_mem=$(((node + 1) * vm_mem / vm_nodes))
    printf '%s\n' -object "memory-backend-ram,id=mem$node,size=$((next_mem - mem))M" \
      -numa "node,nodeid=$node,cpus=$cpu-$((next_cpu - 1)),memdev=mem$node"
  done
}

_start_qemu() {
  local number=0 directory nodes card=()
  local boot="console=ttyS0 quiet loglevel=5 panic=-1 mitigations=off nokaslr tsc=reliable"
  boot+=" no_timer_check random.trust_cpu=on audit=0 apparmor=0 nowatchdog"
  boot+=" rcupdate.rcu_expedited=1 unknown_nmi_panic oops=panic"
  boot+=" numa_balancing=disable" # pages stay where they were touched first
  # Debian's kernel clears what it allocates, before its user writes it: a tenth of all time.
  boot+=" init_on_alloc=0"
  # Each process of a program at the same addresses: QEMU uses what it translated again, and starts
  # programs in two thirds of the time.
  boot+=" norandmaps"
  # A kernel that oopses, or goes round in a driver for a minute, never comes back: its panic tells
  # where, and the suites that are left get another machine.
  boot+=" sysctl.kernel.panic_on_rcu_stall=1 rcupdate.rcu_cpu_stall_timeout=60"
  boot+=" rcupdate.rcu_exp_cpu_stall_timeout=60000 tsc_early_khz=$("$vm_cache/clock")"
  mapfile -t nodes < <(_nodes)
  [ "$vm_topology" != card ] || card=(-device "e1000,netdev=card" -netdev
    "user,id=card${vm_forward:+,hostfwd=tcp:127.0.0.1:$vm_forward-:$vm_forward}")
  _shares=()
  _share root / ,readonly=on
  _share state "$vm_state"
  for directory in ${vm_outs[@]+"${vm_outs[@]}"}; do
    _share "out$number" "$directory"
    number=$((number + 1))
  done
  # The CPU model matters under emulation: without AVX there is less to save, without the
  # "fast string" flags nothing is copied byte by byte.
  # It ends with this script, however that ends.
  setpriv --pdeathsig=TERM qemu-system-x86_64 \
    -M q35 -accel tcg,thread=multi,tb-size=512 -cpu "${RDMA_VM_CPU:-Nehalem,+rdtscp,+rdrand}" \
    -smp "$vm_cpus" -m "$vm_mem" "${nodes[@]}" -nodefaults -no-user-config -display none -nic none \
    -no-reboot -kernel "$vm_tree/vmlinux" -initrd "$vm_initramfs" -append "$boot" \
    -chardev "file,id=console,path=$vm_state/console" -serial chardev:console \
    -chardev "pipe,id=monitor,path=$vm_state/monitor" -mon chardev=monitor \
    -device virtio-serial-pci \
    -chardev "file,id=stdout,path=$vm_state/stdout" \
    -device virtserialport,chardev=stdout,name=stdout \
    -chardev "file,id=stderr,path=$vm_state/stderr" \
    -device virtserialport,chardev=stderr,name=stderr \
    "${card[@]}" "${_shares[@]}" </dev/null >"$vm_state/qemu" 2>&1 &
  _qemu=$!
}

# An emulated machine hangs while it starts once in some hundred times. It has run nothing
# of the command then, so another one is started: seconds until that, and how many in all.
# An idle host needs 4 s, one with eight busy processes for each core half a minute.
_START_LIMIT=${RDMA_VM_START_LIMIT:-150}
_STARTS=3

# Without a process of its own.
_pause() {
  read -r -t "$1" -u "$_never" || true
}

# Ends a machine that has not started or not ended in time, and leaves the reason in the
# state directory. An NMI first: the kernel's answer, a panic, tells on the console where it was.
_watch() {
  local start_by=$((SECONDS + _START_LIMIT)) end_by=$1 late=
  while [ -z "$late" ]; do
    _pause 0.2
    if [ "$SECONDS" -ge "$end_by" ]; then
      late=limit
    elif [ ! -e "$vm_state/ready" ] && [ "$SECONDS" -ge "$start_by" ]; then
      late=start
    fi
  done
  echo "$late" >"$vm_state/late"
  echo nmi >&"$_monitor"
  _pause 3
  kill "$_qemu"
  _pause 10
  kill -KILL "$_qemu"
}

# Each line with the name that tools/test looks for.
_cite() { sed 's/^/rdma_vm:   /' >&2; }

# The machine has ended, with this status of qemu.
_conclude() {
  if [ -s "$vm_state/status" ]; then
    if [ -s "$vm_state/complaints" ]; then
      _say "the guest's kernel complained:"
      _cite <"$vm_state/complaints"
    fi
    return "$(<"$vm_state/status")"
  fi
  _cite <"$vm_state/qemu"
  _say "the last lines of the guest's console:"
  tail -n 100 "$vm_state/console" | _cite
  case $(cat "$vm_state/late" 2>/dev/null) in
    limit) _say "the time limit of $vm_limit s has passed" && return 124 ;;
    start) _say "the machine has not started within $_START_LIMIT s" && return 125 ;;
  esac
  _say "the machine stopped without a result (qemu's status is $1)"
  return 125
}

# One machine, until SECONDS is $1: the status of qemu.
_run_once() {
  local result=0
  rm -f "$vm_state/"{stdout,stderr,monitor.in,monitor.out,late,ready,status,complaints,console}
  mkfifo "$vm_state/"{stdout,stderr,monitor.in,monitor.out} || return 125
  cat "$vm_state/stdout" &
  _helpers=($!)
  cat "$vm_state/stderr" >&2 &
  _helpers+=($!)
  # Open at both ends, so that nobody waits for the other; what qemu answers is not read.
  exec {_monitor}<>"$vm_state/monitor.in" {_answers}<>"$vm_state/monitor.out"
  _start_qemu
  _watch "$1" 2>/dev/null &
  local watch=$!
  _helpers+=("$watch")
  wait "$_qemu" || result=$?
  _qemu=''
  kill "$watch" 2>/dev/null
  exec {_monitor}>&- {_answers}>&-
  # A machine that never started opened nothing that the copiers could see close.
  [ -s "$vm_state/status" ] || kill "${_helpers[@]}" 2>/dev/null
  wait "${_helpers[@]}" 2>/dev/null
  _helpers=()
  return "$result"
}

# rdma_vm_run COMMAND ARGUMENT...: its exit status.
rdma_vm_run() {
  local result starts end_by=$((SECONDS + vm_limit))
  _qemu='' _helpers=()
  vm_state=$(mktemp -d "${TMPDIR:-/tmp}/rdma_vm.XXXXXX") || return 125
  trap _finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  exec {_never}<> <(:)
  _write_state "$@" || return 125
  for ((starts = 1; ; starts++)); do
    result=0
    _run_once "$end_by" || result=$?
    [ "$(cat "$vm_state/late" 2>/dev/null)" = start ] && [ "$starts" -lt "$_STARTS" ] || break
    _say "the machine has not started within $_START_LIMIT s; starting another. Its console:"
    tail -n 40 "$vm_state/console" | _cite
  done
  _conclude "$result"
}
