/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server tells its R_Key by rdma_accept, and deregisters the region too early.
 *
 * Found by: rkey-dead
 */
#include "tests/verbs/sanitize/meet.h"
#include "tests/verbs/sanitize/pair.h"

#include <string.h>

struct place {
	uint64_t addr;
	uint32_t rkey;
};

static char memory[4096];

static struct ibv_mr *open_memory(struct rdma_cm_id *id)
{
	struct ibv_mr *mr = ibv_reg_mr(id->pd, memory, sizeof(memory),
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

	pair_must(mr != NULL, "ibv_reg_mr");
	return mr;
}

static void serve(struct rdma_cm_id *listener, bool mended)
{
	struct rdma_cm_id *id = meet_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct rdma_conn_param how = {.rnr_retry_count = 6};
	struct ibv_mr *mr;
	struct place at;

	meet_qp(id);
	mr = open_memory(id);
	at = (struct place){(uintptr_t)memory, mr->rkey};
	how.private_data = &at;
	how.private_data_len = sizeof(at);
	if (!mended)
		ibv_dereg_mr(mr); /* <- */
	pair_must(!rdma_accept(id, &how), "rdma_accept");
	meet_event(listener->channel, RDMA_CM_EVENT_ESTABLISHED);
	meet_event(listener->channel, RDMA_CM_EVENT_DISCONNECTED);
	if (mended)
		ibv_dereg_mr(mr);
	meet_end(id);
	meet_end(listener);
}

static struct place learn(struct rdma_cm_id *id)
{
	struct rdma_cm_event *event;
	struct place at;

	pair_must(!rdma_get_cm_event(id->channel, &event) &&
			  event->event == RDMA_CM_EVENT_ESTABLISHED,
		  "a connection");
	memcpy(&at, event->param.conn.private_data, sizeof(at));
	rdma_ack_cm_event(event);
	return at;
}

static void write_to(struct rdma_cm_id *id, struct place at)
{
	struct ibv_mr *mr = open_memory(id);
	struct ibv_sge sge = {(uintptr_t)memory, 64, mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {at.addr, at.rkey}};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	pair_must(!ibv_post_send(id->qp, &wr, &bad), "ibv_post_send"); /* <- */
	while (!ibv_poll_cq(id->send_cq, 1, &wc))
		;
	ibv_dereg_mr(mr);
}

int main(int argc, char **argv)
{
	uint16_t port;
	struct rdma_cm_id *listener = meet_fork(4, &port), *id;

	if (listener) {
		serve(listener, pair_mended(argc, argv));
	} else {
		id = meet_call(port);
		meet_connect(id);
		write_to(id, learn(id));
		pair_must(!rdma_disconnect(id), "rdma_disconnect");
		meet_end(id);
	}
	meet_part(listener);
	return 0;
}
