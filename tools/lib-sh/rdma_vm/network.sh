# SPDX-License-Identifier: Apache-2.0
#
# The networks and RDMA devices of the guest, by vm_topology, vm_driver, vm_second and
# vm_mtu. Sourced by guest.sh, which has `fail`.

# device NAME DRIVER NETDEV [NAMESPACE]
device() {
  local inside=()
  [ -z "${4:-}" ] || inside=(ip netns exec "$4")
  "${inside[@]}" rdma link add "$1" type "$2" netdev "$3" || fail "cannot add RDMA device $1"
}

# in_order NETDEV [NAMESPACE]: all that comes is received on one CPU. Else each CPU receives what it
# has sent, and what a thread sends from two of them overtakes itself, which cables do not do: rxe
# takes that for loss, and sends again.
in_order() {
  local inside=()
  [ -z "${2:-}" ] || inside=(ip netns exec "$2")
  "${inside[@]}" sh -c "echo 1 >/sys/class/net/$1/queues/rx-0/rps_cpus" ||
    fail "$1 does not receive in order"
}

# cable NETDEV NAMESPACE NUMBER NETDEV NAMESPACE NUMBER: the numbers of both ends differ
# though they are in namespaces of their own: a wildcard listener of siw binds by number.
cable() {
  ip link add "$1" index "$3" mtu $vm_mtu netns "$2" type veth \
    peer name "$4" index "$6" mtu $vm_mtu netns "$5" || fail "cannot add a cable $1 - $4"
  in_order "$1" "$2"
  in_order "$4" "$5"
}

# up NAMESPACE NETDEV ADDRESS
up() {
  ip -n "$1" link set "$2" up && ip -n "$1" addr add "$3/24" dev "$2" || fail "$2 has no $3"
}

namespace() {
  ip netns add "$1" && ip -n "$1" link set lo up || fail "cannot add namespace $1"
}

# A cable straight from host to host, with a device at each end: pair SUFFIX NET DRIVER.
pair() {
  local a="A$1" b="B$1" number=$((100 + 10 * $2))
  cable "veth$a" hostA $((number + 1)) "veth$b" hostB $((number + 2))
  up hostA "veth$a" "10.9.$2.1"
  up hostB "veth$b" "10.9.$2.2"
  device "rdma$a" "$3" "veth$a" hostA
  device "rdma$b" "$3" "veth$b" hostB
}

hosts() {
  namespace hostA
  namespace hostB
  pair "" 0 $vm_driver
}

# hostA - router - hostB. To hostB all that comes this way has the router's address.
nat() {
  modprobe -a nf_tables nft_chain_nat nft_masq || fail "no modules for NAT"
  namespace router
  cable natA hostA 121 lan router 122
  cable wan router 123 natB hostB 124
  up hostA natA 10.8.0.2
  up router lan 10.8.0.1
  up router wan 10.7.0.1
  up hostB natB 10.7.0.2
  ip -n hostA route add 10.7.0.0/24 via 10.8.0.1 || fail "no route through the router"
  ip netns exec router sysctl -qw net.ipv4.ip_forward=1
  ip netns exec router nft -f - <<'RULES' || fail "no masquerade"
table ip nat {
  chain out {
    type nat hook postrouting priority 100;
    oifname "wan" masquerade
  }
}
RULES
  [ -z "$vm_second" ] || {
    device rdmaA2 $vm_second natA hostA
    device rdmaB2 $vm_second natB hostB
  }
}

# Both ends in one namespace. The kernel would short-cut between its own addresses, so
# rules send what goes to the other end over the cable, and look at "local" only then.
routed() {
  local end netdev own
  ip link add vethA index 101 mtu $vm_mtu type veth peer name vethB index 102 mtu $vm_mtu ||
    fail "cannot add a cable"
  sysctl -qw net.ipv4.conf.all.rp_filter=0
  for end in A:1 B:2; do
    netdev=veth${end%:*} own=10.9.0.${end#*:}
    sysctl -qw net.ipv4.conf.$netdev.accept_local=1 net.ipv4.conf.$netdev.rp_filter=0 \
      net.ipv4.conf.$netdev.arp_ignore=1
    in_order $netdev
    ip link set $netdev up
    ip addr add $own/24 dev $netdev
    ip rule add pref 10 iif lo from $own to $own lookup local
  done
  ip route add 10.9.0.2/32 dev vethA src 10.9.0.1 table 101
  ip route add 10.9.0.1/32 dev vethB src 10.9.0.2 table 102
  ip rule add pref 20 iif lo to 10.9.0.2 lookup 101
  ip rule add pref 20 iif lo to 10.9.0.1 lookup 102
  ip rule add pref 100 lookup local
  ip rule del pref 0
  device rdmaA $vm_driver vethA
  device rdmaB $vm_driver vethB
}

# The user's network of QEMU: the host is 10.0.2.2.
card() {
  modprobe e1000 && ip link set eth0 up && ip addr add 10.0.2.15/24 dev eth0 &&
    ip route add default via 10.0.2.2 || fail "no card"
  device rdma0 "$vm_driver" eth0
}

# rxe fills in the GIDs of IPv4 addresses a little later; a connection needs them. siw
# has none.
wait_for_gids() {
  local device
  for device in /sys/class/infiniband/*; do
    [ "$(<"$device/node_type")" != "4: RNIC" ] || continue
    for _ in {1..50}; do
      ! grep -qs '0000:0000:0000:0000:0000:ffff' "$device"/ports/1/gids/* || break
      sleep 0.1
    done
  done
}

make_network() {
  ip link set lo up
  case $vm_topology in
    one)
      ip link add dummy0 mtu $vm_mtu type dummy && ip link set dummy0 up &&
        ip addr add 10.9.0.1/24 dev dummy0 || fail "no dummy0"
      device rdma0 $vm_driver dummy0
      ;;
    card) card ;;
    hosts) hosts && { [ -z "$vm_second" ] || pair 2 1 $vm_second; } ;;
    nat) hosts && nat ;;
    routed) routed ;;
    none) return ;;
  esac
  wait_for_gids
}
