/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs that work with every adapter their author had, and lean on what nobody promises:
 *
 *	chaos_wrong opcode|order|keys|event|last-byte|shared-order|grh|number|list [right]
 *
 * With "right" the same is done as it should be. Ends with 1 when it was misled. Run by chaos.sh.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 8

static bool right;
static struct ibv_mr *target; /* of WRITEs; the world's own region allows none */

static int misled(const char *how)
{
	fprintf(stderr, "misled: %s\n", how);
	return 1;
}

static void write_to(struct world *w, struct ibv_qp *qp, uint32_t rkey, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, 16, w->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .opcode = IBV_WR_RDMA_WRITE,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1};

	wr.wr.rdma.remote_addr = (uintptr_t)w->memory + WORLD_SIZE / 2;
	wr.wr.rdma.rkey = rkey;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

/* A completion with an error has no opcode. */
static int opcode(struct world *w)
{
	struct ibv_qp *qp[2];
	struct ibv_wc wc;
	bool is_write;

	world_qp_pair(w, qp, IBV_QPS_RTS);
	write_to(w, qp[0], w->mr->rkey, 7);
	world_poll(w->cq, &wc);
	is_write = right ? wc.wr_id == 7 : wc.opcode == IBV_WC_RDMA_WRITE;
	assert_int_not_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_destroy_qp(qp[0]) | ibv_destroy_qp(qp[1]), 0);
	return is_write ? 0 : misled("what failed was no WRITE");
}

/* Two QPs have one CQ: which of them completes first? */
static int order(struct world *w)
{
	struct ibv_qp *qp[2] = {world_qp(w, NULL), world_qp(w, NULL)};
	int status = 0;

	for (uint64_t round = 0; round < ROUNDS && status == 0; round++) {
		struct ibv_wc wc[2];

		w->memory[0] = (uint8_t)(round + 1);
		write_to(w, qp[0], target->rkey, 0);
		while (*(volatile uint8_t *)(w->memory + WORLD_SIZE / 2) != round + 1)
			sched_yield();
		write_to(w, qp[1], target->rkey, 1);
		world_poll(w->cq, &wc[0]);
		world_poll(w->cq, &wc[1]);
		assert_int_equal(wc[0].status | wc[1].status, IBV_WC_SUCCESS);
		if (!right && wc[0].wr_id != 0)
			status = misled("the first to be posted was not the first to complete");
	}
	assert_int_equal(ibv_destroy_qp(qp[0]) | ibv_destroy_qp(qp[1]), 0);
	return status;
}

/* An L_Key is no R_Key. */
static int keys(struct world *w)
{
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_wc wc;

	write_to(w, qp, right ? target->rkey : target->lkey, 7);
	world_poll(w->cq, &wc);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return wc.status == IBV_WC_SUCCESS ? 0 : misled(ibv_wc_status_str(wc.status));
}

static void wait_for_event(struct world *w)
{
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

/* An event is no completion: it may have none. */
static int event(struct world *w)
{
	struct ibv_qp *qp = world_qp(w, NULL);
	int got = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct ibv_wc wc;

		assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
		write_to(w, qp, target->rkey, 7);
		do {
			wait_for_event(w);
			assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
			got = ibv_poll_cq(w->cq, 1, &wc);
		} while (right && got == 0);
		if (got != 1)
			break;
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return got == 1 ? 0 : misled("an event without a completion");
}

static struct ibv_qp *silent_qp(struct world *w)
{
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *qp;

	attr.sq_sig_all = 0;
	qp = ibv_create_qp(w->pd, &attr);
	assert_non_null(qp);
	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	return qp;
}

static void write_all(struct world *w, struct ibv_qp *qp, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, WORLD_SIZE / 2, w->mr->lkey};
	struct ibv_send_wr *bad,
		wr = {.opcode = opcode,
		      .send_flags = opcode == IBV_WR_RDMA_WRITE ? 0 : IBV_SEND_SIGNALED,
		      .sg_list = &sge,
		      .num_sge = 1};

	wr.wr.rdma.remote_addr = (uintptr_t)w->memory + WORLD_SIZE / 2;
	wr.wr.rdma.rkey = target->rkey;
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static void wait_for_receive(struct world *w)
{
	struct ibv_wc wc[2];

	for (unsigned i = 0; i < 2; i++)
		world_poll(w->cq, &wc[i]);
	assert_int_equal(wc[0].status | wc[1].status, IBV_WC_SUCCESS);
}

/* The last byte of a WRITE is there: are all others? */
static int last_byte(struct world *w)
{
	const volatile uint8_t *to = w->memory + WORLD_SIZE / 2;
	struct ibv_qp *qp = silent_qp(w);
	struct ibv_recv_wr *bad, empty = {.wr_id = 1};
	bool whole = true;

	for (unsigned round = 1; round <= 10 * ROUNDS && whole; round++) {
		memset(w->memory, (int)round, WORLD_SIZE / 2);
		assert_int_equal(ibv_post_recv(qp, &empty, &bad), 0);
		write_all(w, qp, right ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE);
		if (right)
			wait_for_receive(w);
		while (to[WORLD_SIZE / 2 - 1] != round)
			sched_yield();
		whole = to[0] == round && to[WORLD_SIZE / 4] == round;
		if (!right) { /* the message that would have said it */
			write_all(w, qp, IBV_WR_RDMA_WRITE_WITH_IMM);
			wait_for_receive(w);
		}
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return whole ? 0 : misled("the last byte came before the first");
}

static void post_shared(struct world *w, struct ibv_srq *srq, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)w->memory + WORLD_SIZE / 2 + 8 * wr_id, 8, w->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
}

static void send_number(struct world *w, struct ibv_qp *qp, uint64_t n)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, 8, w->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = ROUNDS,
				       .opcode = IBV_WR_SEND,
				       .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
				       .sg_list = &sge,
				       .num_sge = 1};

	memcpy(w->memory, &n, 8);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

/* Is the first message in the first buffer that was posted to the shared queue? */
static int shared_order(struct world *w)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = ROUNDS, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_qp *qp;
	bool matches = true;
	uint64_t next = 0;

	assert_non_null(srq);
	qp = world_qp(w, srq);
	for (uint64_t i = 0; i < ROUNDS; i++)
		post_shared(w, srq, i);
	for (uint64_t i = 0; i < ROUNDS; i++)
		send_number(w, qp, i);
	for (unsigned i = 0; i < 2 * ROUNDS; i++) {
		struct ibv_wc wc;
		uint64_t got;

		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		if (wc.wr_id == ROUNDS)
			continue;
		memcpy(&got, w->memory + WORLD_SIZE / 2 + 8 * (right ? wc.wr_id : next), 8);
		matches = matches && got == next++;
	}
	assert_int_equal(ibv_destroy_qp(qp) | ibv_destroy_srq(srq), 0);
	return matches ? 0 : misled("the first message was not in the first buffer");
}

/* Is what is in front of a datagram an IPv4 header? */
static int grh(struct world *w)
{
	struct ibv_ah_attr self = world_own_address(w->ctx);
	struct ibv_ah *ah = ibv_create_ah(w->pd, &self);
	struct ibv_qp *qp = world_datagram_qp(w);
	uint8_t *to = w->memory + WORLD_SIZE / 2;
	struct ibv_sge room = {(uintptr_t)to, 64, w->mr->lkey};
	struct ibv_recv_wr *bad_recv, recv = {.sg_list = &room, .num_sge = 1};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	bool is_ipv4 = true;

	assert_non_null(ah);
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = qp->qp_num;
	wr.wr.ud.remote_qkey = WORLD_QKEY;
	for (unsigned i = 0; i < ROUNDS && is_ipv4; i++) {
		struct ibv_wc wc;

		assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
		assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
		world_poll(w->cq, &wc);
		if (i == 0 && ibv_poll_cq(w->cq, 1, &wc) == 0)
			world_poll(w->cq, &wc);
		is_ipv4 = right ? to[20] == 0x45 : to[0] == 0;
	}
	assert_int_equal(ibv_destroy_qp(qp) | ibv_destroy_ah(ah), 0);
	return is_ipv4 ? 0 : misled("an IPv4 header is taken for another");
}

struct connection {
	const struct ibv_context *device;
	uint32_t qp_num;
};

static unsigned look_up(const struct connection *all, const struct ibv_context *device,
			uint32_t qp_num)
{
	unsigned i = 0;

	while (all[i].qp_num != qp_num || (right && all[i].device != device))
		i++;
	return i;
}

static struct ibv_qp *qp_in_init(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq, .cap = {1, 1, 1, 1, 0}};
	struct ibv_qp *qp = ibv_create_qp(pd, &attr);

	assert_non_null(qp);
	world_connect(qp, qp->qp_num, IBV_QPS_INIT);
	return qp;
}

/* Two devices: whose completion is it? */
static int number(struct world *w)
{
	struct ibv_pd *pd = ibv_alloc_pd(w->other);
	struct ibv_cq *cq = ibv_create_cq(w->other, 1, NULL, NULL, 0);
	struct ibv_qp *first = qp_in_init(w->pd, w->cq), *second = qp_in_init(pd, cq);
	const struct connection all[] = {{w->ctx, first->qp_num}, {w->other, second->qp_num}};
	struct ibv_recv_wr *bad, empty = {.wr_id = 1};
	struct ibv_wc wc;
	unsigned found;

	assert_int_equal(ibv_post_recv(second, &empty, &bad), 0);
	assert_int_equal(
		ibv_modify_qp(second, &(struct ibv_qp_attr){.qp_state = IBV_QPS_ERR}, IBV_QP_STATE),
		0);
	world_poll(cq, &wc);
	found = look_up(all, w->other, wc.qp_num);
	assert_int_equal(ibv_destroy_qp(first) | ibv_destroy_qp(second), 0);
	assert_int_equal(ibv_destroy_cq(cq) | ibv_dealloc_pd(pd), 0);
	return found == 1 ? 0 : misled("the number is that of another device's queue pair");
}

/* A list is refused: from where on is it posted again? */
static int list(struct world *w)
{
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_sge sge = {(uintptr_t)w->memory, 16, w->mr->lkey};
	unsigned completed = 0;

	for (unsigned round = 0; round < 20 * ROUNDS && completed == 4 * round; round++) {
		struct ibv_send_wr wr[4], *from = wr, *bad;
		struct ibv_wc wc;

		for (unsigned i = 0; i < 4; i++) {
			wr[i] = (struct ibv_send_wr){.wr_id = i,
						     .next = i < 3 ? &wr[i + 1] : NULL,
						     .opcode = IBV_WR_RDMA_WRITE,
						     .send_flags = IBV_SEND_SIGNALED,
						     .sg_list = &sge,
						     .num_sge = 1};
			wr[i].wr.rdma.remote_addr = (uintptr_t)w->memory + WORLD_SIZE / 2;
			wr[i].wr.rdma.rkey = target->rkey;
		}
		while (ibv_post_send(qp, from, &bad) == ENOMEM)
			from = right ? bad : wr;
		do {
			world_poll(w->cq, &wc);
			completed++;
		} while (wc.wr_id != 3);
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return completed == 80 * ROUNDS ? 0 : misled("requests of a list were posted twice");
}

static void register_target(const struct world *w)
{
	target = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	assert_non_null(target);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct world *w);
	} all[] = {{"opcode", opcode}, {"order", order},         {"keys", keys},
		   {"event", event},   {"last-byte", last_byte}, {"shared-order", shared_order},
		   {"grh", grh},       {"number", number},       {"list", list}};
	void *state;
	int status = 2;

	right = argc > 2 && strcmp(argv[2], "right") == 0;
	for (unsigned i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++) {
		if (strcmp(argv[1], all[i].name) != 0)
			continue;
		world_setup(&state);
		register_target(state);
		status = all[i].run(state);
		assert_int_equal(ibv_dereg_mr(target), 0);
		world_teardown(&state);
	}
	return status;
}
