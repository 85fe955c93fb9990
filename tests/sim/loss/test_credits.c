/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * End-to-end credits (9.7.7.2): each ACK of a QP with its own receive queue tells how many
 * receives are posted; a requester out of credit sends one request at a time to probe.
 */
#include "tests/sim/world/pair.h"
#include "wire/syndrome.h"

/* Credit code of the newest acknowledgement that b sent. */
static uint8_t last_code(const struct pair *p)
{
	const struct logged *l = NULL, *next;

	for (unsigned i = 0; (next = rules_nth(&p->rules, 1, ROCE_OP_ACK, i)); i++)
		l = next;
	world_assert(p->w, l != NULL);
	return l->pkt.aeth.syndrome;
}

static void test_code_counts_receives(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	for (unsigned posted = 0; posted < 40; posted++) {
		side_write(&p.a, posted, 0, 100000, 10);
		side_expect(&p.a, posted, posted, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		assert_int_equal(last_code(&p), roce_credits_encode(posted));
		side_recv(&p.b, posted, 400000, 10);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
	pair_finish(&p);
}

static void test_srq_gives_none(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.srq_wr = 8});
	side_recv(&p.b, 1, 200000, 10);
	side_write(&p.a, 1, 0, 100000, 10);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	assert_int_equal(last_code(&p), ROCE_CREDITS_UNLIMITED);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
	pair_finish(&p);
}

/* Five receives, and a SEND that has been answered. */
static void begin_with_five(struct pair *p)
{
	pair_create(p, &(struct pair_options){0});
	for (unsigned i = 0; i < 5; i++)
		side_recv(&p->b, i, 100000 + 100 * i, 100);
	side_send(&p->a, 0, 0, 100);
	side_expect(&p->a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
}

/* Four receives, twenty SENDs: after the first ACK nothing is sent in vain but single probes. */
static void test_no_flood(void **state)
{
	struct pair p;

	(void)state;
	begin_with_five(&p);
	for (unsigned i = 1; i < 20; i++)
		side_send(&p.a, i, 100 * i, 100);
	world_run(p.w, p.w->now + 500000);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_SEND) == 6);
	for (unsigned i = 5; i < 20; i++)
		side_recv(&p.b, i, 100000 + 100 * i, 100);
	for (unsigned i = 0; i < 20; i++) {
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 2000);
	pair_finish(&p);
}

/* A credit for four: while no answer comes, four are under way, no more and no fewer. */
static void test_limit(void **state)
{
	struct pair p;

	(void)state;
	begin_with_five(&p);
	assert_int_equal(last_code(&p), roce_credits_encode(4));
	for (unsigned i = 5; i < 20; i++)
		side_recv(&p.b, i, 100000 + 100 * i, 100);
	rules_add(&p.rules, &(struct rule){.from = 1, .op = ROCE_OP_ACK, .delay = 600000});
	for (unsigned i = 1; i < 20; i++)
		side_send(&p.a, i, 100 * i, 100);
	world_run(p.w, p.w->now + 500000);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_SEND) == 1 + 4);
	for (unsigned i = 0; i < 20; i++) {
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 2000);
	pair_finish(&p);
}

/* WRITEs without immediate data need no credit. */
static void test_write_needs_none(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	for (unsigned i = 0; i < 20; i++)
		side_write(&p.a, i, 0, 100000, 10);
	side_expect(&p.a, 19, 19, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_WRITE) == 20);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_counts_receives),
		cmocka_unit_test(test_srq_gives_none),
		cmocka_unit_test(test_no_flood),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_write_needs_none),
	};

	return cmocka_run_group_tests_name("credits", tests, NULL, NULL);
}
