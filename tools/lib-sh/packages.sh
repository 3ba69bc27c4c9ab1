# SPDX-License-Identifier: Apache-2.0
#
# Debian packages for the scripts of tools/. Source it, then call
#   ensure_packages GROUP...
# with groups of tools/packages.txt. When all is there it costs one dpkg-query and
# says nothing. Else it says what is missing, and only then becomes root, by sudo.
# Returns 1, having said why and what to do, when it cannot install.

_packages_list="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/packages.txt"

# packages_of GROUP...: the names in these groups, one a line.
packages_of() {
  local group package wanted=" $* "
  while read -r group package; do
    case $wanted in *" $group "*) [ "$group" = "#" ] || printf '%s\n' "$package" ;; esac
  done <"$_packages_list" | sort -u
}

# missing_packages NAME...: those that are not installed, one a line.
missing_packages() {
  local name status
  declare -A installed=()
  while read -r status name; do
    [ "$status" = installed ] && installed[$name]=1
  done < <(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null)
  for name in "$@"; do
    [ -n "${installed[$name]:-}" ] || printf '%s\n' "$name"
  done
}

# _as_root COMMAND...: runs it as root. ensure_packages has asked for the password.
_as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

# _apt ARGUMENTS...: three attempts, since mirrors fail for a moment. Says every
# 15 s how far it is. Its output goes to $_apt_log.
_apt() {
  local attempt apt waited
  for attempt in 1 2 3; do
    _as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
      -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 \
      "$@" </dev/null >"$_apt_log" 2>&1 &
    apt=$!
    waited=0
    while kill -0 "$apt" 2>/dev/null; do
      sleep 0.2
      waited=$((waited + 1))
      [ $((waited % 75)) -ne 0 ] ||
        echo "  ... $((waited / 5)) s: $(tail -n 1 "$_apt_log")" | cut -c 1-79
    done
    wait "$apt" && return 0
    echo "apt-get $1: attempt $attempt of 3 failed: $(tail -n 1 "$_apt_log")" >&2
    [ "$attempt" -eq 3 ] || sleep $((attempt * 3))
  done
  return 1
}

_cannot_install() {
  echo "error: $1" >&2
  echo "cure: as root, run: apt-get update && apt-get install -y --no-install-recommends $2" >&2
  return 1
}

ensure_packages() {
  local packages missing started=$SECONDS _apt_log
  mapfile -t packages < <(packages_of "$@")
  if [ "${#packages[@]}" -eq 0 ]; then
    echo "error: tools/packages.txt has no group among: $*" >&2
    return 1
  fi
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "error: this is not Debian: dpkg-query or apt-get is missing" >&2
    echo "cure: use Debian 12 (a container will do); needed are: ${packages[*]}" >&2
    return 1
  fi
  mapfile -t missing < <(missing_packages "${packages[@]}")
  [ "${#missing[@]}" -gt 0 ] || return 0

  echo "missing packages: ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      _cannot_install "installing needs root, and there is no sudo" "${missing[*]}"
      return
    fi
    echo "installing them needs root: asking sudo"
    # Without a terminal sudo must not wait for a password that nobody types.
    if ! { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo -v; }; }; then
      _cannot_install "installing needs root, and sudo refused" "${missing[*]}"
      return
    fi
  fi
  _apt_log=$(mktemp)
  echo "installing (a minute or two when the compiler is among them) ..."
  if ! _apt update || ! _apt install --no-install-recommends "${missing[@]}"; then
    tail -n 20 "$_apt_log" >&2
    rm -f "$_apt_log"
    _cannot_install "apt-get failed" "${missing[*]}"
    return
  fi
  rm -f "$_apt_log"
  mapfile -t missing < <(missing_packages "${missing[@]}")
  if [ "${#missing[@]}" -gt 0 ]; then
    _cannot_install "still missing after the installation" "${missing[*]}"
    return
  fi
  echo "installed in $((SECONDS - started)) s"
}
