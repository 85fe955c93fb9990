/* SPDX-License-Identifier: BSD-2-Clause */
/* READ requests and responses that arrive twice, at once or long after (IBTA 9.7.5.1.4). */
#include "tests/sim/world/mixed.h"

#define LENGTH 5000u /* five packets */

static void read_and_check(struct pair *p)
{
	side_read(&p->a, 1, 100000, 0, LENGTH);
	side_expect(&p->a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect_len(&p->a, 0, LENGTH);
	pair_expect_copy(&p->b, 0, &p->a, 100000, LENGTH);
	pair_idle(p);
	side_quiet(&p->a, PAIR_SECONDS);
}

/* Two copies of a request: one answer does for both when nothing was answered in between. */
static void request_twice(uint32_t interleave, unsigned responses)
{
	struct pair p;

	pair_create(&p, &(struct pair_options){0});
	p.w->interleave = interleave;
	rules_add(&p.rules,
		  &(struct rule){.from = 0, .op = ROCE_OP_READ_REQ, .verdict = WORLD_DUPLICATE});
	read_and_check(&p);
	world_assert(p.w, rules_count(&p.rules, 1, ROCE_OP_READ_RESP) == responses);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->duplicates == 1);
	pair_finish(&p);
}

static void test_request_twice(void **state)
{
	(void)state;
	request_twice(0, 5);
	request_twice(1000000, 10); /* the first is answered before the second comes */
}

static void test_response_twice(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_READ_RESP, .verdict = WORLD_DUPLICATE});
	read_and_check(&p);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_READ_REQ) == 1);
	pair_finish(&p);
}

/* One in the middle comes twice, and its copy in a burst with the last, which is new. */
static void test_response_twice_in_burst(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = 3,
					   .count = 1,
					   .verdict = WORLD_DUPLICATE});
	read_and_check(&p);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_READ_REQ) == 1);
	pair_finish(&p);
}

static void send_again(struct pair *p, const struct logged *request)
{
	struct core_burst t;

	core_burst_start(&t, &request->pkt, &(struct roce_flow){0});
	memcpy(t.flow.src, p->a.c.host->gid[0], 16);
	memcpy(t.flow.dst, p->b.c.host->gid[0], 16);
	world_send(p->w, 0, &t);
}

/* A copy of the request comes when all is over and the memory has changed: harmless. */
static void test_stale_request(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	read_and_check(&p);
	side_write(&p.a, 2, 200000, 0, LENGTH);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 200000, &p.b, 0, LENGTH);
	send_again(&p, rules_nth(&p.rules, 0, ROCE_OP_READ_REQ, 0));
	side_quiet(&p.a, PAIR_SECONDS);
	world_assert(p.w, rules_count(&p.rules, 1, ROCE_OP_READ_RESP) == 10);
	pair_finish(&p);
}

/* The same when the region has gone, which is right: the READ is done. Both queues go on. */
static void test_stale_request_of_region_gone(void **state)
{
	struct pair p;
	struct vmr mr;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	read_and_check(&p);
	assert_int_equal(vclient_reg_mr(&p.b.c, p.b.mr.addr, p.b.mr.length, PAIR_ACCESS, &mr), 0);
	assert_int_equal(vclient_dereg_mr(&p.b.c, &p.b.mr), 0);
	p.b.mr = mr;
	send_again(&p, rules_nth(&p.rules, 0, ROCE_OP_READ_REQ, 0));
	side_quiet(&p.a, PAIR_SECONDS);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_RTS);
	side_write(&p.a, 2, 200000, 0, LENGTH);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 200000, &p.b, 0, LENGTH);
	pair_finish(&p);
}

/* Who has not got the answer, and asks again when the region has gone, is told so. */
static void test_answer_lost_and_region_gone(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = 4,
					   .count = 1,
					   .verdict = WORLD_DROP});
	side_ignore(&p.a, 100000, LENGTH);
	side_read(&p.a, 1, 100000, 0, LENGTH);
	world_run(p.w, p.w->now + 100000); /* answered, and the end of it lost */
	world_assert(p.w, rules_count(&p.rules, 1, ROCE_OP_READ_RESP) == 5);
	assert_int_equal(vclient_dereg_mr(&p.b.c, &p.b.mr), 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	pair_finish(&p);
}

/* After a lost response only the rest is asked for: PSN, address and length say which. */
static void test_rest_is_asked_for(void **state)
{
	const struct logged *again;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = 2,
					   .count = 1,
					   .verdict = WORLD_DROP});
	read_and_check(&p);
	again = rules_nth(&p.rules, 0, ROCE_OP_READ_REQ, 1);
	world_assert(p.w, again != NULL);
	world_assert(p.w, again->pkt.bth.psn == p.conn.sq_psn + 2);
	world_assert(p.w, again->pkt.reth.va == p.b.mr.addr + 2048);
	world_assert(p.w, again->pkt.reth.length == LENGTH - 2048);
	pair_finish(&p);
}

static void first_to_middle(struct world_packet *p)
{
	p->pkt.bth.opcode.v = ROCE_RC_READ_RESPONSE_MIDDLE;
}

/* Soft-RoCE goes on with MIDDLE where it was asked for the rest; others begin with FIRST. */
static void test_rest_starts_with_middle(void **state)
{
	const struct logged *l;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .skip = 2,
					   .count = 1,
					   .verdict = WORLD_DROP});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_READ_RESP,
					   .positions = 1u << ROCE_POS_FIRST,
					   .skip = 1,
					   .count = 1,
					   .change = first_to_middle});
	read_and_check(&p);
	l = rules_nth(&p.rules, 0, ROCE_OP_READ_REQ, 1);
	world_assert(p.w, l != NULL && l->pkt.bth.psn == p.conn.sq_psn + 2);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request_twice),
		cmocka_unit_test(test_response_twice),
		cmocka_unit_test(test_response_twice_in_burst),
		cmocka_unit_test(test_stale_request),
		cmocka_unit_test(test_stale_request_of_region_gone),
		cmocka_unit_test(test_answer_lost_and_region_gone),
		cmocka_unit_test(test_rest_is_asked_for),
		cmocka_unit_test(test_rest_starts_with_middle),
	};

	return cmocka_run_group_tests_name("duplicate_read", tests, NULL, NULL);
}
