# SPDX-License-Identifier: Apache-2.0
#
# What a node with containers needs beside prepare.sh's, fetched and compiled once and kept. Source
# it after cache.sh, from the repository's root.

_plugin=github.com/Mellanox/k8s-rdma-shared-dev-plugin
_plugin_version=v1.5.3

# Into $k8s_cache/PACKAGE of each; pci.ids is for the plugin, which knows no adapters without it.
prepare_runtime() {
  local package
  for package in containerd runc containernetworking-plugins pci.ids; do
    [ -e "$k8s_cache/$package" ] || _from_debian "$package" "$k8s_cache/$package" || return
  done
}

# device_plugin: the program, which needs no library. `go install` refuses modules that replace
# others.
prepare_device_plugin() {
  local source
  device_plugin=$k8s_cache/device-plugin-$_plugin_version/k8s-rdma-shared-dp
  [ ! -x "$device_plugin" ] || return 0
  say "compiling k8s-rdma-shared-dev-plugin $_plugin_version"
  if _thrice env -u GOFLAGS go mod download -json "$_plugin@$_plugin_version"; then
    source=$(sed -n 's/^\t"Dir": "\(.*\)",$/\1/p' "$k8s_cache/log")
    ! _thrice env -u GOFLAGS CGO_ENABLED=0 go build -C "$source" -ldflags "-s -w" \
      -o "$device_plugin" ./cmd/k8s-rdma-shared-dp || return 0
  fi
  say "cannot compile the device plugin; cure: have go 1.24 or later in PATH, and reach" \
    "proxy.golang.org, or set GOPROXY"
  return 1
}

# _archive IMAGE NAME FILE: of our store, as containerd takes it, with the name of the manifests.
_archive() {
  in_store push -q "$1" "docker-archive:$3:$2" && as_root chmod a+r "$3"
}

# _image_of COMMAND FILE=PATH...: of nothing else; prints it.
_image_of() {
  local command=$1 box each
  box=$(in_store from scratch) || return
  for each in "${@:2}"; do
    in_store add -q "$box" "${each%=*}" "${each#*=}" >/dev/null || return
  done
  in_store config --cmd "$command" "$box" && in_store commit -q --rm "$box"
}

# archive_images DIRECTORY FARCALL: this image, the plugin's, and one that holds pods' namespaces.
archive_images() {
  local into=$1 farcall=$2 image
  mkdir -p "$into" && _archive "$farcall" "docker.io/library/$farcall" "$into/farcall.tar" &&
    image=$(_image_of '["/busybox", "sleep", "infinity"]' "$(command -v busybox)=/busybox") &&
    _archive "$image" localhost/pause:1 "$into/pause.tar" &&
    image=$(_image_of '["/bin/k8s-rdma-shared-dp"]' "$device_plugin=/bin/k8s-rdma-shared-dp" \
      "$k8s_cache/pci.ids/usr/share/misc/pci.ids=/usr/share/misc/pci.ids") &&
    _archive "$image" "ghcr.io/mellanox/${_plugin##*/}:$_plugin_version" "$into/plugin.tar"
}
