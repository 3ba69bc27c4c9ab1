# SPDX-License-Identifier: Apache-2.0
#
# What suites have passed in this checkout: one that has, with the same programs, scripts, kernel
# and packages, is not run again, as a test of Bazel is not. BAZEL_FLAGS=--nocache_test_results runs
# it, and those of Bazel. Sourced by suites.sh, from the repository's root.
#
# A change of rpc/ changes all programs, while most suites are about devices and drivers. So there
# is a second key: of all that the programs are made of but the layers of rpc/ above the transports.
#
# BIN is bazel-bin. In the checkout, so that a fresh clone has none, is a file for each suite: its
# keys, and the lines of its cases.

_verdicts=.rdma_passed

# The programs of a suite, below BIN.
_suite_programs() {
  local target
  for target in "${rdma_suite_targets[@]#//}"; do
    case $1:$target in
      conformance:*:device_conformance_test) echo "${target/://}" ;;
      conformance:*) ;;
      *:*:*) echo "${target/://}" ;;
      *) echo "$target/${target##*/}" ;;
    esac
  done
}

# The sources of what the suites run, without the layers of rpc/ above the transports; and what
# compiles them. Taken before they are built: what changes meanwhile was not tested.
rdma_sources_key() {
  local flags
  {
    _sums_of transport rpc/runtime/runtime.cc rpc/testing/rdma_peer rpc/status examples/attachment \
      tools/doctor tools/node tools/farcall tools/rooms third_party .bazelrc WORKSPACE
    dpkg-query -W g++ libabsl-dev libprotobuf-dev protobuf-compiler
    # Not quoted, so that spaces do not count.
    flags=${BAZEL_FLAGS:-}
    echo ${flags/--nocache_test_results/}
  } 2>&1 | _key
}

# What all suites have in common: machine and scripts.
_machine_setting() {
  local room
  room=$(dirname "${BASH_SOURCE[0]}")
  cat "$(. "$room/cache.sh" && _cache_of_user)/release"
  dpkg-query -W qemu-system-x86 rdma-core libibverbs1 librdmacm1 ibverbs-providers iproute2 \
    nftables tcpdump python3 python3-pyverbs perftest
  _sums_of tools/rdma_vm tools/rdma_vm_tests "$room"
}

_sums_of() { find "$@" -type f ! -name '*.pyc' | LC_ALL=C sort | xargs sha256sum; }

_key() { sha256sum | cut -c 1-32; }

# machine_key: of what the verdicts of all suites depend on.
machine_key() { _machine_setting 2>&1 | _key; }

# verdict_keys BIN "DRIVER SUITE NETWORK..." SOURCES MACHINE: of all that its verdict depends on;
# and the second key, for which SOURCES is what rdma_sources_key said. MACHINE is machine_key's.
verdict_keys() {
  local bin=$1 suite program setting
  read -r _ suite _ <<<"$2"
  setting="$2 $4"
  [ "$suite" != marking ] || setting+=" $(_sums_of tools/qos 2>&1 | _key)"
  {
    echo "$setting"
    for program in $(_suite_programs "$suite"); do sha256sum <"$bin/$program"; done
  } 2>&1 | _key | tr '\n' ' '
  printf '%s\n' "$setting" "$3" | _key
}

_verdict_file() {
  local driver suite
  read -r driver suite _ <<<"$1"
  echo "$_verdicts/$driver-$suite"
}

# The keys with which a suite has passed; empty: it has not.
_passed_keys() {
  case " ${BAZEL_FLAGS:-} " in *" --nocache_test_results "*) return ;; esac
  head -n 1 "$(_verdict_file "$1")" 2>/dev/null
}

# passed_before LINE KEYS: prints the cases of a suite that has passed with the same programs;
# fails if it has not.
passed_before() {
  local passed
  passed=$(_passed_keys "$1")
  [ -n "$passed" ] && [ "${passed% *}" = "${2% *}" ] || return
  sed -e 1d -e 's/ (.*/ (passed before)/' "$(_verdict_file "$1")"
}

# about_the_same LINE KEYS: whether a suite has passed, and the second key is as it was.
about_the_same() {
  local passed
  passed=$(_passed_keys "$1")
  [ -n "$passed" ] && [ "${passed#* }" = "${2#* }" ]
}

# keep_verdicts LINE...: passes on what these suites print, and keeps the verdict of each that
# comes to its end without a failure. `keys` has theirs from before they began: what changes
# meanwhile was not tested.
keep_verdicts() {
  local line suite name cases=
  mkdir -p "$_verdicts"
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in "PASS rdma/"* | "FAIL rdma/"*) cases+=$line$'\n' ;; esac
    [[ $line == "TOOK rdma/"*/total* ]] || continue
    name=${line#TOOK rdma/}
    name=${name%/total*}
    [[ $cases == *"PASS rdma/$name/"* && $cases != *"FAIL rdma/$name/"* ]] || continue
    for suite in "$@"; do
      [[ $suite == "${name/\// } "* ]] || continue
      {
        echo "${keys[$suite]}"
        grep "^PASS rdma/$name/" <<<"$cases"
      } >"$(_verdict_file "$suite")"
    done
  done
}
