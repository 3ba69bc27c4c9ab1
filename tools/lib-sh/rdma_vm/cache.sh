# SPDX-License-Identifier: Apache-2.0
#
# The kernel that the machine runs: Debian's, fetched once and unpacked, not installed.
# Sourced by tools/rdma_vm.
#
#   vm_cache    where all that is kept lies
#   vm_release  of the kernel, as in 6.1.0-37-amd64
#   vm_tree     $vm_cache/$vm_release

_say() { echo "rdma_vm: $*" >&2; }

_cache_of_user() {
  local base=${XDG_CACHE_HOME:-${HOME:-}/.cache}
  # Some CI users have no home that they may write to.
  mkdir -p "$base" 2>/dev/null && [ -w "$base" ] || base=${TMPDIR:-/tmp}/cache-$(id -u)
  echo "$base/farcall-rdma-vm"
}

# _watched WHAT COMMAND...: runs it and tells every 10 s that it is still at it.
_watched() {
  local what=$1 work waited=0
  shift
  _say "$what"
  "$@" &
  work=$!
  while kill -0 "$work" 2>/dev/null; do
    sleep 0.2
    waited=$((waited + 1))
    [ $((waited % 50)) -ne 0 ] || _say "$what ... $((waited / 5)) s"
  done
  wait "$work"
}

# Lists of packages that are old or missing: only root can renew them.
_renew_lists() {
  [ "$(id -u)" -eq 0 ] || return 0
  apt-get -qq -o DPkg::Lock::Timeout=300 update >&2 9>&-
}

# Into the current directory. Mirrors fail for a moment, and lists grow old.
_download() {
  local attempt
  for attempt in 1 2 3; do
    apt-get -qq -o Acquire::Retries=2 download "$1" >download.log 2>&1 9>&- && return 0
    [ "$attempt" -eq 3 ] || { sleep $((attempt * 2)) && _renew_lists; }
  done
  cat download.log >&2
  return 1
}

# _fetch PACKAGE DIRECTORY: unpacks it below DIRECTORY, once.
_fetch() {
  local package=$1 into=$2 room
  [ ! -e "$into/.have-$package" ] || return 0
  room=$(mktemp -d "$vm_cache/fetch.XXXXXX") || return
  if ! (cd "$room" && _watched "fetching $package" _download "$package"); then
    rm -rf "$room"
    _say "could not fetch $package; cure: apt-get update; or, when $vm_release is" \
      "no longer in Debian's archive, remove $vm_cache"
    return 1
  fi
  mkdir -p "$into" && dpkg-deb -x "$room"/*.deb "$into" && rm -rf "$room" &&
    : >"$into/.have-$package"
}

_newest_release() {
  apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: linux-image-//p' |
    head -n 1
}

_find_release() {
  # One that was prepared stays, so that an update of the lists costs no minute.
  vm_release=$(cat "$vm_cache/release" 2>/dev/null) && [ -n "$vm_release" ] && return
  vm_release=$(_newest_release)
  [ -n "$vm_release" ] || { _renew_lists && vm_release=$(_newest_release); }
  [ -n "$vm_release" ] || { _say "apt knows no linux-image-amd64; cure: apt-get update"; return 1; }
}

# QEMU starts an unpacked kernel directly, which saves seconds of emulated decompression.
_unpack_kernel() {
  local image=$vm_tree/image/boot/vmlinuz-$vm_release offset
  offset=$(LC_ALL=C grep -abo -m1 -P '\xfd7zXZ\x00' "$image" | head -n 1 | cut -d: -f1)
  # xz complains of what follows its stream; what it wrote is looked at instead.
  [ -z "$offset" ] ||
    tail -c "+$((offset + 1))" "$image" | xz -dc >"$vm_tree/vmlinux.new" 2>/dev/null
  [ "$(head -c 4 "$vm_tree/vmlinux.new" 2>/dev/null | tail -c 3)" = ELF ] ||
    cp "$image" "$vm_tree/vmlinux.new" || return
  mv "$vm_tree/vmlinux.new" "$vm_tree/vmlinux"
}

_prepare_kernel() {
  _find_release || return
  vm_tree=$vm_cache/$vm_release
  if [ ! -s "$vm_tree/vmlinux" ]; then
    _fetch "linux-image-$vm_release" "$vm_tree/image" || return
    depmod -b "$vm_tree/image" "$vm_release" && _unpack_kernel || return
  fi
  echo "$vm_release" >"$vm_cache/release"
}

# Fills the cache. Of several at the same time one works and the others wait.
rdma_vm_prepare() {
  vm_cache=${RDMA_VM_CACHE:-$(_cache_of_user)}
  mkdir -p "$vm_cache" && vm_cache=$(cd "$vm_cache" && pwd -P) || return
  exec 9>"$vm_cache/lock" || return
  flock -n 9 || { _say "waiting for another run that prepares" && flock 9; }
  # What a killed run left.
  rm -rf "$vm_cache"/fetch.* "$vm_cache"/initramfs.*
  _prepare_kernel && _prepare_modules && _prepare_initramfs && _prepare_clock || return
  exec 9>&-
}
