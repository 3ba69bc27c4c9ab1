# SPDX-License-Identifier: Apache-2.0
#
# Stages of a test run: each is one command with a log, a line of progress now and
# then, and a count of what passed and failed. Source it, set `logs` to a directory,
# call run_stage for each, or start_stages and end_stages around others, then report.

_stages_lib=$(cd "$(dirname "${BASH_SOURCE[0]}")/../lib" && pwd)
_stage_names=()
_stage_passed=()
_stage_failed=()
_stage_seconds=()
_stage_loads=()
_beside=() _beside_pids=()
_run_started=$SECONDS
# Never readable: read -t waits on it without a process of its own.
exec {_never}<> <(:)

_elapsed() {
  printf '%d:%02d' $(((SECONDS - _run_started) / 60)) $(((SECONDS - _run_started) % 60))
}

# Names of cases that suites print themselves, after PASS or FAIL; and lines that tell how far
# a script is, or why it failed.
_own="(rdma|interop|k8s|arm64)/"
_says="rdma_vm: |interop: |k8s: |arm64: "

# How far the command is that writes to this log. Bazel writes "[2,830 / 2,832] ...".
_how_far() {
  grep -aE "^(\[ *[0-9,]+( /|%)|Analyzing|Loading|-- |(PASS|FAIL) $_own|$_says)" "$1" |
    tail -n 1 | cut -c 1-90
}

# What has failed so far: cases, and tests in Bazel's words, "FAIL: //a:b (Exit 1) (see ...)".
_failures() {
  grep -aE "^(FAIL $_own|(FAIL|TIMEOUT): //)" "$1" | sed 's/ (see .*//' | cut -c 1-200
}

# Every 20 s: that, each failure once.
_heartbeat() {
  local log=$1 name=$2 last told=0 failures
  while kill -0 $$ 2>/dev/null; do
    read -r -t "${_HEARTBEAT:-20}" -u "$_never" || true
    last=$(_how_far "$log")
    echo "[$(_elapsed)] $name ... ${last:-starting}"
    mapfile -t failures < <(_failures "$log")
    for ((; told < ${#failures[@]}; told++)); do
      echo "[$(_elapsed)] $name: ${failures[told]}"
    done
  done
}

# The lines of Bazel's summary, "//a:b  (cached) PASSED in 0.1s", as "//a:b PASSED", and
# those of suites that print their own, "FAIL rdma/a/b: why", likewise.
_results() {
  local bad="FAILED TO BUILD|FAILED|TIMEOUT|NO STATUS|INCOMPLETE|REMOTE FAILURE"
  sed -nE -e "s#^(//[^ ]+) +(\(cached\) )?(PASSED|FLAKY|$bad).*#\1 \3#p" \
    -e "s#^PASS ($_own[^ :]+).*#\1 PASSED#p" -e "s#^FAIL ($_own[^ :]+).*#\1 FAILED#p" "$1"
}

# What a reader wants of the log of a failed stage: errors, and the ends of failed tests.
_explain() {
  local log=$1
  grep -E -A 3 '(^|: )(fatal )?error:|^ERROR: |^CMake Error' "$log" |
    grep -v '^\[' | head -n 60 | sed 's/^/    /'
  grep -aE "^(FAIL $_own|$_says)" "$log" | head -n 300 | cut -c 1-1000 | sed 's/^/    /'
  awk -v most=60 '
    function flush(  i) {
      for (i = (n > most ? n - most : 0); i < n; i++) print "    " lines[i]
      n = 0
    }
    /^==================== Test output for /{on = 1; print "  " $5; next}
    on && /^========================================/{on = 0; flush()}
    on && !/^\[( RUN|       OK|---)/ {lines[n++] = $0}
    END {flush()}' "$log"
}

# _run NAME COMMAND ARGUMENT...: leaves its log, its status, its seconds and the load at its end.
_run() {
  local name=$1 log="$logs/$1.log" started=$SECONDS status=0 heartbeat
  shift
  : >"$log"
  _heartbeat "$log" "$name" &
  heartbeat=$!
  BAZEL_PROFILES="$logs/$name" "$@" </dev/null >"$log" 2>&1 || status=$?
  kill "$heartbeat" && wait "$heartbeat" 2>/dev/null
  echo "$status $((SECONDS - started)) $(cut -d' ' -f1 /proc/loadavg)" >"$logs/$name.end"
}

# run_stage NAME COMMAND ARGUMENT...: a command without test targets counts as one.
run_stage() {
  echo "[$(_elapsed)] $1"
  _run "$@"
  _judge "$1"
}

# start_stages NAME...: runs run_NAME of each, one behind the other, beside the stages until
# end_stages, and beside those that another call started. They have a process group of their own, so
# that stop_stages reaches all they started.
start_stages() {
  local name
  for name; do
    : >"$logs/$name.log"
    rm -f "$logs/$name.end"
  done
  set -m
  for name; do
    echo "[$(_elapsed)] $name, beside the others"
    _run "$name" "run_$name"
  done </dev/null &
  _beside_pids+=($!)
  set +m
  _beside+=("$@")
}

end_stages() {
  local name
  [ "${#_beside_pids[@]}" -gt 0 ] || return 0
  wait "${_beside_pids[@]}"
  _beside_pids=()
  for name in "${_beside[@]}"; do _judge "$name"; done
}

stop_stages() {
  [ "${#_beside_pids[@]}" -eq 0 ] || kill -TERM -- "${_beside_pids[@]/#/-}" 2>/dev/null
}

# _judge NAME: counts what the stage's log tells, and shows what failed.
_judge() {
  local name=$1 log="$logs/$1.log" status=1 seconds=0 load=- passed failed
  # One that was stopped has left none.
  [ ! -e "$logs/$name.end" ] || read -r status seconds load <"$logs/$name.end"
  passed=$(_results "$log" | grep -cE ' (PASSED|FLAKY)$')
  failed=$(_results "$log" | grep -cvE ' (PASSED|FLAKY)$')
  if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
    failed=1
  elif [ "$status" -eq 0 ] && [ $((passed + failed)) -eq 0 ]; then
    passed=1
  fi
  _stage_names+=("$name")
  _stage_passed+=("$passed")
  _stage_failed+=("$failed")
  _stage_seconds+=("$seconds")
  _stage_loads+=("$load")
  [ "$failed" -eq 0 ] && return
  echo "[$(_elapsed)] $name FAILED; the log is $log"
  _results "$log" | grep -vE ' (PASSED|FLAKY)$' | sed 's/^/  /'
  _explain "$log"
  return 1
}

# The table, where the time went, and the last line. Beside the seconds of a stage stands the load
# of the machine when it was counted, of the minute before: processes that ran or wanted to. Fails
# if anything failed.
report() {
  local index left passed=0 failed=0
  echo
  printf '%-12s %8s %8s %8s %8s\n' stage passed failed seconds load
  for index in "${!_stage_names[@]}"; do
    printf '%-12s %8d %8d %8d %8s\n' "${_stage_names[index]}" "${_stage_passed[index]}" \
      "${_stage_failed[index]}" "${_stage_seconds[index]}" "${_stage_loads[index]}"
    passed=$((passed + _stage_passed[index]))
    failed=$((failed + _stage_failed[index]))
  done
  printf '%-12s %8s %8s %8d\n' "whole run" "" "" $((SECONDS - _run_started))
  left=$(cat "$logs"/*.log 2>/dev/null | grep -c '^LEFT OUT ')
  if [ "$left" -gt 0 ]; then
    echo
    echo "$left suites of rdma were left out: they have passed, and nothing has changed since but"
    echo "layers of rpc/ above the transports. tools/test rdma runs them."
  fi
  echo
  python3 -B "$_stages_lib/where_time_went.py" "$logs"
  echo "logs: $logs"
  echo "$passed passed, $failed failed"
  [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}
