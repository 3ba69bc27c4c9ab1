#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The static probes are in the binary: probes_test.sh BINARY. Each is a nop where its note says,
# and has its arguments.
set -euo pipefail

binary=$1
fail() {
  echo "probes_test: $*" >&2
  exit 1
}

# "NAME ADDRESS COUNT-OF-ARGUMENTS" of each place.
notes=$(readelf --notes --wide "$binary" | awk '
  /Provider: / { provider = $NF }
  /Name: / { name = $2 }
  /Location: / { address = $2; sub(/,$/, "", address) }
  /Arguments: / { if (provider == "farcall") print name, address, NF - 1 }')

expect() {
  local name=$1 arguments=$2 places
  places=$(awk -v name="$name" '$1 == name' <<<"$notes")
  [ -n "$places" ] || fail "there is no probe $name"
  while read -r _ address count; do
    [ "$count" -eq "$arguments" ] || fail "$name has $count arguments at $address"
    objdump --disassemble --no-show-raw-insn --start-address="$address" \
      --stop-address=$((address + 1)) "$binary" | grep -q $'\tnop' ||
      fail "$name is no nop at $address"
    echo "$name: $count arguments, a nop at $address"
  done <<<"$places"
}

expect post 3
expect completion 4
expect credit 3
expect switch 4
