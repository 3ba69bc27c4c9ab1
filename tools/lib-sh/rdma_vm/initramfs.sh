# SPDX-License-Identifier: Apache-2.0
#
# The first file system of the machine: busybox, the modules, and an init that mounts the
# host's files and goes on with guest.sh. Sourced by tools/rdma_vm.
#
#   vm_initramfs  the archive, in the cache

# To reach the host's files; RDMA; cables; losses, priorities and filters; NAT.
_MODULES="virtio_pci virtio_console 9pnet_virtio 9p overlay
  rdma_ucm ib_uverbs ib_umad rdma_rxe siw crc32_generic crc32c_generic libcrc32c
  veth dummy macvlan bridge br_netfilter e1000
  sch_netem sch_tbf sch_ingress sch_prio act_mirred act_gact cls_u32 cls_flower cls_matchall
  nf_tables nft_chain_nat nft_nat nft_masq nft_numgen nft_ct nft_objref nf_conntrack nf_nat"

_init() {
  cat <<'END'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev
for m in virtio_pci virtio_console 9pnet_virtio 9p overlay; do $b modprobe $m; done
plan9="-t 9p -o trans=virtio,version=9p2000.L,msize=512000"
$b mount $plan9,cache=loose,ro root /lower
$b mount -t tmpfs -o size=75% tmpfs /upper; $b mkdir /upper/u /upper/w
$b mount -t overlay -o lowerdir=/lower,upperdir=/upper/u,workdir=/upper/w overlay /root
for d in proc sys dev; do $b mkdir -p /root/$d; $b mount --move /$d /root/$d; done
$b mkdir -p /root/run /root/lib/modules
$b mount -t tmpfs tmpfs /root/run
$b mount -t tmpfs tmpfs /root/lib/modules; $b cp -r /lib/modules/. /root/lib/modules/
$b mkdir -p /root/run/rdma_vm
$b mount $plan9,cache=mmap state /root/run/rdma_vm
exec $b switch_root /root /bin/bash /run/rdma_vm/guest.sh
END
}

# The modules and what they need, as paths below the root.
_module_files() {
  local module
  for module in $_MODULES; do
    modprobe -d "$vm_tree/image" -S "$vm_release" -D "$module" 2>/dev/null
  done | sed -n 's#^insmod .*/lib/modules/\([^ ]*\).*#lib/modules/\1#p' | sort -u |
    grep -v '/\(rdma_rxe\|siw\)\.ko$'
}

_fill_initramfs() {
  local into=$1 file modules
  modules=$into/lib/modules/$vm_release
  mkdir -p "$into"/{bin,proc,sys,dev,root,lower,upper} "$modules/extra" &&
    cp "$(command -v busybox)" "$into/bin/busybox" || return
  while read -r file; do
    mkdir -p "$into/${file%/*}" && cp "$vm_tree/image/$file" "$into/$file" || return
  done < <(_module_files)
  cp "$vm_built"/*.ko "$modules/extra/" &&
    cp "$vm_tree/image/lib/modules/$vm_release"/modules.{order,builtin,builtin.modinfo} \
      "$modules/" && depmod -b "$into" "$vm_release" &&
    _init >"$into/init" && chmod +x "$into/init"
}

_prepare_initramfs() {
  local stamp work
  stamp=$(cat "$room/initramfs.sh" "$room/modules.sh" | sha256sum | cut -c 1-12)
  vm_initramfs=$vm_tree/initramfs-$stamp.cpio
  [ ! -s "$vm_initramfs" ] || return 0
  # Those of other versions of these files, once nobody can be about to start them.
  find "$vm_tree" -maxdepth 1 -name 'initramfs-*' -mtime +7 -delete
  work=$(mktemp -d "$vm_cache/initramfs.XXXXXX") && _fill_initramfs "$work" &&
    (cd "$work" && find . | cpio -o -H newc --quiet) >"$vm_initramfs.new" &&
    mv "$vm_initramfs.new" "$vm_initramfs" && rm -rf "$work"
}
