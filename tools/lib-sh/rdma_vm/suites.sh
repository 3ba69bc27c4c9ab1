# SPDX-License-Identifier: Apache-2.0
#
# The suites that run on real RDMA devices, each in a machine of its own. Source it from
# the repository's root.

# What the suites run in the guest.
rdma_suite_targets=(
  //rpc/testing/rdma_peer
  //examples/attachment:block_client
  //examples/attachment:block_server
  //transport/link/testing/token_probe
  //transport/rdma:device_conformance_test
  //tools/doctor
)

# Driver, script of tools/rdma_vm_tests, and the network that it needs.
rdma_suites() {
  cat <<'END'
rxe conformance --routed
siw conformance --routed
rxe hosts --two-hosts
siw hosts --two-hosts
rxe removal --two-hosts --pairs 2
siw removal --two-hosts --pairs 2
rxe breakage --two-hosts --pairs 2
siw breakage --two-hosts --pairs 2
rxe storms --two-hosts
siw storms --two-hosts
rxe drivers --two-hosts --both
rxe nat --nat --pairs 2
siw nat --nat --pairs 2
rxe doctor --two-hosts
siw doctor --two-hosts
rxe services --mtu 4200
siw services --mtu 4200
rxe priorities --two-hosts
siw priorities --two-hosts
END
}

# rdma_run_suite BIN DRIVER SUITE [CASE...]: BIN is bazel-bin. Prints a line for each case,
# "PASS rdma/DRIVER/SUITE/CASE" or "FAIL rdma/...: why".
rdma_run_suite() {
  local bin=$1 driver=$2 suite=$3 options=() status=0 name="rdma/$2/$3"
  shift 3
  read -r -a options < <(rdma_suites | sed -n "s/^$driver $suite //p")
  if [ "${#options[@]}" -eq 0 ]; then
    echo "FAIL $name: there is no such suite; there are:"
    rdma_suites | cut -d' ' -f1,2
    return 1
  fi
  tools/rdma_vm --driver "$driver" "${options[@]}" --timeout "${RDMA_SUITE_LIMIT:-900}" -- \
    python3 -B "tools/rdma_vm_tests/$suite.py" "$bin" "$name/" "$@" || status=$?
  # The suite itself fails with 1, after a line for each case.
  [ "$status" -le 1 ] || echo "FAIL $name/machine: exit status $status"
  return "$status"
}
