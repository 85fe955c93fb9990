#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""pyverbs opens the device, asks it everything, makes one object of each kind, and is refused
with the right errno what is wrong or not there.

pyverbs_smoke.py DEVICE
"""
import errno
import sys

from pyverbs.addr import AHAttr, GlobalRoute, AH
from pyverbs.cq import CQ, CompChannel, CqInitAttrEx, CQEX
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR, MW
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.srq import SRQ, SrqInitAttr, SrqAttr

try:
    import pyverbs.enums as e
except ImportError:  # of releases since: in classes of their own
    import types
    import pyverbs.libibverbs_enums
    e = types.SimpleNamespace()
    for value in vars(pyverbs.libibverbs_enums).values():
        vars(e).update(getattr(value, "__members__", {}))
    vars(e).update(vars(pyverbs.libibverbs_enums))

RC_CAP = QPCap(4, 4, 1, 1, 0)


def refused(code, function, *args):
    try:
        function(*args)
    except PyverbsRDMAError as error:
        assert error.error_code == code, f"{function}{args}: {error}"
    else:
        raise AssertionError(f"{function}{args} is not refused")


def ask(ctx):
    attr = ctx.query_device()
    assert attr.max_qp > 0 and attr.max_cq > 0 and attr.max_mr > 0, "no limits"
    assert attr.vendor_id == 0x75CA and attr.vendor_part_id == 1, "identity"
    more = ctx.query_device_ex()
    assert more.orig_attr.max_qp == attr.max_qp, "query_device_ex differs"
    assert more.raw_packet_caps == 0, "features that are not there"
    assert more.max_dm_size > 0 and attr.max_mw > 0 and attr.max_mcast_grp > 0, "features"
    port = ctx.query_port(1)
    assert port.state == e.IBV_PORT_ACTIVE, f"port state {port.state}"
    assert port.link_layer == e.IBV_LINK_LAYER_ETHERNET, "no Ethernet link layer"
    assert port.active_mtu == e.IBV_MTU_4096, f"MTU {port.active_mtu}"
    for number in (0, 2, 255):
        refused(errno.EINVAL, ctx.query_port, number)
    assert ctx.query_pkey(1, 0) == 0xFFFF, "P_Key table"
    table = ctx.query_gid_table(port.gid_tbl_len)
    assert 0 < len(table) < port.gid_tbl_len, "an empty slot is left in the GID table"
    for entry in table:
        assert entry.gid_type == e.IBV_GID_TYPE_ROCE_V2, f"type of GID {entry.gid_index}"
        assert str(ctx.query_gid(1, entry.gid_index)) in str(entry), "the tables differ"
    refused(errno.ENODATA, ctx.query_gid_ex, 1, port.gid_tbl_len - 1)
    refused(errno.EINVAL, ctx.query_gid_ex, 1, port.gid_tbl_len)
    assert sum(ctx.query_rt_values_ex()) > 0, "the device's clock"
    CQEX(ctx, CqInitAttrEx(cqe=4)).close()
    gid = ctx.query_gid(1, 0)
    assert gid.gid.startswith("0000:0000:0000:0000:0000:ffff:7f"), f"GID 0 is {gid.gid}"
    return gid


def make_qp(pd, cq, kind):
    return QP(pd, QPInitAttr(qp_type=kind, scq=cq, rcq=cq, cap=RC_CAP))


def one_of_each(ctx, pd, channel, gid):
    mr = MR(pd, 4096, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_READ)
    mr.write("uhca", 4)
    assert mr.read(4, 0) == b"uhca", "memory"
    cq = CQ(ctx, 16, None, channel, 0)
    srq = SRQ(pd, SrqInitAttr(SrqAttr(max_wr=8)))
    qp = make_qp(pd, cq, e.IBV_QPT_RC)
    assert qp.qp_num > 1, "QP number"
    ah = AH(pd, attr=AHAttr(gr=GlobalRoute(dgid=gid, sgid_index=0), is_global=1, port_num=1))
    return ah, qp, srq, cq, mr


def states(pd, cq):
    """Transitions that are not in the table, and attributes that cannot be."""
    qp = make_qp(pd, cq, e.IBV_QPT_RC)
    for state in (e.IBV_QPS_RTR, e.IBV_QPS_RTS, e.IBV_QPS_SQD, e.IBV_QPS_SQE):
        refused(errno.EINVAL, qp.modify, QPAttr(qp_state=state), e.IBV_QP_STATE)
    init = QPAttr(qp_state=e.IBV_QPS_INIT, port_num=1)
    mask = e.IBV_QP_STATE | e.IBV_QP_PKEY_INDEX | e.IBV_QP_PORT | e.IBV_QP_ACCESS_FLAGS
    refused(errno.EINVAL, qp.modify, init, mask & ~e.IBV_QP_PORT)
    refused(errno.EINVAL, qp.modify, init, mask | e.IBV_QP_QKEY)
    refused(errno.EINVAL, qp.modify, QPAttr(qp_state=e.IBV_QPS_INIT, port_num=2), mask)
    attr, _ = qp.query(e.IBV_QP_STATE)
    assert attr.qp_state == e.IBV_QPS_RESET, "what was refused has changed the QP"
    qp.modify(init, mask)
    attr, _ = qp.query(e.IBV_QP_STATE)
    assert attr.qp_state == e.IBV_QPS_INIT, "INIT"
    qp.close()


def wrong(ctx, pd, cq):
    refused(errno.EINVAL, CQ, ctx, 0, None, None, 0)
    refused(errno.EINVAL, CQ, ctx, ctx.query_device().max_cqe + 1, None, None, 0)
    refused(errno.EINVAL, CQ, ctx, 4, None, None, ctx.num_comp_vectors)
    refused(errno.EINVAL, MR, pd, 4096, e.IBV_ACCESS_REMOTE_WRITE)
    refused(errno.EINVAL, SRQ, pd, SrqInitAttr(SrqAttr(max_wr=0)))
    refused(errno.EINVAL, lambda: AH(pd, attr=AHAttr(is_global=0, port_num=1)))
    refused(errno.EOPNOTSUPP, make_qp, pd, cq, e.IBV_QPT_DRIVER)
    refused(errno.EINVAL, MW, pd, 3)


def main():
    name = sys.argv[1]
    names = [d.name.decode() for d in get_device_list()]
    assert name in names, f"{name} is not among {names}"
    with Context(name=name) as ctx:
        gid = ask(ctx)
        with PD(ctx) as pd, CompChannel(ctx) as channel:
            ah, qp, srq, cq, mr = one_of_each(ctx, pd, channel, gid)
            states(pd, cq)
            wrong(ctx, pd, cq)
            for thing in (ah, qp, srq, cq, mr):
                thing.close()
    print("pyverbs: ok")


main()
