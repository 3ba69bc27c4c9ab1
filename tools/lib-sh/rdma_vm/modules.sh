# SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
#
# Kernel modules that Debian does not have: siw, which it leaves out, and an rxe that
# serves every network namespace and outlives its netdev. Built from Debian's own source
# with Debian's own headers. The C text below becomes part of them, hence the second licence.
# Sourced by tools/rdma_vm.

# Debian's rxe opens its UDP port (4791) and looks up routes in the first network namespace
# only. This gives each namespace its own socket, and takes routes from the namespace of
# the RDMA device's netdev.
_patch_rxe() {
  sed -i -e 's/ip_route_output_key(&init_net/ip_route_output_key(dev_net(ndev)/' \
    -e 's/sock_net(recv_sockets.sk6->sk)/dev_net(ndev)/' \
    -e 's/recv_sockets.sk6->sk, &fl6/NULL, \&fl6/' \
    -e 's/^void rxe_net_exit(void)/static void rxe_first_net_exit(void)/' \
    -e 's/^int rxe_net_init(void)/static int rxe_first_net_init(void)/' \
    -e 's/^\trxe_net_exit();/\trxe_first_net_exit();/' "$1" && _rxe_of_namespaces >>"$1"
}

_rxe_of_namespaces() {
  cat <<'END'

#include <net/netns/generic.h>

static unsigned int rxe_netns_id;

static int __net_init rxe_netns_init(struct net *net)
{
	struct rxe_recv_sockets *own = net_generic(net, rxe_netns_id);

	own->sk4 = own->sk6 = NULL;
	if (net_eq(net, &init_net))
		return 0;
	own->sk4 = rxe_setup_udp_tunnel(net, htons(ROCE_V2_UDP_DPORT), false);
	if (IS_ERR(own->sk4)) {
		int err = PTR_ERR(own->sk4);

		own->sk4 = NULL;
		return err;
	}
#if IS_ENABLED(CONFIG_IPV6)
	own->sk6 = rxe_setup_udp_tunnel(net, htons(ROCE_V2_UDP_DPORT), true);
	if (IS_ERR(own->sk6))
		own->sk6 = NULL;
#endif
	return 0;
}

static void __net_exit rxe_netns_exit(struct net *net)
{
	struct rxe_recv_sockets *own = net_generic(net, rxe_netns_id);

	rxe_release_udp_tunnel(own->sk6);
	rxe_release_udp_tunnel(own->sk4);
}

static struct pernet_operations rxe_netns_ops = {
	.init = rxe_netns_init,
	.exit = rxe_netns_exit,
	.id = &rxe_netns_id,
	.size = sizeof(struct rxe_recv_sockets),
};

int rxe_net_init(void)
{
	int err = rxe_first_net_init();

	if (!err) {
		err = register_pernet_subsys(&rxe_netns_ops);
		if (err)
			rxe_first_net_exit();
	}
	return err;
}

void rxe_net_exit(void)
{
	unregister_pernet_subsys(&rxe_netns_ops);
	rxe_first_net_exit();
}
END
}

# What Linux 6.1's rxe does with packets that the netdev does not take, as while it goes down, hangs
# the machine; no program can help it. Here they are lost, as on a wire.
#   rxe_net.c  It sends them again at once, in a tasklet, for ever. That keeps a processor, so that
#              no RCU grace period ends, and who takes the netdev down waits for one.
#   rxe_req.c  Of rdma_cm's messages one fails, those behind it are flushed, but the requester stays
#              where it was: sent again by ib_mad they are never looked at, and who destroys their
#              rdma_cm id waits for ever, as does the removal of the device.
_mend_rxe() {
  sed -i 's/^\t\treturn -EAGAIN;$/\t\treturn 0;/' "$1/rxe_net.c" &&
    sed -i '/^err:$/r /dev/stdin' "$1/rxe_req.c" <<'END'
	if (qp_type(qp) == IB_QPT_GSI && qp->req.state == QP_STATE_READY) {
		qp->req.wqe_index = queue_next_index(qp->sq.queue,
						     qp->req.wqe_index);
		wqe->state = wqe_state_done;
		wqe->status = IB_WC_SUCCESS;
		rxe_sched_task(&qp->comp.task);
		goto done;
	}
END
}

# What lies below the netdev's own function, as adapters do, is found by device plugins.
_place_rxe() {
  sed -i 's/^\trxe->ndev = ndev;$/&\n\trxe->ib_dev.dev.parent = ndev->dev.parent;/' "$1/rxe_net.c"
}

# Linux 6.1's siw walks its queue pairs without a lock when a netdev goes down. One that is
# destroyed meanwhile leads it into freed memory: a general protection fault in siw_netdev_down,
# after which the machine hangs. This holds the one it is at, which stays in the list until then.
_mend_siw() {
  local variables='\tstruct siw_qp *qp = NULL, *next;\n\tunsigned long flags;'
  sed -i -e "s/^\tstruct list_head \*pos, \*tmp;\$/$variables/" \
    -e '/^\tlist_for_each_safe(pos, tmp, &sdev->qp_list) {$/,/^\t}$/{' -e '/safe/r /dev/stdin' \
    -e 'd' -e '}' "$1/siw_main.c" <<'END'
	do {
		spin_lock_irqsave(&sdev->lock, flags);
		next = list_prepare_entry(qp, &sdev->qp_list, devq);
		list_for_each_entry_continue(next, &sdev->qp_list, devq)
			if (kref_get_unless_zero(&next->ref))
				break;
		if (list_entry_is_head(next, &sdev->qp_list, devq))
			next = NULL;
		spin_unlock_irqrestore(&sdev->lock, flags);
		if (qp)
			siw_qp_put(qp);
		qp = next;
		if (qp) {
			down_write(&qp->state_lock);
			WARN_ON(siw_qp_modify(qp, &qp_attrs, SIW_QP_ATTR_STATE));
			up_write(&qp->state_lock);
		}
	} while (qp);
END
}

# _compile SOURCE NAME OPTION: siw or rxe.
_compile() {
  local source=$1 name=$2 option=$3 log
  log=$vm_tree/build-$name.log
  # Without the flags and the job server of a make that started this script.
  env -u MAKEFLAGS -u MFLAGS make -s -C "$source/usr/src/linux-headers-$vm_release" \
    M="$source/$name" "$option=m" modules >"$log" 2>&1 9>&- && return
  tail -n 30 "$log" >&2
  _say "building $name failed; the log is $log"
  return 1
}

# As vm_built/{siw,rdma_rxe}.ko.
_prepare_modules() {
  local source=$vm_tree/src series package software
  vm_built=$vm_tree/built-$(sha256sum "$room/modules.sh" | cut -c 1-12)
  [ ! -s "$vm_built/siw.ko" ] || [ ! -s "$vm_built/rdma_rxe.ko" ] || return 0
  series=$(cut -d. -f1,2 <<<"$vm_release")
  for package in "linux-headers-$vm_release" "linux-headers-${vm_release%-amd64}-common" \
    "linux-kbuild-$series" "linux-source-$series"; do
    _fetch "$package" "$source" || return
  done
  # The headers name where their package would have installed the rest.
  sed -i "s#^include /usr/src/#include $source/usr/src/#" \
    "$source/usr/src/linux-headers-$vm_release/Makefile" || return
  software=linux-source-$series/drivers/infiniband/sw
  _watched "unpacking siw and rxe" tar -xJf "$source/usr/src/linux-source-$series.tar.xz" \
    -C "$source" --strip-components=4 "$software/siw" "$software/rxe" || return
  _patch_rxe "$source/rxe/rxe_net.c" && _mend_rxe "$source/rxe" && _place_rxe "$source/rxe" &&
    _mend_siw "$source/siw" || return
  _watched "building siw" _compile "$source" siw CONFIG_RDMA_SIW || return
  _watched "building rxe" _compile "$source" rxe CONFIG_RDMA_RXE || return
  mkdir -p "$vm_built" && cp "$source/siw/siw.ko" "$source/rxe/rdma_rxe.ko" "$vm_built/" &&
    rm -rf "$source"
}
