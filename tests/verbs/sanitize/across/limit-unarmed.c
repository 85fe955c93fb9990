/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server refills its SRQ when the device tells that it runs low. It never asked for that, and
 * waits for ever, while the client waits on their socket.
 *
 * Found by: peer-waits
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#define RECEIVES 4
#define LOW      2

static void post_shared(struct far *f, struct ibv_srq *srq)
{
	struct ibv_sge sge = {(uintptr_t)f->memory + FAR_MEMORY / 2, 64, f->mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (int i = 0; i < RECEIVES; i++) {
		pair_must(!ibv_post_srq_recv(srq, &wr, &bad), "ibv_post_srq_recv");
		sge.addr += 64;
	}
}

static void wait_until_low(struct far *f)
{
	struct ibv_async_event event;

	do {
		pair_must(!ibv_get_async_event(f->context, &event), "an event"); /* <- */
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_SRQ_LIMIT_REACHED);
}

int main(int argc, char **argv)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 2 * RECEIVES, .max_sge = 1}};
	struct ibv_srq_attr limit = {.srq_limit = LOW};
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct ibv_srq *srq;
	struct far f;

	far_fork(&f);
	far_open_device(&f);
	srq = ibv_create_srq(f.pd, &attr);
	pair_must(srq != NULL, "an SRQ");
	f.qp = far_qp(&f, IBV_QPT_RC, f.pd, srq);
	far_exchange(&f);
	far_connect(&f, far_usual());
	post_shared(&f, srq);
	if (f.server && pair_mended(argc, argv))
		pair_must(!ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), "a limit");
	far_meet(&f);
	for (int i = 0; !f.server && i < RECEIVES; i++) {
		far_post(&f, IBV_WR_SEND, 64);
		far_wait(&f);
	}
	if (f.server)
		wait_until_low(&f);
	far_meet(&f);
	pair_must(!ibv_modify_qp(f.qp, &error, IBV_QP_STATE) && !ibv_destroy_qp(f.qp) &&
			  !ibv_destroy_srq(srq),
		  "their end");
	f.qp = NULL;
	far_close(&f);
	return 0;
}
