/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of all kinds are destroyed twice, closed or acknowledged: each second time is refused.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rdma/rdma_cma.h>

static bool mended;

/* Calls it again, where it is to be wrong; it says EINVAL, by whatever way. */
#define AGAIN(call)                                                                                \
	do {                                                                                       \
		int answer = mended ? EINVAL : (call);                                             \
		pair_must(answer == EINVAL || (answer == -1 && errno == EINVAL), #call);           \
	} while (0)

static void keys_and_handles(struct pair *p)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, p->a.memory, 64, 0);
	struct ibv_mw *mw = ibv_alloc_mw(p->pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.bind_info = {p->a.mr, (uintptr_t)p->a.memory, 64, 0}};
	struct ibv_ah *ah = pair_address(p);
	struct ibv_qp *qp = pair_datagram(p);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .wr.ud = {ah, 1, 1}}, *bad;

	pair_must(mr && mw, "a region and a window");
	pair_must(!ibv_dereg_mr(mr) && !ibv_dealloc_mw(mw) && !ibv_destroy_ah(ah), "their ends");
	AGAIN(ibv_dereg_mr(mr));
	AGAIN(ibv_dealloc_mw(mw));
	AGAIN(ibv_bind_mw(p->a.qp, mw, &bind));
	AGAIN(ibv_destroy_ah(ah));
	AGAIN(ibv_post_send(qp, &wr, &bad));
	pair_must(mended || bad == &wr, "which request it was");
	ibv_destroy_qp(qp);
}

static void queues(struct pair *p)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(p->context);
	struct ibv_cq *cq = ibv_create_cq(p->context, 4, NULL, channel, 0);
	struct ibv_srq_init_attr init = {.attr = {4, 1, 0}};
	struct ibv_srq *srq = ibv_create_srq(p->pd, &init);
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = p->a.cq};
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;

	pair_must(cq && srq, "queues");
	pair_must(!ibv_destroy_cq(cq) && !ibv_destroy_srq(srq) &&
			  !ibv_destroy_comp_channel(channel),
		  "their ends");
	AGAIN(ibv_destroy_srq(srq));
	AGAIN(ibv_post_srq_recv(srq, &wr, &bad));
	AGAIN(ibv_req_notify_cq(cq, 0));
	AGAIN(ibv_destroy_comp_channel(channel));
	AGAIN(ibv_create_qp(p->pd, &attr) ? 0 : errno);
	AGAIN(ibv_create_cq(p->context, 4, NULL, channel, 0) ? 0 : errno);
	if (!mended)
		ibv_ack_cq_events(cq, 1);
}

static void connections(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	pair_must(channel && !rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), "an id");
	pair_must(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000) &&
			  !rdma_get_cm_event(channel, &event) && !rdma_ack_cm_event(event),
		  "an event");
	AGAIN(rdma_ack_cm_event(event));
	pair_must(!rdma_destroy_id(id), "rdma_destroy_id");
	AGAIN(rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	AGAIN(rdma_get_cm_event(channel, &event));
}

int main(int argc, char **argv)
{
	struct ibv_context *context;
	struct pair p;

	mended = pair_mended(argc, argv);
	pair_open(&p);
	keys_and_handles(&p);
	queues(&p);
	connections();
	context = p.context;
	pair_close(&p);
	if (!mended)
		ibv_close_device(context);
	return 0;
}
