#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""pyverbs opens the device and makes one object of each kind; the attributes make sense."""
import sys

from pyverbs.addr import AHAttr, GlobalRoute, AH
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqInitAttr, SrqAttr
import pyverbs.enums as e

name = sys.argv[1]
names = [d.name.decode() for d in get_device_list()]
assert name in names, f"{name} is not among {names}"
with Context(name=name) as ctx:
    attr = ctx.query_device()
    assert attr.max_qp > 0 and attr.max_cq > 0 and attr.max_mr > 0, "no limits"
    port = ctx.query_port(1)
    assert port.state == e.IBV_PORT_ACTIVE, f"port state {port.state}"
    assert port.link_layer == e.IBV_LINK_LAYER_ETHERNET, "no Ethernet link layer"
    assert ctx.query_pkey(1, 0) == 0xFFFF, "P_Key table"
    gid = ctx.query_gid(1, 0)
    assert gid.gid.endswith("7f00:0001"), f"GID 0 is {gid.gid}"
    with PD(ctx) as pd, CompChannel(ctx) as channel:
        mr = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
        mr.write("uhca", 4)
        assert mr.read(4, 0) == b"uhca", "memory"
        cq = CQ(ctx, 16, None, channel, 0)
        srq = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=8)))
        qp = QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=QPCap(4, 4, 1, 1, 0)))
        assert qp.qp_num > 1, "QP number"
        ah = AH(pd, attr=AHAttr(gr=GlobalRoute(dgid=gid, sgid_index=0), is_global=1, port_num=1))
        for thing in (ah, qp, srq, cq, mr):
            thing.close()
print("pyverbs: ok")
