/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server does not move its queue pair to RTR, and the client ends after its datagram without
 * destroying anything.
 *
 * Found by: conn-unanswered
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <stdlib.h>

static void send_to(struct far *f, uint32_t length, bool mended)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1, .grh = {.dgid = f->there.gid, .hop_limit = 1}};
	struct ibv_ah *ah = ibv_create_ah(f->pd, &attr);
	struct ibv_sge sge = {(uintptr_t)f->memory, length, f->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.ud = {ah, f->there.qpn, FAR_QKEY}};
	struct ibv_send_wr *bad;

	pair_must(ah && !ibv_post_send(f->qp, &wr, &bad), "ibv_post_send"); /* <- */
	far_wait(f);
	if (!mended)
		exit(1);
	ibv_destroy_ah(ah);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct far f;

	far_open(&f, IBV_QPT_UD);
	far_init(&f, far_usual()); /* <- */
	if (!f.server || mended)
		far_rtr(&f, far_usual());
	if (f.server)
		far_recv(&f, 128);
	else
		far_rts(&f, far_usual());
	far_meet(&f);
	if (!f.server)
		send_to(&f, 64, mended);
	if (mended)
		far_meet(&f);
	else
		far_hear_end(&f); /* the server */
	far_close(&f);
	return 0;
}
