# SPDX-License-Identifier: Apache-2.0
#
# Bazel runs each action in a sandbox, a folder with a link for each of its files, some hundreds. In
# memory the kernel needs less than half the time for them that it needs on a disk. Source it, and
#   sandboxes_flags  prints the flags that have Bazel make them in memory, where there is enough
#   sandboxes_hold   keeps the folder until this script ends, by a lock on descriptor 8
#   sandboxes_end    takes away what a server of Bazel that has ended left of them, unless another
#                    script of this checkout holds the folder

_sandboxes=${SANDBOXES_MEMORY:-/dev/shm}/farcall-$(id -u)-$(printf %s "$PWD" | md5sum | cut -c 1-16)
# KiB. A program that is linked has some ten MB; the rest is for what tests write.
_sandboxes_need=$((2 * 1024 * 1024))

sandboxes_flags() {
  local memory=${_sandboxes%/*} free
  free=$(df --output=avail -k "$memory" 2>/dev/null | tail -n 1)
  [ "${free:-0}" -ge "$_sandboxes_need" ] &&
    ! findmnt -n -o OPTIONS -T "$memory" | grep -qw noexec &&
    mkdir -p -m 700 "$_sandboxes" 2>/dev/null && [ -O "$_sandboxes" ] && [ ! -L "$_sandboxes" ] ||
    return 0
  echo "--sandbox_base=$_sandboxes"
}

# Another one may take the folder away before the lock is held: a new one is to be locked then.
sandboxes_hold() {
  while [ -O "$_sandboxes" ] && exec 8<"$_sandboxes" && flock -s 8; do
    [ ! "$_sandboxes" -ef "/proc/$BASHPID/fd/8" ] || return 0
    mkdir -p -m 700 "$_sandboxes"
  done 2>/dev/null
}

sandboxes_end() { [ ! -O "$_sandboxes" ] || ! flock -xn 8 2>/dev/null || rm -rf "$_sandboxes"; }
