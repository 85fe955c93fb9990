/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each end takes a Q_Key of its own.
 *
 * Found by: qkey-mismatch
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static void send_to(struct far *f, uint32_t qkey)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1, .grh = {.dgid = f->there.gid, .hop_limit = 1}};
	struct ibv_ah *ah = ibv_create_ah(f->pd, &attr);
	struct ibv_sge sge = {(uintptr_t)f->memory, 64, f->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {ah, f->there.qpn, qkey}};
	struct ibv_send_wr *bad;

	pair_must(ah && !ibv_post_send(f->qp, &wr, &bad), "ibv_post_send"); /* <- */
	far_wait(f);
	ibv_destroy_ah(ah);
}

int main(int argc, char **argv)
{
	struct far_link how = far_usual();
	struct far f;

	far_open(&f, IBV_QPT_UD);
	if (f.server && !pair_mended(argc, argv))
		how.qkey = 0x22222222;
	far_connect(&f, how); /* <- */
	if (!f.server)
		send_to(&f, FAR_QKEY);
	far_meet(&f);
	far_close(&f);
	return 0;
}
