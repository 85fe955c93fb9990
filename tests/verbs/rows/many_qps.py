#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes N RC queue pairs, connects them two by two on one device, says "ready" and waits for the
end of its standard input. With CLIENTS it opens the device so often, and makes N for each.

many_qps.py N [DEVICE [CLIENTS]]
"""
import sys
from contextlib import ExitStack

from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
import pyverbs.enums as e

count = int(sys.argv[1])
name = sys.argv[2] if len(sys.argv) > 2 else "uhca0"
clients = int(sys.argv[3]) if len(sys.argv) > 3 else 1


def connect(qp, peer, gid):
    attr = QPAttr(port_num=1)
    attr.dest_qp_num = peer.qp_num
    attr.path_mtu = e.IBV_MTU_1024
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
    attr.min_rnr_timer = 12
    attr.timeout = 14
    attr.retry_cnt = attr.rnr_retry = 7
    attr.ah_attr = AHAttr(gr=GlobalRoute(dgid=gid, sgid_index=0), is_global=1, port_num=1)
    qp.to_rts(attr)


def open_client(stack):
    """The device once more, with its queue pairs; all are closed by the stack."""
    ctx = stack.enter_context(Context(name=name))
    pd = stack.enter_context(PD(ctx))
    cq = stack.enter_context(CQ(ctx, 1024))
    gid = ctx.query_gid(1, 0)
    init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(16, 16, 1, 1, 0))
    qps = [stack.enter_context(QP(pd, init, QPAttr(port_num=1))) for _ in range(count)]
    for a, b in zip(qps[0::2], qps[1::2]):
        connect(a, b, gid)
        connect(b, a, gid)


with ExitStack() as opened:
    for _ in range(clients):
        open_client(opened)
    print("ready", flush=True)
    sys.stdin.read()
