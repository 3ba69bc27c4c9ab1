# SPDX-License-Identifier: Apache-2.0
#
# The optimised programs that scripts of tools/ run. Source it after bazel.sh and
# rdma_vm/suites.sh, if programs of "rdma" are wanted.
#
#   PROGRAMS_BIN  where another script has built them: so nothing is built again, and nothing waits
#                 for another command of Bazel, which runs one at a time

_programs_of() {
  case $1 in
    rdma) printf '%s\n' "${rdma_suite_targets[@]}" ;;
    interop) echo //tools/interop/... ;;
    k8s) k8s/programs targets ;;
    cmake) printf '%s\n' //:distribution //tools/doctor //tools/farcall ;;
  esac
}

# build_programs "NAME..." WORD...: these words, flags or more targets, are Bazel's.
build_programs() {
  local name targets=()
  [ -z "${PROGRAMS_BIN:-}" ] || return 0
  for name in $1; do
    mapfile -t -O "${#targets[@]}" targets < <(_programs_of "$name")
  done
  bazel_command build --config=opt --show_progress_rate_limit=5 "${@:2}" "${targets[@]}"
}

# Where they are.
programs_bin() {
  if [ -n "${PROGRAMS_BIN:-}" ]; then
    echo "$PROGRAMS_BIN"
  else
    bazel_bin --config=opt
  fi
}
