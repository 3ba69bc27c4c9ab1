#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# bazel.sh with a bazel of our own.
set -uo pipefail

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
export HOME=$room XDG_CACHE_HOME=$room/cache BAZEL=$room/bazel
printf '#!/bin/sh\necho "$1"\n[ ! -e /proc/$$/fd/9 ] || echo "and keeps the lock"\n' >"$room/bazel"
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

[ "$failures" -eq 0 ] && echo PASSED
exit $((failures > 0))
