/* SPDX-License-Identifier: BSD-2-Clause */
/* Work queues and tables: sizes, states, flushing, frames that fit and that do not, refusals. */
#include "tests/sim/world/pair.h"

#include "emu/core/queues/wq.h"

#include <errno.h>

enum { RESET, RDY, ERR };

struct queue {
	struct pair p;
	struct uhca_cmd_create_srq_reply r;
	struct core_ring ring;
	struct wq *wq;
	uint32_t producer;
};

static void start(struct queue *q)
{
	struct uhca_cmd_create_wq in = {.cookie = (uintptr_t)q, .max_wr = 5, .max_sge = 0};
	struct client *c;

	pair_create(&q->p, &(struct pair_options){0});
	c = q->p.a.c.core;
	in.pd = q->p.a.c.pd;
	in.cq = q->p.a.cq.handle;
	q->producer = 0;
	assert_int_equal(core_create_wq(c, &in, &q->r, &q->ring), 0);
	assert_int_equal(client_find(c, &c->dev->wqs, q->r.handle, &q->wq), 0);
}

static void finish(struct queue *q)
{
	assert_int_equal(core_destroy_wq(q->p.a.c.core, q->r.handle), 0);
	side_ignore(&q->p.a, 0, 4096);
	pair_finish(&q->p);
}

static void post(struct queue *q, uint64_t wr_id, uint32_t length, uint32_t lkey)
{
	struct uhca_abi_queue *page = q->ring.base;
	uint8_t *slot = (uint8_t *)q->ring.base + q->r.recv.offset +
			(q->producer & (q->r.recv.entries - 1)) * q->r.recv.stride;
	struct uhca_abi_recv_wqe wqe = {.wr_id = wr_id, .num_sge = 1};
	struct uhca_abi_sge sge = {q->p.a.mr.addr, length, lkey};

	memcpy(slot, &wqe, sizeof(wqe));
	memcpy(slot + sizeof(wqe), &sge, sizeof(sge));
	uhca_ring_publish(&page->recv.producer, ++q->producer);
}

static int go(struct queue *q, uint32_t state)
{
	struct uhca_cmd_modify_wq in = {
		.handle = q->r.handle, .attr_mask = IBV_WQ_ATTR_STATE, .wq_state = state};

	return core_modify_wq(q->p.a.c.core, &in, 0);
}

static void frame(struct queue *q, uint32_t length)
{
	static uint8_t bytes[2000];

	wq_receive(q->wq, &(struct core_frame){bytes, length}, 0);
	side_poll(&q->p.a);
}

static void expect(struct queue *q, unsigned i, uint64_t wr_id, uint8_t status)
{
	assert_true(i < q->p.a.n_wc);
	assert_int_equal(q->p.a.wc[i].wr_id, wr_id);
	assert_int_equal(q->p.a.wc[i].status, status);
	assert_int_equal(q->p.a.wc[i].opcode, UHCA_ABI_WC_RECV);
	assert_int_equal(q->p.a.wc[i].qpn, q->r.srq_num);
}

static void test_frames(void **state)
{
	struct queue q;

	(void)state;
	start(&q);
	assert_int_equal(q.r.max_wr, 8);
	assert_int_equal(q.r.max_sge, 1);
	assert_true(q.r.srq_num >= 1u << 24);
	frame(&q, 100); /* not ready */
	assert_int_equal(go(&q, RDY), 0);
	frame(&q, 100); /* nothing posted */
	post(&q, 1, 1000, q.p.a.mr.lkey);
	frame(&q, 1000);
	expect(&q, 0, 1, UHCA_ABI_WC_SUCCESS);
	assert_int_equal(q.p.a.wc[0].byte_len, 1000);
	assert_int_equal(q.p.a.n_wc, 1);
	finish(&q);
}

/* A frame that does not fit, or a key that is none: the queue fails and says so once. */
static void fails(uint32_t length, uint32_t key_off, uint8_t status)
{
	struct queue q;

	start(&q);
	assert_int_equal(go(&q, RDY), 0);
	post(&q, 1, 500, q.p.a.mr.lkey + key_off);
	post(&q, 2, 500, q.p.a.mr.lkey);
	frame(&q, length);
	expect(&q, 0, 1, status);
	expect(&q, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR);
	assert_int_equal(vevents_count(&q.p.a.c.async, UHCA_ABI_EVENT_WQ_FATAL, &q), 1);
	assert_int_equal(q.wq->state, WQS_ERR);
	post(&q, 3, 500, q.p.a.mr.lkey);
	assert_int_equal(go(&q, ERR), 0); /* what a client does after a post */
	side_poll(&q.p.a);
	expect(&q, 2, 3, UHCA_ABI_WC_WR_FLUSH_ERR);
	finish(&q);
}

static void test_errors(void **state)
{
	(void)state;
	fails(501, 0, UHCA_ABI_WC_LOC_LEN_ERR);
	fails(500, 1, UHCA_ABI_WC_LOC_PROT_ERR);
}

static void test_broken_ring(void **state)
{
	struct queue q;

	(void)state;
	start(&q);
	assert_int_equal(go(&q, RDY), 0);
	q.producer = 1000;
	post(&q, 1, 500, q.p.a.mr.lkey);
	frame(&q, 100);
	assert_int_equal(q.wq->state, WQS_ERR);
	assert_int_equal(q.p.a.n_wc, 0);
	assert_int_equal(go(&q, RESET), 0); /* it can be used again */
	assert_int_equal(go(&q, RDY), 0);
	post(&q, 2, 500, q.p.a.mr.lkey);
	frame(&q, 100);
	expect(&q, 0, 2, UHCA_ABI_WC_SUCCESS);
	finish(&q);
}

static void test_states(void **state)
{
	static const bool legal[3][3] = {
		{true, true, false}, {true, true, true}, {true, false, true}};
	struct uhca_cmd_modify_wq in;
	struct queue q;

	(void)state;
	start(&q);
	for (uint32_t from = 0; from < 3; from++) {
		for (uint32_t to = 0; to < 3; to++) {
			assert_int_equal(go(&q, RESET), 0);
			if (from)
				assert_int_equal(go(&q, RDY), 0);
			if (from == ERR)
				assert_int_equal(go(&q, ERR), 0);
			assert_int_equal(go(&q, to), legal[from][to] ? 0 : -EINVAL);
		}
	}
	assert_int_equal(go(&q, 3), -EINVAL);
	assert_int_equal(go(&q, RESET), 0);
	in = (struct uhca_cmd_modify_wq){.handle = q.r.handle, .attr_mask = 3, .wq_state = 1};
	in.curr_wq_state = RDY;
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), -EINVAL);
	in.curr_wq_state = RESET;
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), 0);
	in.attr_mask = 0; /* asks for nothing */
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), 0);
	in.attr_mask = 4;
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), 0);
	assert_int_equal(q.wq->state, WQS_RDY);
	in.flags_mask = 1;
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), -EOPNOTSUPP);
	in.attr_mask = 8;
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), -EINVAL);
	in.handle++;
	assert_int_equal(core_modify_wq(q.p.a.c.core, &in, 0), -ENOENT);
	finish(&q);
}

static int try(struct queue *q, const struct uhca_cmd_create_wq *in)
{
	struct uhca_cmd_create_srq_reply r;
	struct core_ring ring;

	return core_create_wq(q->p.a.c.core, in, &r, &ring);
}

static void test_refusals(void **state)
{
	struct uhca_cmd_create_rwq_ind_table table = {.log_size = UHCA_ABI_IND_TABLE_LOG + 1};
	struct uhca_cmd_create_wq ok = {.max_wr = 5, .max_sge = 1}, in;
	uint32_t handle;
	struct queue q;

	(void)state;
	start(&q);
	ok.pd = q.p.a.c.pd;
	ok.cq = q.p.a.cq.handle;
	in = ok, in.max_wr = 0;
	assert_int_equal(try(&q, &in), -EINVAL);
	in = ok, in.max_sge = 1000;
	assert_int_equal(try(&q, &in), -EINVAL);
	in = ok, in.wq_type = 1;
	assert_int_equal(try(&q, &in), -EINVAL);
	in = ok, in.create_flags = IBV_WQ_FLAGS_CVLAN_STRIPPING;
	assert_int_equal(try(&q, &in), -EOPNOTSUPP);
	in = ok, in.cq++;
	assert_int_equal(try(&q, &in), -ENOENT);
	assert_int_equal(core_create_rwq_ind_table(q.p.a.c.core, &table, &handle), -EINVAL);
	table.log_size = 0;
	table.wq[0] = q.r.handle + 1;
	assert_int_equal(core_create_rwq_ind_table(q.p.a.c.core, &table, &handle), -ENOENT);
	assert_int_equal(core_destroy_rwq_ind_table(q.p.a.c.core, 5), -ENOENT);
	finish(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),      cmocka_unit_test(test_errors),
		cmocka_unit_test(test_broken_ring), cmocka_unit_test(test_states),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("wq", tests, NULL, NULL);
}
