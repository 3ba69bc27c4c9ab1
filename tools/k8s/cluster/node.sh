#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A node of Kubernetes in the guest of tools/rdma_vm, whose own files are all in memory: containerd
# with the images ROOM/images/*.tar, and a kubelet. It ends, with the last lines of what they say,
# when one of both does. usage:
#
#   node.sh ROOM CACHE PROGRAMS PORT
#
#   ROOM      has kubeconfig.node, client.crt and images; node.log is written there
#   CACHE     has what Debian's packages containerd, runc and containernetworking-plugins hold
#   PROGRAMS  has kubelet
#   PORT      of the kubelet
set -uo pipefail

room=$1 cache=$2 programs=$3 port=$4
pods=10.244.0.0/24
socket=unix:///run/containerd/containerd.sock

fail() {
  echo "node: $*" >&2
  exit 1
}

# Slots of shared-hca's two pods: 1 GiB of huge pages each.
file_systems() {
  local directory
  mount --make-rshared / && mount -t cgroup2 cgroup /sys/fs/cgroup || fail "no control groups"
  for directory in /var/lib/containerd /var/lib/kubelet /var/log /etc/cni /etc/containerd; do
    mkdir -p "$directory" && mount -t tmpfs tmpfs "$directory" || fail "no $directory"
  done
  mkdir -p /dev/hugepages && mount -t hugetlbfs hugetlbfs /dev/hugepages &&
    echo 1024 >/proc/sys/vm/nr_hugepages || fail "no huge pages"
}

network() {
  modprobe -a bridge br_netfilter veth && sysctl -qw net.ipv4.ip_forward=1 ||
    fail "no bridges of pods"
  mkdir -p /etc/cni/net.d
  cat >/etc/cni/net.d/pods.conflist <<END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "ranges": [[{"subnet": "$pods"}]],
            "dataDir": "/run/cni", "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
}

start_containerd() {
  local attempt image
  cat >/etc/containerd/config.toml <<END
version = 2
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  cni = {bin_dir = "$cache/containernetworking-plugins/usr/lib/cni"}
END
  containerd --log-level=warn >/run/containerd.log 2>&1 &
  for attempt in {1..600}; do
    ! ctr version >/dev/null 2>&1 || break
    sleep 0.1
  done
  [ "$attempt" -lt 600 ] || fail "containerd does not answer: $(tail -n 3 /run/containerd.log)"
  for image in "$room"/images/*.tar; do
    ctr -n k8s.io images import "$image" >/dev/null || fail "containerd does not take $image"
  done
}

# The API server knows the node's kubelet by the node's name, at which it is reached by a port that
# QEMU forwards.
start_kubelet() {
  cat >/etc/cni/kubelet.yaml <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: $room/client.crt}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
containerRuntimeEndpoint: $socket
failSwapOn: false
port: $port
END
  kubelet --config=/etc/cni/kubelet.yaml --kubeconfig="$room/kubeconfig.node" \
    --hostname-override=localhost --node-ip=10.0.2.15 >/run/kubelet.log 2>&1 &
}

[ "${5:-}" = clean ] || exec env -i HOME=/root \
  PATH="$programs:$cache/containerd/usr/bin:$cache/runc/usr/sbin:/usr/sbin:/usr/bin:/sbin:/bin" \
  "$0" "$@" clean
file_systems
network
start_containerd
start_kubelet
wait -n
tail -n 20 /run/containerd.log /run/kubelet.log >&2
fail "containerd or the kubelet ended"
