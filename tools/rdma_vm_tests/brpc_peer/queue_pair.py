# SPDX-License-Identifier: Apache-2.0
"""A queue pair as brpc sets it up, by pyverbs (Debian's python3-pyverbs): each end makes its own,
and knows of the other one what its hello says."""

import contextlib
import ipaddress
import os
import select
import socket
import threading

import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

from credits import SPARE
from hello import Breach, Hello
from streams import Ended

_PORT = 1
_MOST_CHUNK = 65504
_SOME = 32
_REPORT, _DATA = 0, 1  # numbers of work requests
_opening = threading.Lock()


def _gid_of(context, address):
    """(its index, its 16 bytes) of this IPv4 address. Which one it is, a hello does not tell."""
    wanted = ipaddress.ip_address("::ffff:" + address).packed
    for index in range(context.query_port(_PORT).gid_tbl_len):
        if ipaddress.ip_address(context.query_gid(_PORT, index).gid).packed == wanted:
            return index, wanted
    raise OSError("the device has no GID of %s" % address)


def _event_descriptors():
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of listdir itself
            if "infinibandevent" in os.readlink("/proc/self/fd/" + name):
                found.add(int(name))
    return found


def _open(device):
    """The device, a channel of completions and its descriptor, which pyverbs does not tell. A
    device has such a descriptor, too, so that nobody else may open one meanwhile."""
    with _opening:
        context = Context(name=device)
        before = _event_descriptors()
        channel = CompChannel(context)
        return context, channel, (_event_descriptors() - before).pop()


class QueuePair:
    """`device`: its name; `address`: of this host, for the GID."""

    def __init__(self, device, address, block_size, sq_size, rq_size):
        self._sizes = (block_size, sq_size, rq_size)
        self._context, self._channel, self._fd = _open(device)
        self._gid_index, self._gid = _gid_of(self._context, address)
        self._pd = PD(self._context)
        self._receives = CQ(self._context, rq_size + 1, channel=self._channel)
        self._sends = CQ(self._context, sq_size + 1)
        caps = QPCap(max_send_wr=sq_size, max_recv_wr=rq_size, max_send_sge=1, max_recv_sge=1)
        self._qp = QP(self._pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self._sends,
                                           rcq=self._receives, cap=caps))  # fmt: skip
        self._inbox = MR(self._pd, rq_size * block_size, e.IBV_ACCESS_LOCAL_WRITE)
        self._outbox = None
        self.chunk = 0  # the most bytes of a data message
        self.too_large = 0  # the least that find no place in the other end's block
        self._places = self._next_place = 0
        self._work = []

    def close(self):
        self._context.close()  # and all that stands on it

    def hello(self, version):
        lid = self._context.query_port(_PORT).lid
        return Hello(version, *self._sizes, lid, self._gid, self._qp.qp_num)

    def fileno(self):
        return self._fd

    def bring_up(self, other):
        """To RTS, with all receives posted. The attributes are those that brpc has, but for the
        timeout: brpc's 14 gives up after half a second without an answer, and an emulated processor
        on a busy machine may stand still for as long."""
        self._receives.req_notify(True)
        self._make_outbox(other)
        attr = QPAttr(port_num=_PORT)
        attr.pkey_index = 0
        attr.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE
        self._qp.to_init(attr)
        self._post_receives()
        gid = GID(str(ipaddress.IPv6Address(other.gid).exploded))
        route = GlobalRoute(dgid=gid, sgid_index=self._gid_index, hop_limit=16)
        attr.ah_attr = AHAttr(dlid=other.lid, port_num=_PORT, is_global=1, gr=route)
        attr.path_mtu = e.IBV_MTU_1024
        attr.dest_qp_num = other.qp_num
        attr.rq_psn = attr.sq_psn = 0
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 0
        attr.min_rnr_timer = attr.rnr_retry = 0
        attr.timeout, attr.retry_cnt = 18, 7
        self._qp.to_rtr(attr)
        self._qp.to_rts(attr)

    def _make_outbox(self, other):
        """A place for each data message that may be under way."""
        self.chunk = min(other.block_size, _MOST_CHUNK)
        self._places = min(self._sizes[1], other.rq_size) - SPARE
        # And one for a message that is too large on purpose.
        self.too_large = other.block_size + 1
        size = self._places * self.chunk + self.too_large
        self._outbox = MR(self._pd, size, e.IBV_ACCESS_LOCAL_WRITE)

    def _post_receives(self):
        block, _, count = self._sizes
        for place in range(count):
            sge = SGE(self._inbox.buf + place * block, block, self._inbox.lkey)
            self._work.append(RecvWR(wr_id=place, num_sge=1, sg=[sge]))
            self._qp.post_recv(self._work[place])

    def send(self, data, reported, wake=True):
        """A data message that reports so many, or, without data, a bare report."""
        self._post(data, wake, e.IBV_WR_SEND_WITH_IMM, socket.htonl(reported))

    def send_unreported(self, data):
        """Without the report that each message of brpc has."""
        self._post(data, True, e.IBV_WR_SEND, 0)

    def _post(self, data, wake, opcode, immediate):
        offset = self._next_place * self.chunk
        if data:
            self._next_place = (self._next_place + 1) % self._places
            self._outbox.write(data, len(data), offset)
        sge = SGE(self._outbox.buf + offset, len(data), self._outbox.lkey)
        flags = e.IBV_SEND_SIGNALED | (e.IBV_SEND_SOLICITED if wake else 0)
        work = SendWR(wr_id=_DATA if data else _REPORT, opcode=opcode, num_sge=1, sg=[sge],
                      imm_data=immediate, send_flags=flags)  # fmt: skip
        work.num_sge = int(bool(data))
        self._qp.post_send(work)

    def sent(self):
        """How many data messages and bare reports have left since the last look."""
        done = [0, 0]
        for completion in self._all_of(self._sends):
            done[completion.wr_id == _REPORT] += 1
        return done

    def received(self):
        """Yields (bytes, reported) of each message, whose receive is posted again then. Only what
        the other end wants to be seen wakes this one, as brpc: it looks at nothing before."""
        if not select.select([self._fd], [], [], 0)[0]:
            return
        self._channel.get_cq_event(self._receives)
        self._receives.ack_events(1)
        self._receives.req_notify(True)
        for completion in self._all_of(self._receives):
            if not completion.wc_flags & e.IBV_WC_WITH_IMM:
                raise Breach("a message without a report")
            place, size = completion.wr_id, completion.byte_len
            data = self._inbox.read(size, place * self._sizes[0]) if size else b""
            self._qp.post_recv(self._work[place])
            yield data, socket.ntohl(completion.imm_data)

    def _all_of(self, queue):
        while True:
            count, completions = queue.poll(_SOME)
            for completion in completions:
                if completion.status != e.IBV_WC_SUCCESS:
                    raise Ended("its queue pair broke, status %d" % self._cause(completion.status))
                yield completion
            if count < _SOME:
                return

    def _cause(self, status):
        """What broke it, if that is seen: all else that was under way is flushed."""
        rest = [completion.status for queue in (self._sends, self._receives)
                for completion in queue.poll(_SOME)[1]]  # fmt: skip
        quiet = (e.IBV_WC_SUCCESS, e.IBV_WC_WR_FLUSH_ERR)
        return next((one for one in (status, *rest) if one not in quiet), status)
