# SPDX-License-Identifier: Apache-2.0
#
# The suites that run on real RDMA devices, those of a driver in one machine. Source it from the
# repository's root.

. "$(dirname "${BASH_SOURCE[0]}")/verdicts.sh"

# What the suites run in the guest.
rdma_suite_targets=(
  //rpc/testing/rdma_peer
  //examples/attachment:block_client
  //examples/attachment:block_server
  //transport/link/testing/token_probe
  //transport/rdma:device_conformance_test
  //tools/doctor
)

# And what those of rdma_suites_over_tcp run besides.
rdma_over_tcp_targets=(//transport/link/testing:device_link_test)

# Driver, script of tools/rdma_vm_tests, and the network that it needs.
rdma_suites() {
  cat <<'END'
rxe conformance --routed
siw conformance --routed
rxe hosts --two-hosts
siw hosts --two-hosts
rxe set_up --two-hosts
siw set_up --two-hosts
rxe removal --two-hosts --pairs 2
siw removal --two-hosts --pairs 2
rxe breakage --two-hosts --pairs 2
siw breakage --two-hosts --pairs 2
rxe rails --two-hosts --pairs 2
siw rails --two-hosts --pairs 2
rxe storms --two-hosts
siw storms --two-hosts
rxe brpc --two-hosts
rxe drivers --two-hosts --both
rxe nat --nat --pairs 2
siw nat --nat --pairs 2
rxe nodes --two-hosts --pairs 2
rxe doctor --two-hosts
siw doctor --two-hosts
rxe services --mtu 4200
rxe exclusive --no-network
rxe plain_pods --two-hosts
siw services --mtu 4200
rxe priorities --two-hosts
siw priorities --two-hosts
rxe marking --two-hosts
END
}

# What is judged by time, which says little on a busy machine, to be run by hand: rdma_run_suite
# takes them, too.
rdma_suites_by_hand() {
  cat <<'END'
rxe rails_speed --two-hosts --pairs 2
siw rails_speed --two-hosts --pairs 2
END
}

# Once more, where queue pairs are set up over TCP, without rdma_cm. The programs of the others
# choose the way themselves, or use none; and those of "drivers" use Soft-iWARP, which has no other.
rdma_suites_over_tcp() {
  local suites="conformance|hosts|set_up|removal|breakage|rails|storms|nat|nodes|services"
  suites+="|priorities|marking"
  rdma_suites | sed -nE "s/^rxe ($suites) /rxe+tcp \\1 /p"
}

# _rdma_lines FILE: passes lines on, each whole. Into FILE go the number of machines that started
# and of suites that ended.
_rdma_lines() {
  local line booted=0 ended=0
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in
      "TOOK rdma/"*/boot*) booted=1 ;;
      "TOOK rdma/"*/total*) ended=$((ended + 1)) ;;
    esac
  done
  echo "$booted $ended" >"$1"
}

# rdma_run_suites BIN LINE... [-- CASE...]: BIN is bazel-bin, a line is one of rdma_suites. In one
# machine, or in another one for what is left when that was lost. Prints a line for each case, "PASS
# rdma/DRIVER/SUITE/CASE (SECONDS)" or "FAIL rdma/...: why", and "TOOK rdma/..." for the rest.
rdma_run_suites() {
  local bin=$1 lines=() booted ended status failed=0 seen next
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do lines+=("$1") && shift; done
  seen=$(mktemp) || return
  while [ "${#lines[@]}" -gt 0 ]; do
    # Two NUMA nodes: what depends on them is run where there are several, in every suite.
    tools/rdma_vm --no-network --nodes 2 \
      --timeout "$((${RDMA_SUITE_LIMIT:-3600} * ${#lines[@]}))" -- \
      tools/rdma_vm_tests/several.sh "$bin" "${lines[@]}" "$@" </dev/null | _rdma_lines "$seen"
    status=${PIPESTATUS[0]}
    read -r booted ended <"$seen"
    [ "$status" -eq 0 ] || failed=1
    lines=("${lines[@]:ended}")
    # 1: a case failed. 3: the suites that are left want another machine.
    [ "$status" -gt 1 ] || break
    if [ "$status" -ne 3 ] || [ "$ended" -eq 0 ]; then
      read -r -a next <<<"${lines[0]:-}"
      echo "FAIL rdma/${next[0]:-}/${next[1]:-}/machine: exit status $status"
      lines=("${lines[@]:1}")
    fi
    # Where none starts there is no use in trying for each suite.
    [ "$booted" -ne 0 ] || break
  done
  rm -f "$seen"
  [ "${#lines[@]}" -eq 0 ] || echo "FAIL rdma/machine: not run: $(printf '%s; ' "${lines[@]}")"
  [ "${#lines[@]}" -eq 0 ] && return "$failed"
}

_rdma_suites_known() { rdma_suites && rdma_suites_over_tcp && rdma_suites_by_hand; }

# rdma_run_suite BIN DRIVER SUITE [CASE...]
rdma_run_suite() {
  local bin=$1 name=$2/$3 line
  line=$(_rdma_suites_known | grep "^$2 $3 ") || {
    echo "FAIL rdma/$name: there is no such suite; there are:"
    _rdma_suites_known | cut -d' ' -f1,2
    return 1
  }
  shift 3
  rdma_run_suites "$bin" "$line" -- "$@"
}

# rdma_run_all BIN SOURCES [changed]: the suites of each driver in a machine, one after the other:
# on two processors both at once take more than twice as long each, since those of a machine
# wait for each other. SOURCES is what rdma_sources_key said before BIN was built. What has passed
# with the same programs is not run. "changed": nor is, but for the hosts of rxe, what has passed
# with the same sources; a line tells of each.
rdma_run_all() {
  local bin=$1 sources=$2 which=${3:-} machine driver suite line suites lines failed=0
  local -A keys
  machine=$(machine_key)
  for driver in rxe siw; do
    mapfile -t suites < <(rdma_suites | grep "^$driver ")
    lines=()
    for line in "${suites[@]}"; do
      keys[$line]=$(verdict_keys "$bin" "$line" "$sources" "$machine")
      passed_before "$line" "${keys[$line]}" && continue
      if [ "$which" = changed ] && [[ $line != "rxe hosts "* ]] &&
        about_the_same "$line" "${keys[$line]}"; then
        read -r _ suite _ <<<"$line"
        echo "LEFT OUT rdma/$driver/$suite"
        continue
      fi
      # Whatever becomes of it, that it has passed once is no verdict any more.
      rm -f "$(_verdict_file "$line")"
      lines+=("$line")
    done
    [ "${#lines[@]}" -gt 0 ] || continue
    rdma_run_suites "$bin" "${lines[@]}" | keep_verdicts "${lines[@]}"
    [ "${PIPESTATUS[0]}" -eq 0 ] || failed=1
  done
  return "$failed"
}
