#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# compile_cache.sh with a dpkg-query and a cache of our own.
set -uo pipefail

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
mkdir "$room/bin"
printf '#!/bin/sh\ncat "$ROOM/packages"\n' >"$room/bin/dpkg-query"
chmod +x "$room/bin/dpkg-query"
export ROOM=$room PATH="$room/bin:$PATH" XDG_CACHE_HOME="$room/cache"
library=$(dirname "$0")/compile_cache.sh
. "$library"
root=$room/cache/farcall-bazel

failures=0
expect() {
  if [[ $2 != $3 ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}
# kept_file NAME BYTES DAY: used last on that day of January.
kept_file() {
  mkdir -p "$(dirname "$root/$1")"
  head -c "$2" /dev/zero >"$root/$1"
  touch -a -d "2026-01-$3" "$root/$1"
}
kept() { (cd "$root" && find . -type f | sort | tr '\n' ' '); }

echo "g++-12 12.2.0-14" >"$room/packages"
first=$(compile_cache_flags)
expect "a place below the cache" "$first" "--disk_cache=$root/????????????????*"
expect "no verdicts" "$first" "*TestRunner*+no-cache"
expect "the same packages, the same place" "$(compile_cache_flags)" "$first"
echo "g++-12 12.2.0-15" >"$room/packages"
[ "$(compile_cache_flags)" != "$first" ] || expect "another compiler" same "another place"

kept_file a/ac/11 1000 03
kept_file a/cas/22 1000 01
kept_file b/cas/33 1000 02
compile_cache_trim 3000
expect "what fits stays" "$(kept)" "./a/ac/11 ./a/cas/22 ./b/cas/33 "
compile_cache_trim 2999
expect "the longest unused goes" "$(kept)" "./a/ac/11 ./b/cas/33 "
compile_cache_trim 1000
expect "and the next" "$(kept)" "./a/ac/11 "
expect "empty places go" "$(ls "$root")" "a"

XDG_CACHE_HOME=/dev/null
. "$library"
expect "no place, no flags" "$(compile_cache_flags)" ""
expect "no home, no flags" \
  "$(env -u HOME -u XDG_CACHE_HOME bash -c '. "$0"; compile_cache_flags' "$library")" ""
expect "and nothing to trim" "$(compile_cache_trim 1; echo $?)" "0"

[ "$failures" -eq 0 ] && echo PASSED
exit $((failures > 0))
