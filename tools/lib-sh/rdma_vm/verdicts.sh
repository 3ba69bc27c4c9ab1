# SPDX-License-Identifier: Apache-2.0
#
# What suites have passed in this checkout: one that has, with the same programs, scripts, kernel
# and packages, is not run again, as a test of Bazel is not. BAZEL_FLAGS=--nocache_test_results runs
# it, and those of Bazel. Sourced by suites.sh, from the repository's root.
#
# BIN is bazel-bin. Beside it is a file for each suite: its key, and the lines of its cases.

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

# verdict_key BIN "DRIVER SUITE NETWORK...": of all that its verdict depends on.
verdict_key() {
  local bin=$1 suite program room
  read -r _ suite _ <<<"$2"
  room=$(dirname "${BASH_SOURCE[0]}")
  {
    echo "$2"
    cat "$(. "$room/cache.sh" && _cache_of_user)/release"
    dpkg-query -W qemu-system-x86 rdma-core libibverbs1 librdmacm1 ibverbs-providers iproute2 \
      nftables tcpdump python3 perftest
    for program in $(_suite_programs "$suite"); do sha256sum <"$bin/$program"; done
    find tools/rdma_vm tools/rdma_vm_tests "$room" -type f ! -name '*.pyc' |
      LC_ALL=C sort | xargs sha256sum
  } 2>&1 | sha256sum | cut -c 1-32
}

_verdict_file() {
  local driver suite
  read -r driver suite _ <<<"$2"
  echo "$1/../rdma_passed/$driver-$suite"
}

# passed_before BIN LINE KEY: prints the cases of a suite that has passed; fails if it has not.
passed_before() {
  local file
  case " ${BAZEL_FLAGS:-} " in *" --nocache_test_results "*) return 1 ;; esac
  file=$(_verdict_file "$@")
  [ -e "$file" ] && [ "$(head -n 1 "$file")" = "$3" ] || return
  sed -e 1d -e 's/ (.*/ (passed before)/' "$file"
}

# keep_verdicts BIN LINE...: passes on what these suites print, and keeps the verdict of each that
# comes to its end without a failure. `keys` has theirs from before they began: what changes
# meanwhile was not tested.
keep_verdicts() {
  local bin=$1 line suite name cases=
  shift
  mkdir -p "$bin/../rdma_passed"
  while IFS= read -r line; do
    printf '%s\n' "$line"
    case $line in "PASS rdma/"* | "FAIL rdma/"*) cases+=$line$'\n' ;; esac
    for suite in "$@"; do
      name=$(cut -d' ' -f1,2 <<<"$suite" | tr ' ' /)
      [[ $line == "TOOK rdma/$name/total"* ]] || continue
      case $cases in
        *"FAIL rdma/$name/"*) ;;
        *"PASS rdma/$name/"*)
          {
            echo "${keys[$suite]}"
            grep "^PASS rdma/$name/" <<<"$cases"
          } >"$(_verdict_file "$bin" "$suite")"
          ;;
      esac
    done
  done
}
