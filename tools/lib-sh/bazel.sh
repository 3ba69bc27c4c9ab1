# SPDX-License-Identifier: Apache-2.0
#
# Bazel for the scripts of tools/. Source it from a script that has changed to the
# repository's root.
#
#   BAZEL        the command with its startup options, default "bazel"
#   BAZEL_FLAGS  more flags for build, test and coverage, such as --disk_cache=DIR for a cache
#                elsewhere than in ~/.cache/farcall-bazel; empty DIR: for none

. "$(dirname "${BASH_SOURCE[0]}")/compile_cache.sh"
. "$(dirname "${BASH_SOURCE[0]}")/sandboxes.sh"

read -r -a _bazel <<<"${BAZEL:-bazel}"
mapfile -t _bazel_flags < <(compile_cache_flags && sandboxes_flags)
sandboxes_hold
read -r -a _bazel_more_flags <<<"${BAZEL_FLAGS:-}"
_bazel_flags+=("${_bazel_more_flags[@]}")
# Bytes of it that stay: what three or four changed trees take.
_compile_cache_bytes=$((8 * 1024 * 1024 * 1024))
# Bazel keeps its outputs below the home directory; some CI users have none.
if [ -z "${HOME:-}" ] || [ ! -w "$HOME" ]; then
  _bazel+=("--output_user_root=${TMPDIR:-/tmp}/bazel-$(id -u)")
fi

# Its server stays, and would keep the locks that a script holds as descriptors 8 and 9.
_run_bazel() { "${_bazel[@]}" "$@" 8>&- 9>&-; }

# bazel_command COMMAND ARGUMENT...: without any download, and in plain lines. With BAZEL_PROFILES
# set it leaves a profile whose name begins with that (tools/lib/where_time_went.py).
bazel_command() {
  local command=$1 profile=()
  shift
  if [ -n "${BAZEL_PROFILES:-}" ]; then
    profile=("--profile=$(mktemp "$BAZEL_PROFILES.XXXXXX.profile.gz")")
  fi
  _run_bazel "$command" --config=offline --color=no --curses=no "${profile[@]}" \
    "${_bazel_flags[@]}" "$@"
}

# bazel_bin FLAG...: where the outputs of this configuration are (bazel-bin).
bazel_bin() {
  _run_bazel info --config=offline "${_bazel_flags[@]}" "$@" bazel-bin 2>/dev/null
}

# bazel_query EXPRESSION: the labels that it names.
bazel_query() {
  _run_bazel query --experimental_repository_disable_download --noshow_progress --color=no "$1"
}

# bazel_keep_tidy: at the script's end trims the cache and stops the server, in CI (CI is set)
# always and elsewhere if none was running before, so that no process stays behind. A script that
# another one called, which may build something now, leaves that to it.
bazel_keep_tidy() {
  local base server
  [ -z "${BAZEL_KEPT_TIDY:-}" ] || return 0
  export BAZEL_KEPT_TIDY=1
  base="${HOME:-}/.cache/bazel/_bazel_$(id -un)/$(printf %s "$PWD" | md5sum | cut -d' ' -f1)"
  server=$(cat "$base/server/server.pid.txt" 2>/dev/null || true)
  if [ -z "${CI:-}" ] && [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
    trap 'compile_cache_trim "$_compile_cache_bytes"' EXIT
  else
    trap '"${_bazel[@]}" shutdown >/dev/null 2>&1; sandboxes_end
      compile_cache_trim "$_compile_cache_bytes"' EXIT
  fi
}
