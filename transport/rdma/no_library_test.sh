#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# No program may depend on an RDMA library: they are loaded at run time, so that one binary
# also runs where they are not installed. Arguments: programs.

set -euo pipefail

[[ $# -gt 0 ]] || { echo "no program was given" >&2; exit 1; }
for program in "$@"; do
  needed=$(ldd "$program")
  [[ $needed == *libc.so* ]] || { echo "$program: ldd does not tell: $needed" >&2; exit 1; }
  if grep -E 'libibverbs|librdmacm|libmlx|not found' <<<"$needed"; then
    echo "$program needs the libraries above" >&2
    exit 1
  fi
done
