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
  [ ${#_copiers[@]} -eq 0 ] || kill "${_copiers[@]}" 2>/dev/null
  rm -rf "$vm_state"
}

_share() {
  _shares+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:-}"
    -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}

_start_qemu() {
  local number=0 directory
  local boot="console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr tsc=reliable"
  boot+=" no_timer_check random.trust_cpu=on audit=0 apparmor=0 nowatchdog"
  boot+=" rcupdate.rcu_expedited=1"
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
  setpriv --pdeathsig=TERM timeout --kill-after=10 "$vm_limit" qemu-system-x86_64 \
    -M q35 -accel tcg,thread=multi,tb-size=512 -cpu "${RDMA_VM_CPU:-Nehalem,+rdtscp,+rdrand}" \
    -smp "$vm_cpus" -m "$vm_mem" -nodefaults -no-user-config -display none -nic none \
    -no-reboot -kernel "$vm_tree/vmlinux" -initrd "$vm_initramfs" -append "$boot" \
    -chardev "file,id=console,path=$vm_state/console" -serial chardev:console \
    -device virtio-serial-pci \
    -chardev "file,id=stdout,path=$vm_state/stdout" \
    -device virtserialport,chardev=stdout,name=stdout \
    -chardev "file,id=stderr,path=$vm_state/stderr" \
    -device virtserialport,chardev=stderr,name=stderr \
    "${_shares[@]}" </dev/null >"$vm_state/qemu" 2>&1 &
  _qemu=$!
}

_BAD_NEWS='BUG|WARNING|Oops|hung task|stall'

# The machine has ended, with this status of qemu: 124 and 137 are timeout(1)'s.
_conclude() {
  local complaints
  if [ -s "$vm_state/status" ]; then
    complaints=$(grep -aE "$_BAD_NEWS" "$vm_state/console" 2>/dev/null | head -n 20)
    [ -z "$complaints" ] || _say "the guest's kernel complained:"$'\n'"$complaints"
    return "$(<"$vm_state/status")"
  fi
  cat "$vm_state/qemu" >&2
  _say "the last lines of the guest's console:"
  tail -n 40 "$vm_state/console" >&2
  if [ "$1" -eq 124 ] || [ "$1" -eq 137 ]; then
    _say "the time limit of $vm_limit s has passed"
    return 124
  fi
  _say "the machine stopped without a result (qemu's status is $1)"
  return 125
}

# rdma_vm_run COMMAND ARGUMENT...: its exit status.
rdma_vm_run() {
  local result=0
  _qemu='' _copiers=()
  vm_state=$(mktemp -d "${TMPDIR:-/tmp}/rdma_vm.XXXXXX") || return 125
  trap _finish EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  _write_state "$@" && mkfifo "$vm_state/stdout" "$vm_state/stderr" || return 125
  cat "$vm_state/stdout" &
  _copiers+=($!)
  cat "$vm_state/stderr" >&2 &
  _copiers+=($!)
  _start_qemu
  wait "$_qemu" || result=$?
  _qemu=''
  # A machine that never started opened nothing that the copiers could see close.
  [ -s "$vm_state/status" ] || kill "${_copiers[@]}" 2>/dev/null
  wait "${_copiers[@]}" 2>/dev/null
  _copiers=()
  _conclude "$result"
}
