/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completions that a rule changes, holds up or takes away, queues that fail: what a program that
 * polls sees. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define LIST 6u

static void post(struct world *w, struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, 16, w->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = wr_id,
				       .opcode = opcode,
				       .imm_data = htonl(5),
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = opcode != IBV_WR_RDMA_WRITE};

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static void post_recv(struct world *w, struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)w->memory + WORLD_SIZE / 2, 64, w->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	return attr.qp_state;
}

static struct ibv_wc next(struct world *w, uint64_t wr_id)
{
	struct ibv_wc wc;

	world_poll(w->cq, &wc);
	assert_int_equal(wc.wr_id, wr_id);
	return wc;
}

/* Each part of one, where the selectors say so; the queue pair goes on. */
static void test_set(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int status = faulty_add("cqe.set=status:REM_ACCESS_ERR wc=SUCCESS wc.opcode=SEND nth=2");
	int vendor = faulty_add("cqe.set=vendor:0x77 wc.opcode=SEND nth=2");
	int length = faulty_add("cqe.set=length:9 wc.opcode=RECV nth=1");
	int imm = faulty_add("cqe.set=imm:0x12345678 wc.opcode=RECV nth=2");
	struct ibv_wc wc[2];

	for (unsigned i = 0; i < 2; i++) {
		post_recv(w, qp, 10);
		post(w, qp, IBV_WR_SEND_WITH_IMM, 20);
		for (unsigned k = 0; k < 2; k++) {
			struct ibv_wc one;

			world_poll(w->cq, &one);
			wc[one.wr_id / 20] = one;
		}
		assert_int_equal(wc[0].wr_id, 10);
		assert_int_equal(wc[0].byte_len, i ? 16 : 9);
		assert_int_equal(ntohl(wc[0].imm_data), i ? 0x12345678 : 5);
		assert_int_equal(wc[1].status, i ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS);
		assert_int_equal(wc[1].vendor_err, i ? 0x77 : 0);
	}
	assert_int_equal(state_of(qp), IBV_QPS_RTS);
	faulty_end(status, 1);
	faulty_end(vendor, 1);
	faulty_end(length, 1);
	faulty_end(imm, 1);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* One is late: the others of its CQ wait for it, in order; the arming holds. */
static void test_delay(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct pollfd p = {.fd = w->channel->fd, .events = POLLIN};
	uint64_t begin = faulty_now();
	int rule = faulty_add("cqe.delay=300ms nth=2");
	struct ibv_cq *cq;
	void *context;

	post(w, qp, IBV_WR_RDMA_WRITE, 0);
	next(w, 0);
	assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
	for (uint64_t i = 1; i < LIST; i++)
		post(w, qp, IBV_WR_RDMA_WRITE, i);
	assert_int_equal(poll(&p, 1, FAULTY_DEADLINE), 1);
	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
	for (uint64_t i = 1; i < LIST; i++)
		assert_int_equal(next(w, i).status, IBV_WC_SUCCESS);
	assert_true(faulty_now() - begin >= 290);
	faulty_end(rule, 1);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* What is late when its queue pair is reset or destroyed never comes. */
static void test_delay_and_end(void **state)
{
	struct world *w = *state;
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp *qp = world_qp(w, NULL), *gone = world_qp(w, NULL);
	int rule = faulty_add("cqe.delay=200ms first=2");
	struct ibv_wc wc;

	post(w, qp, IBV_WR_RDMA_WRITE, 1);
	post(w, gone, IBV_WR_RDMA_WRITE, 2);
	faulty_end(rule, 2);
	assert_int_equal(ibv_modify_qp(qp, &reset, IBV_QP_STATE), 0);
	assert_int_equal(ibv_destroy_qp(gone), 0);
	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	/* Nothing of this CQ overtakes what is late: what comes next came after it. */
	post(w, qp, IBV_WR_RDMA_WRITE, 3);
	next(w, 3);
	assert_int_equal(ibv_poll_cq(w->cq, 1, &wc), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* It never comes; the queue has room for more all the same. */
static void test_withhold(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int rule = faulty_add("cqe.withhold wc.opcode=RDMA_WRITE nth=3");

	for (uint64_t i = 0; i < 3 * WORLD_WR; i++) {
		post(w, qp, IBV_WR_RDMA_WRITE, i);
		if (i != 2)
			next(w, i);
	}
	faulty_end(rule, 1);
	assert_int_equal(state_of(qp), IBV_QPS_RTS);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* The queue pair fails by itself: each request is flushed once, sends and receives, QP_FATAL. */
static void test_flush_storm(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_async_event e;
	unsigned sends = 0, recvs = 0;
	struct ibv_wc wc;
	char text[100];
	int rule;

	snprintf(text, sizeof(text), "drop qp=%u opcode=request", qp->qp_num);
	rule = faulty_add(text); /* so that they are outstanding */
	for (uint64_t i = 0; i < WORLD_WR; i++) {
		post_recv(w, qp, 100 + i);
		post(w, qp, IBV_WR_SEND, i);
	}
	snprintf(text, sizeof(text), "qp.error at=time qp=%u after=1ms", qp->qp_num);
	faulty_end(faulty_add(text), 1);
	for (unsigned i = 0; i < 2 * WORLD_WR; i++) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, wc.wr_id < 100 ? sends++ : 100 + recvs++);
	}
	assert_int_equal(sends, WORLD_WR);
	assert_int_equal(ibv_poll_cq(w->cq, 1, &wc), 0);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_QP_FATAL);
	assert_ptr_equal(e.element.qp, qp);
	assert_int_equal(state_of(qp), IBV_QPS_ERR);
	assert_true(uhcactl_fault_remove(faulty_ctl(), rule, NULL) >= 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* The CQ is full long before it is: CQ_ERR, its queue pair fails, others do not notice. */
static void test_overrun(void **state)
{
	struct world *w = *state;
	struct ibv_cq *cq = ibv_create_cq(w->ctx, 16, NULL, NULL, 0);
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *victim, *qp = world_qp(w, NULL);
	struct ibv_async_event e;
	struct ibv_wc wc;
	char text[100];
	int rule;

	attr.send_cq = attr.recv_cq = cq;
	victim = ibv_create_qp(w->pd, &attr);
	world_connect(victim, victim->qp_num, IBV_QPS_RTS);
	snprintf(text, sizeof(text), "cqe.overrun qp=%u nth=2", victim->qp_num);
	rule = faulty_add(text);
	for (unsigned i = 0; i < 4; i++)
		post(w, victim, IBV_WR_RDMA_WRITE, i);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(e.element.cq, cq);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_QP_FATAL);
	assert_ptr_equal(e.element.qp, victim);
	assert_int_equal(state_of(victim), IBV_QPS_ERR);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 0);
	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
	faulty_end(rule, 1);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(victim), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, faulty_setup, faulty_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_set),      CASE(test_delay),       CASE(test_delay_and_end),
		CASE(test_withhold), CASE(test_flush_storm), CASE(test_overrun),
	};

	return cmocka_run_group_tests_name("fault_completions", tests, NULL, NULL);
}
