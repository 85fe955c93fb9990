/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thousands of requests that need no network, local operations and flushed ones: at one time a
 * device does so many, all QPs together; then the rest, in order, and nothing is lost or done
 * twice.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/qp/queue_pair.h"

#define MANY (BUDGET_MAX + BUDGET_MAX / 4)

static void begin(struct pair *p, enum ibv_qp_type type)
{
	static struct core_config cfg;

	cfg = world_config();
	cfg.limits.max_qp_wr = cfg.limits.max_cqe = 4 * BUDGET_MAX;
	pair_create(p, &(struct pair_options){.type = type,
					      .cfg = &cfg,
					      .cqe = 4 * BUDGET_MAX,
					      .init = {.max_send_wr = 2 * BUDGET_MAX,
						       .max_recv_wr = 2 * BUDGET_MAX}});
}

static struct qp *qp_of(const struct side *s)
{
	return device_find_qp(s->c.host->dev, s->qp.qpn);
}

/* Window by window of one key: bound, and taken back. Without a doorbell. */
static void queue_local(struct side *s, const struct vmw *w, uint32_t n)
{
	uint32_t key = w->rkey;

	for (uint32_t i = 0; i < n; i++) {
		struct vsend wr = {.wr_id = i, .opcode = UHCA_ABI_WR_LOCAL_INV, .imm = key};

		if (i % 2 == 0) {
			wr.opcode = UHCA_ABI_WR_BIND_MW;
			wr.bind.addr = s->mr.addr;
			wr.bind.length = 64;
			wr.bind.mr_lkey = s->mr.lkey;
			wr.bind.mw_rkey = key;
			key = wr.bind.new_rkey = (key & ~0xffu) | ((key + 1) & 0xffu);
		}
		if (i + 1 == n)
			wr.flags = UHCA_ABI_SEND_SIGNALED;
		assert_int_equal(vqp_queue_send(&s->qp, &wr), 0);
	}
}

static void test_local_operations(void **state)
{
	struct pair p;
	struct vmw w;
	struct qp *qp;
	uint32_t first;

	(void)state;
	begin(&p, IBV_QPT_RC);
	qp = qp_of(&p.a);
	assert_int_equal(vclient_reg_mr_pd(&p.a.c, p.a.c.pd, &p.a.mr,
					   IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE, &p.a.mr),
			 0);
	assert_int_equal(vclient_alloc_mw(&p.a.c, p.a.c.pd, 2, &w), 0);
	first = qp->req.una;
	queue_local(&p.a, &w, MANY);
	vqp_doorbell(&p.a.qp);
	world_pump(p.w);
	assert_int_equal(qp->req.una - first, BUDGET_MAX);
	side_poll(&p.a);
	assert_int_equal(p.a.n_wc, 0);
	side_wait(&p.a, 1);
	side_expect(&p.a, 0, MANY - 1, UHCA_ABI_WC_SUCCESS,
		    MANY % 2 ? UHCA_ABI_WC_BIND_MW : UHCA_ABI_WC_LOCAL_INV);
	assert_int_equal(qp->req.una - first, MANY);
	pair_finish(&p);
}

/* Sends have numbers below MANY, receives those from there on: each queue in order, and once. */
static void assert_flushed(const struct side *s, uint32_t sends, uint32_t receives)
{
	uint64_t next_send = 0, next_receive = MANY;

	for (uint32_t i = 0; i < s->n_wc; i++) {
		uint64_t *next = s->wc[i].wr_id < MANY ? &next_send : &next_receive;

		assert_int_equal(s->wc[i].status, UHCA_ABI_WC_WR_FLUSH_ERR);
		assert_int_equal(s->wc[i].wr_id, (*next)++);
	}
	assert_int_equal(next_send, sends);
	assert_int_equal(next_receive, MANY + receives);
}

static void test_flush(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, IBV_QPT_RC);
	for (uint32_t i = 0; i < MANY; i++)
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND, .wr_id = i});
	for (uint32_t i = 0; i < MANY; i++)
		side_recv(&p.a, MANY + i, 0, 0);
	assert_int_equal(vqp_to_state(&p.a.qp, IBV_QPS_ERR), 0);
	side_poll(&p.a);
	assert_int_equal(p.a.n_wc, BUDGET_MAX);
	vqp_doorbell(&p.a.qp); /* asking again at the same time gets no more */
	side_poll(&p.a);
	assert_int_equal(p.a.n_wc, BUDGET_MAX);
	side_wait(&p.a, 2 * MANY);
	side_quiet(&p.a, PAIR_SECONDS);
	assert_flushed(&p.a, MANY, MANY);
	pair_finish(&p);
}

/* What had not been flushed yet in SQE is, before RTS: it is not sent. */
static void test_flush_before_rts(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, IBV_QPT_UC);
	for (uint32_t i = 0; i < MANY; i++)
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND, .wr_id = i});
	qp_set_state(qp_of(&p.a), QPS_SQE);
	vqp_doorbell(&p.a.qp);
	side_poll(&p.a);
	assert_int_equal(p.a.n_wc, BUDGET_MAX);
	assert_int_equal(vqp_to_state(&p.a.qp, IBV_QPS_RTS), 0);
	side_poll(&p.a);
	assert_flushed(&p.a, MANY, 0);
	side_quiet(&p.a, PAIR_SECONDS);
	pair_finish(&p);
}

/* A QP that waits for its turn may be reset, or go. */
static void test_gone(void **state)
{
	struct pair p;

	(void)state;
	begin(&p, IBV_QPT_RC);
	for (uint32_t i = 0; i < MANY; i++)
		side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND, .wr_id = i});
	assert_int_equal(vqp_to_state(&p.a.qp, IBV_QPS_ERR), 0);
	side_poll(&p.a);
	assert_true(budget_deadline(p.a.c.host->dev) != UINT64_MAX);
	assert_int_equal(vqp_to_state(&p.a.qp, IBV_QPS_RESET), 0);
	assert_true(budget_deadline(p.a.c.host->dev) == UINT64_MAX);
	side_quiet(&p.a, PAIR_SECONDS);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_operations),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_flush_before_rts),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
