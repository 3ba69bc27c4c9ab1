# SPDX-License-Identifier: Apache-2.0
#
# A build that a person watches: one line that tells how far it is, and on failure the
# errors and nothing else. Source it after bazel.sh.

# How far the build is that writes to this log: "123 of 456: Compiling ...".
_build_progress() {
  sed -nE 's#^\[([0-9,]+) / ([0-9,]+)\] (.*)#\1 of \2: \3#p' "$1" | tail -n 1
}

# Of the terminal at standard error.
_terminal_columns() {
  local columns=
  read -r _ columns < <(stty size <&2 2>/dev/null)
  # Terminals of scripts may have no size.
  [ "${columns:-0}" -gt 1 ] || columns=80
  echo "$columns"
}

# _build_line COLUMNS SECONDS STEP: what fits into one line of a terminal.
_build_line() {
  local line="building, $2 s: ${3:-starting}"
  printf %s "${line:0:$(($1 - 1))}"
}

# build_shown FLAG... TARGET...: 1 and the errors on standard error if it fails.
build_shown() {
  local log started=$SECONDS build waited=0
  log=$(mktemp "${TMPDIR:-/tmp}/farcall-build.XXXXXX")
  bazel_command build --show_progress_rate_limit=1 "$@" </dev/null >"$log" 2>&1 &
  build=$!
  while kill -0 "$build" 2>/dev/null; do
    sleep 0.1
    waited=$((waited + 1))
    if [ -t 2 ] && [ $((waited % 10)) -eq 0 ]; then
      printf '\r\033[K%s' "$(_build_line "$(_terminal_columns)" $((SECONDS - started)) \
        "$(_build_progress "$log")")" >&2
    elif [ $((waited % 100)) -eq 0 ]; then
      _build_line 100 $((SECONDS - started)) "$(_build_progress "$log")" >&2
      echo >&2
    fi
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
  if wait "$build"; then
    rm -f "$log"
    return 0
  fi
  echo "error: the build failed:" >&2
  grep -E -A 8 '(^|: )(fatal )?error:|^ERROR: ' "$log" | head -n 60 | sed 's/^/  /' >&2
  echo "the whole log is $log" >&2
  return 1
}
