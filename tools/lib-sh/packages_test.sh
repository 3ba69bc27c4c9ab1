#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# packages.sh against a dpkg-query and an apt-get of our own.
set -uo pipefail

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir -p "$room/bin" "$room/tools/lib-sh"
cp "$(dirname "$0")/packages.sh" "$room/tools/lib-sh/"
cat >"$room/tools/packages.txt" <<'END'
# build  a comment that names a group
build alpha
build beta
test beta
test gamma
END
export ROOM=$room PATH="$room/bin:$PATH"

fake() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$room/bin/$1"
  chmod +x "$room/bin/$1"
}
# Installed is what $ROOM/installed lists; apt-get adds to it what it is asked for.
fake dpkg-query 'shift 2
for name in "$@"; do
  if grep -qx "$name" "$ROOM/installed"; then echo "installed $name"
  elif [ "$name" = beta ]; then echo "config-files beta"; fi
done'
fake apt-get 'echo "$*" >>"$ROOM/calls"
[ ! -e "$ROOM/broken" ] || { echo "E: no mirror"; exit 100; }
for name in "$@"; do
  [ -z "${on:-}" ] || echo "$name"
  [ "$name" != install ] || on=1
done >>"$ROOM/installed"'
fake id 'cat "$ROOM/uid"'
fake sleep ':'

failures=0
expect() {
  if [[ $2 != $3 ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}
start() {
  printf '%s\n' "$@" >"$room/installed"
  rm -f "$room/calls" "$room/broken" "$room/bin/sudo"
  : >"$room/calls"
  echo 0 >"$room/uid"
}
run() {
  output=$("$BASH" -c '. "$ROOM/tools/lib-sh/packages.sh"; ensure_packages "$@"' x "$@" \
    2>&1 </dev/null)
  status=$?
}

start alpha beta gamma
run build test
expect "nothing missing: silent" "$status:$output" "0:"
expect "nothing missing: no apt-get" "$(cat "$room/calls")" ""

start alpha
run build test
expect "missing are installed" "$status" 0
expect "missing are named" "$output" "missing packages: beta gamma*installed in*"
expect "only missing are asked for" "$(tail -n 1 "$room/calls")" "*recommends beta gamma"
expect "update comes first" "$(head -n 1 "$room/calls")" "*update"

start alpha
run build
expect "a removed package counts as missing" "$output" "missing packages: beta*"

start
touch "$room/broken"
run build
expect "a broken mirror fails" "$status" 1
expect "with cause and cure" "$output" "*attempt 3 of 3*no mirror*cure: as root, run:*alpha beta"

start
echo 1000 >"$room/uid"
fake sudo 'exit 1'
run build
expect "sudo refuses: fails" "$status:$(cat "$room/calls")" "1:"
expect "sudo refuses: cure" "$output" "*sudo refused*cure: as root, run:*"

start
echo 1000 >"$room/uid"
fake sudo 'echo "sudo $*" >>"$ROOM/calls"; shift; "$@"'
run build
expect "sudo installs" "$status:$(grep -c '^sudo' "$room/calls")" "0:3"

start
run nosuch
expect "an unknown group is an error" "$status:$output" "1:error: tools/packages.txt has no group*"

rm "$room/bin/dpkg-query"
start
output=$(PATH="$room/bin" "$BASH" -c 'dirname() { echo "${1%/*}"; }; sort() { echo alpha; }
  . "$ROOM/tools/lib-sh/packages.sh"; ensure_packages build' 2>&1)
expect "not Debian" "$?:$output" "1:error: this is not Debian*cure: use Debian 12*alpha"

# The real list: every line is a group and a package.
list="$(dirname "$0")/../packages.txt"
groups="build|test|bench|instructions|rdma_vm|interop|k8s|arm64|plot"
bad=$(grep -vE "^(#.*|\$|($groups) [a-z0-9.+-]+)\$" "$list")
expect "packages.txt" "$bad" ""

[ "$failures" -eq 0 ] && echo PASSED
