# SPDX-License-Identifier: Apache-2.0
#
# What the tests of images and manifests fetch once and keep. Source it from the repository's
# root.
#
#   k8s_cache    where all of it lies
#   kustomize    the program
#   schemas      a Python environment with kubernetes-validate
#   promtool     the program of Prometheus that tests alarms
#   base         the name of the base image in our own store of buildah
#   store_flags  of buildah, for that store

say() { echo "k8s: $*" >&2; }

# Go of Debian 12 is 1.19; newer releases of kustomize want a newer one. Checked against
# sum.golang.org, as every Go module.
_kustomize_version=v5.0.3
base=localhost/farcall-base:bookworm

_sudo=()
[ "$(id -u)" -eq 0 ] || _sudo=(sudo -n)
as_root() { "${_sudo[@]}" "$@"; }

in_store() { as_root buildah "${store_flags[@]}" "$@"; }

_k8s_cache_of_user() {
  local base=${XDG_CACHE_HOME:-${HOME:-}/.cache}
  # Some CI users have no home that they may write to.
  mkdir -p "$base" 2>/dev/null && [ -w "$base" ] || base=${TMPDIR:-/tmp}/cache-$(id -u)
  echo "$base/farcall-k8s"
}

# Of several at the same time one works and the others wait, until the shell ends.
open_cache() {
  local driver=overlay
  k8s_cache=${K8S_CACHE:-$(_k8s_cache_of_user)}
  mkdir -p "$k8s_cache" && k8s_cache=$(cd "$k8s_cache" && pwd -P) || return
  exec 9>"$k8s_cache/lock" || return
  flock -n 9 || { say "waiting for another run" && flock 9; }
  # Within a container the cache may lie on an overlay, which cannot carry another.
  [ "$(stat -f -c %T "$k8s_cache")" != overlayfs ] || driver=vfs
  store_flags=(--root "$k8s_cache/store-$driver" --runroot "$k8s_cache/run-$driver"
    --storage-driver "$driver")
}

# _thrice COMMAND...: mirrors and proxies fail for a moment now and then.
_thrice() {
  local attempt
  for attempt in 1 2 3; do
    timeout 1800 "$@" </dev/null >"$k8s_cache/log" 2>&1 9>&- && return 0
    [ "$attempt" -eq 3 ] || sleep $((attempt * 3))
  done
  tail -n 20 "$k8s_cache/log" >&2
  return 1
}

prepare_kustomize() {
  local into=$k8s_cache/kustomize-$_kustomize_version
  kustomize=$into/bin/kustomize
  [ ! -x "$kustomize" ] || return 0
  say "compiling kustomize $_kustomize_version"
  if ! _thrice env -u GOFLAGS GOBIN="$into/new" GOPATH="$into/go" GOCACHE="$into/build" \
    /usr/bin/go install "sigs.k8s.io/kustomize/kustomize/v5@$_kustomize_version"; then
    say "cannot compile kustomize; cure: reach proxy.golang.org, or set GOPROXY"
    return 1
  fi
  mv "$into/new" "$into/bin"
  # Modules are read-only.
  chmod -R u+w "$into/go" && rm -rf "$into/go" "$into/build"
}

prepare_schemas() {
  local list=tools/k8s/requirements.txt
  schemas=$k8s_cache/schemas-$(sha256sum "$list" | cut -c 1-16)
  [ ! -e "$schemas/.checked" ] || return 0
  say "fetching kubernetes-validate"
  rm -rf "$schemas"
  if ! /usr/bin/python3 -m venv "$schemas" || ! _thrice "$schemas/bin/pip" install \
    --require-hashes --no-deps --only-binary :all: -r "$list"; then
    say "cannot fetch the schemas; cure: reach pypi.org, or set PIP_INDEX_URL"
    return 1
  fi
  : >"$schemas/.checked"
}

# _from_debian PACKAGE DIRECTORY: its files. It is not installed: that would start a server.
_from_debian() {
  local package=$1 into=$2 new
  say "fetching $package"
  new=$(mktemp -d "$into.XXXXXX") || return
  if ! _thrice env -C "$new" apt-get -q download "$package"; then
    as_root apt-get -q update >/dev/null 2>&1
    if ! _thrice env -C "$new" apt-get -q download "$package"; then
      say "cannot fetch Debian's package $package; cure: reach a mirror of Debian"
      rm -rf "$new"
      return 1
    fi
  fi
  dpkg-deb -x "$new/$package"_*.deb "$new" && rm -rf "$into" "$new/$package"_*.deb &&
    mv "$new" "$into"
}

prepare_promtool() {
  promtool=$k8s_cache/promtool/usr/bin/promtool
  [ -x "$promtool" ] || _from_debian prometheus "$k8s_cache/promtool"
}

# What docker's debian:bookworm-slim leaves out of a minimal Debian, too.
_slim() {
  (cd "$1" && rm -rf usr/share/{doc,info,lintian,linda,locale,man}/* var/cache/* \
    var/lib/apt/lists/* var/log/*)
}

prepare_base() {
  local new box
  ! in_store inspect --type image "$base" >/dev/null 2>&1 || return 0
  say "making a minimal Debian 12 (a minute)"
  as_root rm -rf "$k8s_cache"/debian.*
  new=$(mktemp -d "$k8s_cache/debian.XXXXXX") || return
  if ! _thrice "${_sudo[@]}" debootstrap --variant=minbase bookworm "$new" \
    "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"; then
    say "debootstrap failed; cure: reach deb.debian.org, or set DEBIAN_MIRROR"
    return 1
  fi
  chmod 755 "$new"
  as_root bash -c "$(declare -f _slim); _slim \"\$1\"" slim "$new" || return
  box=$(in_store from scratch) && in_store add -q "$box" "$new" / >/dev/null &&
    in_store commit -q "$box" "$base" >/dev/null && in_store rm "$box" >/dev/null || return
  as_root rm -rf "$new"
}
