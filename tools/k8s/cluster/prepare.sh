# SPDX-License-Identifier: Apache-2.0
#
# What a cluster without containers needs, fetched and compiled once and kept. Source it after
# cache.sh, from the repository's root.
#
#   etcd           the program
#   control_plane  a directory with kube-apiserver, kube-controller-manager, kube-scheduler, kubectl

_kubernetes_version=1.36.3

prepare_etcd() {
  etcd=$k8s_cache/etcd/usr/bin/etcd
  [ -x "$etcd" ] || _from_debian etcd-server "$k8s_cache/etcd"
}

# _write_go_mod: Kubernetes replaces parts of itself by directories of its repository, which its
# module does not have; each is published as a module of the same release.
_write_go_mod() {
  local version=$_kubernetes_version go_mod part
  printf 'module cluster\n' >go.mod
  _thrice go list -mod=mod -m "k8s.io/kubernetes@v$version" || return
  go_mod=$(go list -mod=mod -m -f '{{.GoMod}}' "k8s.io/kubernetes@v$version") || return
  {
    printf 'module cluster\n\n'
    grep '^go ' "$go_mod"
    echo "require k8s.io/kubernetes v$version"
    grep '=> ./staging/' "$go_mod" | awk '{print $1}' | sort -u | while read -r part; do
      echo "replace $part => $part v0.${version#1.}"
    done
  } >go.mod
}

# Says how far it is: more than a thousand packages, which takes minutes.
_compile_control_plane() {
  local log=$1 all build waited=0
  say "fetching the modules of Kubernetes $_kubernetes_version"
  _write_go_mod && _thrice go list -mod=mod -deps . || return
  all=$(wc -l <"$k8s_cache/log")
  go build -mod=mod -v -o programs \
    -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$_kubernetes_version" . \
    </dev/null >"$log" 2>&1 9>&- &
  build=$!
  while kill -0 "$build" 2>/dev/null; do
    [ $((waited % 150)) -ne 0 ] ||
      say "compiling Kubernetes: $(wc -l <"$log") of $all packages, less what Go's cache has"
    waited=$((waited + 1))
    sleep 0.1
  done
  wait "$build"
}

prepare_control_plane() {
  local source=tools/k8s/cluster/main.go new name began=$SECONDS
  control_plane=$k8s_cache/control-plane-$_kubernetes_version-$(sha256sum "$source" | cut -c 1-16)
  [ ! -e "$control_plane/.made" ] || return 0
  new=$control_plane.new
  mkdir -p "$new" && cp "$source" "$new" || return
  if ! (cd "$new" && _compile_control_plane "$new/log"); then
    tail -n 20 "$new/log" >&2
    say "cannot compile Kubernetes $_kubernetes_version; cure: have the go that it wants in PATH," \
      "1.26 or later, which Debian 12's is not, and reach proxy.golang.org, or set GOPROXY"
    return 1
  fi
  mkdir -p "$control_plane" && mv "$new/programs" "$control_plane/" || return
  for name in kube-apiserver kube-controller-manager kube-scheduler kubectl kubelet; do
    ln -sf programs "$control_plane/$name"
  done
  : >"$control_plane/.made"
  rm -rf "$new"
  say "compiled in $((SECONDS - began)) s"
}
