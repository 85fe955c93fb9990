/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/far.h"

static void send_to(struct far *f, uint32_t qkey)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1};
	struct ibv_sge sge = {(uintptr_t)f->memory, 64, f->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};
	struct ibv_send_wr *bad;

	attr.grh.dgid = f->there.gid;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.ud.ah = ibv_create_ah(f->pd, &attr);
	wr.wr.ud.remote_qpn = f->there.qpn;
	wr.wr.ud.remote_qkey = qkey;
	ibv_post_send(f->qp, &wr, &bad); /* <- */
	far_wait(f);
	ibv_destroy_ah(wr.wr.ud.ah);
}

int main(void)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_UD);
	how.qkey = f.server ? 0x22222222 : FAR_QKEY;
	far_connect(&f, how); /* <- */
	if (!f.server)
		send_to(&f, FAR_QKEY);
	far_meet(&f);
	far_close(&f);
	return 0;
}
