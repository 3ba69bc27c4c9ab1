#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sandboxes.sh with a file system of our own in place of memory.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
export SANDBOXES_MEMORY=$room
. "$here/sandboxes.sh"

failures=0
expect() {
  if [[ $2 != $3 ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}

available=2097152 options=rw,relatime
df() { printf 'Avail\n%s\n' "$available"; }
findmnt() { echo "$options"; }

expect "there is memory" "$(sandboxes_flags)" "--sandbox_base=$room/farcall-$(id -u)-*"
expect "a folder of the user alone" "$(stat -c %a "$room"/farcall-*)" 700
touch "$room/another"
sandboxes_hold
# Another script of the checkout, until it is told to end.
exec {end}<> <(:)
(exec 8<&- && sandboxes_hold && touch "$room/holds" && read -r -u "$end") &
until [ -e "$room/holds" ]; do sleep 0.05; done
sandboxes_end
expect "another script needs them" "$(ls -d "$room"/farcall-*)" "$room/farcall-*"
rm -rf "$room"/farcall-*
sandboxes_flags >"$room/another"
sandboxes_hold
expect "a folder that was taken away is made again, and held" \
  "$(flock -xn "$room"/farcall-* true || echo held)" held
echo >&"$end" && wait $!
sandboxes_end
rm "$room/holds"
expect "nothing stays of them" "$(ls "$room")" another
sandboxes_flags >"$room/another"
expect "another checkout has others" \
  "$(cd / && . "$here/sandboxes.sh" && sandboxes_flags | sort -u - "$room/another" | wc -l)" 2
available=2097151
expect "there is too little" "$(sandboxes_flags)" ""
available=2097152 options=rw,noexec
expect "nothing may be executed there" "$(sandboxes_flags)" ""
options=rw SANDBOXES_MEMORY=$room/none
. "$here/sandboxes.sh"
df() { echo "df: $SANDBOXES_MEMORY: No such file or directory" >&2 && return 1; }
expect "there is none" "$(sandboxes_flags 2>&1)" ""

[ "$failures" -eq 0 ] && echo PASSED
exit $((failures > 0))
