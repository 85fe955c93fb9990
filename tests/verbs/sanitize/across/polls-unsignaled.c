/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The client polls for the completion of a SEND that is not signaled, and the server waits on their
 * socket for the word that it is done: this waits for ever.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

static void send_one(struct far *f, unsigned flags)
{
	struct ibv_sge sge = {(uintptr_t)f->memory, 64, f->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = flags},
			   *bad;
	struct ibv_wc wc;

	pair_must(!ibv_post_send(f->qp, &wr, &bad), "ibv_post_send");
	while (!ibv_poll_cq(f->cq, 1, &wc)) /* <- */
		;
}

int main(int argc, char **argv)
{
	struct far f;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (f.server)
		far_recv(&f, 64);
	far_meet(&f);
	if (f.server)
		far_wait(&f);
	else
		send_one(&f, pair_mended(argc, argv) ? IBV_SEND_SIGNALED : 0);
	far_meet(&f);
	far_close(&f);
	return 0;
}
