# SPDX-License-Identifier: Apache-2.0
#
# Process 1 of the guest: makes the network and the devices, runs the command, leaves its
# exit status in the state directory, and switches the machine off.

exec </dev/null
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
state=/run/rdma_vm
. $state/settings
. $state/network.sh

switch_off() {
  echo o >/proc/sysrq-trigger
  while :; do sleep 1; done
}
fail() {
  echo "rdma_vm guest: $*"
  switch_off
}

mount_outs() {
  local number=0 directory
  while read -r directory; do
    [ -n "$directory" ] || continue
    mkdir -p "$directory"
    mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=mmap "out$number" \
      "$directory" || fail "cannot mount $directory"
    number=$((number + 1))
  done <$state/outs
}

make_devices_of_dev() {
  mkdir -p /dev/pts /dev/shm
  mount -t devpts devpts /dev/pts
  mount -t tmpfs tmpfs /dev/shm
  ln -sf /proc/self/fd /dev/fd
  ln -sf fd/0 /dev/stdin
  ln -sf fd/1 /dev/stdout
  ln -sf fd/2 /dev/stderr
}

# The serial port that goes to the host under this name.
port_named() {
  local file
  for file in /sys/class/virtio-ports/*/name; do
    [ "$(<"$file")" != "$1" ] || { file=${file%/name} && echo "/dev/${file##*/}"; }
  done
}

make_devices_of_dev
mount_outs
hostname rdma-vm
modules="crc32_generic crc32c_generic ib_uverbs rdma_ucm ib_umad veth dummy"
modprobe -a $modules || fail "cannot load one of $modules"
for driver in $vm_driver $vm_second; do
  case $driver in rxe) modprobe rdma_rxe ;; siw) modprobe siw ;; esac || fail "cannot load $driver"
done
make_network

# The command's output goes through processes of its own, which the host sees end.
exec 7> >(exec cat >"$(port_named stdout)")
copy_out=$!
exec 8> >(exec cat >"$(port_named stderr)")
copy_err=$!
read -r ready _ </proc/uptime
echo "$ready" >$state/ready
(
  . $state/environment
  export RDMA_VM=$vm_driver RDMA_VM_TOPOLOGY=$vm_topology
  ulimit -l unlimited
  ulimit -c 0
  cd "$vm_directory" 2>/dev/null || cd /
  eval "set -- $(<$state/command)"
  exec "$@"
) >&7 2>&8 7>&- 8>&-
status=$?
exec 7>&- 8>&-
# Processes that the command left behind may hold its output open: not for ever.
for _ in {1..20}; do
  kill -0 $copy_out 2>/dev/null || kill -0 $copy_err 2>/dev/null || break
  sleep 0.1
done
# What the kernel complained of, with the stacks that follow each complaint.
dmesg | awk '/BUG|WARNING|Oops|blocked for more than|rcu.* stall|to become free/ {left = 60}
  / (Code|Modules linked in|R[ABDS][PX]|R1[03]|[CDF][RS][023]?|PKRU): |\]  \? / {next}
  left-- > 0' |
  head -n 150 >$state/complaints
echo $status >$state/status.new
mv $state/status.new $state/status
switch_off
