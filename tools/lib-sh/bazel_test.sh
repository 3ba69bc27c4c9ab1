#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bazel.sh with a bazel of our own.
set -uo pipefail

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
export HOME=$room XDG_CACHE_HOME=$room/cache BAZEL=$room/bazel
cat >"$room/bazel" <<'END'
#!/bin/sh
echo "$1" | tee -a "$HOME/calls"
[ ! -e /proc/$$/fd/8 ] && [ ! -e /proc/$$/fd/9 ] || echo "and keeps the lock"
END
chmod +x "$room/bazel"
. "$(dirname "$0")/bazel.sh"

failures=0
expect() {
  if [[ $2 != "$3" ]]; then
    echo "FAILED: $1: expected: $3; got: $2"
    failures=$((failures + 1))
  fi
}

# A server of Bazel that stays keeps what it was started with.
exec 9>"$room/lock"
expect "a build" "$(bazel_command build //a)" "build"
expect "where outputs are" "$(bazel_bin)" "info"
expect "a query" "$(bazel_query //a)" "query"

# The programs of scripts.
. "$(dirname "$0")/programs.sh"
rdma_suite_targets=(//x:a //x:b)
printf '#!/bin/sh\necho "$@" >"$HOME/built"; echo "$1"\n' >"$room/bazel"
expect "programs are built" "$(build_programs "rdma interop" --flag)" "build"
expect "at once" "$(grep -o -- '--flag .*' "$room/built")" "--flag //x:a //x:b //tools/interop/..."
expect "and looked for" "$(programs_bin)" "info"
rm "$room/built"
PROGRAMS_BIN=/out build_programs cmake
expect "built before: not again" "$(ls "$room")" "$(ls -I built "$room")"
expect "built before: there" "$(PROGRAMS_BIN=/out programs_bin)" "/out"
cat >"$room/bazel" <<'END'
#!/bin/sh
echo "$1" >>"$HOME/calls"
END
rm "$room/calls"
script=". $(dirname "$0")/bazel.sh; bazel_keep_tidy"
CI=1 bash -c "$script; bash -c '$script; echo inner >>$room/calls'; echo outer >>$room/calls"
expect "the server is stopped once, by the outer script" "$(paste -s "$room/calls")" \
  $'inner\touter\tshutdown'

[ "$failures" -eq 0 ] && echo PASSED
exit $((failures > 0))
