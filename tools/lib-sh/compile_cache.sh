# SPDX-License-Identifier: Apache-2.0
#
# What one checkout compiled, the next need not compile again: compilations are kept in
# ~/.cache/farcall-bazel. Source it, and
#   compile_cache_flags        prints the flags that have Bazel use it, one a line
#   compile_cache_trim BYTES   takes away what was longest unused, down to so many bytes
# Neither links nor verdicts of tests are kept: a test runs in each checkout.

_compile_cache_root=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
_compile_cache_root=${_compile_cache_root:+$_compile_cache_root/farcall-bazel}

# Bazel knows our sources and flags, but neither the compiler nor the headers of Debian's
# packages: each set of those has its own place.
_compile_cache_key() {
  dpkg-query -W '*-dev' 'gcc*' 'g++*' 'cpp*' 'binutils*' 'clang*' 'llvm*' 2>/dev/null |
    sha256sum | cut -c 1-16
}

# Nothing where there is no place for it.
compile_cache_flags() {
  [ -n "$_compile_cache_root" ] && mkdir -p "$_compile_cache_root" 2>/dev/null &&
    [ -w "$_compile_cache_root" ] || return 0
  printf '%s\n' "--disk_cache=$_compile_cache_root/$(_compile_cache_key)" \
    '--modify_execution_info=^(TestRunner|CppLink)$=+no-cache'
}

# By the last access, which Linux notes at least once a day (relatime).
compile_cache_trim() {
  local limit=$1 kept=0 used size path
  [ -d "$_compile_cache_root" ] || return 0
  while read -r used size path; do
    kept=$((kept + size))
    [ "$kept" -le "$limit" ] || rm -f -- "$path"
  done < <(find "$_compile_cache_root" -type f -printf '%A@ %s %p\n' 2>/dev/null | sort -rn)
  find "$_compile_cache_root" -mindepth 1 -type d -empty -delete 2>/dev/null
  return 0
}
