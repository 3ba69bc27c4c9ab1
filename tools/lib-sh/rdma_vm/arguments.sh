# SPDX-License-Identifier: Apache-2.0
#
# What was asked for, in variables vm_*. Sourced by tools/rdma_vm.

vm_driver=rxe
vm_topology=one # one, card, hosts, nat, routed or none
vm_second=      # driver of the second pair of devices; empty: there is none
vm_limit=600
vm_cpus=2
vm_nodes=1
vm_mem=2048
vm_mtu=4200
vm_forward= # a port of the host that leads to the guest
vm_prepare=
vm_outs=()
vm_command=()

_wrong() {
  echo "rdma_vm: $1 (see tools/rdma_vm --help)" >&2
  return 2
}

# _number NAME TEXT LEAST MOST
_number() {
  [[ $2 =~ ^[0-9]{1,6}$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] ||
    _wrong "$1 is \"$2\"; it must be a number from $3 to $4"
}

_option() {
  case $1 in
    --driver)
      case $2 in rxe | siw) vm_driver=$2 ;; *) _wrong "--driver is rxe or siw" ;; esac
      ;;
    --pairs) _number "$1" "$2" 1 2 && _pairs=$2 ;;
    --out)
      [ -d "$2" ] || { _wrong "--out: there is no directory \"$2\""; return; }
      vm_outs+=("$(cd "$2" && pwd -P)")
      ;;
    --timeout) _number "$1" "$2" 1 86400 && vm_limit=$2 ;;
    --cpus) _number "$1" "$2" 1 64 && vm_cpus=$2 ;;
    --nodes) _number "$1" "$2" 1 8 && vm_nodes=$2 ;;
    --mem) _number "$1" "$2" 256 262144 && vm_mem=$2 ;;
    --mtu) _number "$1" "$2" 576 9000 && vm_mtu=$2 ;;
    --forward) _number "$1" "$2" 1024 65535 && vm_forward=$2 ;;
  esac
}

# rdma_vm_parse ARGUMENT...: 2 and a line on standard error if they are wrong.
rdma_vm_parse() {
  local _pairs=1 both=
  while [ $# -gt 0 ]; do
    case $1 in
      -h | --help) usage && exit 0 ;;
      --card) vm_topology=card ;;
      --two-hosts) vm_topology=hosts ;;
      --nat) vm_topology=nat ;;
      --routed) vm_topology=routed ;;
      --no-network) vm_topology=none ;;
      --both) both=1 _pairs=2 ;;
      --prepare) vm_prepare=1 ;;
      --driver | --pairs | --out | --timeout | --cpus | --nodes | --mem | --mtu | --forward)
        [ $# -ge 2 ] || { _wrong "$1 needs a value"; return; }
        _option "$1" "$2" || return
        shift
        ;;
      --) shift && vm_command=("$@") && break ;;
      *) _wrong "unknown argument \"$1\""; return ;;
    esac
    shift
  done
  if [ "$_pairs" = 2 ]; then
    case $vm_topology in
      one | card | routed | none) _wrong "--pairs 2 and --both need --two-hosts or --nat"; return ;;
    esac
    vm_second=$vm_driver
    [ -z "$both" ] || { [ "$vm_driver" = rxe ] && vm_second=siw || vm_second=rxe; }
  fi
  [ -z "$vm_forward" ] || [ "$vm_topology" = card ] ||
    { _wrong "--forward needs --card"; return; }
  [ "$vm_nodes" -le "$vm_cpus" ] || { _wrong "--nodes: each needs a CPU"; return; }
  [ -n "$vm_prepare" ] || [ ${#vm_command[@]} -gt 0 ] || _wrong "no command"
}

# Their packages are the group rdma_vm of tools/packages.txt.
rdma_vm_check_tools() {
  local tool missing=()
  PATH=$PATH:/usr/sbin:/sbin
  for tool in qemu-system-x86_64 busybox cpio modprobe depmod xz dpkg-deb apt-get rdma flock \
    make gcc-12; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "rdma_vm: missing: ${missing[*]}" >&2
  echo "rdma_vm: cure: install the packages of group rdma_vm in tools/packages.txt" >&2
  return 1
}
