/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The local ACK timeout is 4.096 us * 2^n at least and four times that at most,
 * counted from the packet that waits; 0 means for ever (IBTA vol. 1, 9.7.6).
 */
#include "tests/sim/world/pair.h"

static void create(struct pair *p, uint8_t timeout)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.timeout = timeout;
	pair_create(p, &(struct pair_options){.conn = &conn});
}

static uint64_t write_sent(const struct pair *p, unsigned n)
{
	const struct logged *l = rules_nth(&p->rules, 0, ROCE_OP_WRITE, n);

	world_assert(p->w, l != NULL);
	return l->time;
}

static void wait_for_writes(struct pair *p, unsigned n)
{
	while (rules_count(&p->rules, 0, ROCE_OP_WRITE) < n)
		world_assert(p->w, world_step(p->w));
}

static void test_first_timeout(void **state)
{
	(void)state;
	for (uint8_t n = 1; n < 32; n++) {
		uint64_t unit = 4096ull << n, waited;
		struct pair p;

		create(&p, n);
		p.w->link[0][1].down = true;
		side_write(&p.a, 1, 0, 100000, 10);
		wait_for_writes(&p, 2);
		waited = write_sent(&p, 1) - write_sent(&p, 0);
		world_assert(p.w, waited >= unit && waited <= 4 * unit);
		world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
		pair_finish(&p);
	}
}

/* Traffic that was acknowledged long ago does not shorten the wait of what is sent now. */
static void test_counted_from_the_packet(void **state)
{
	const uint64_t unit = 4096ull << 14;

	(void)state;
	for (unsigned tenth = 1; tenth < 25; tenth++) {
		uint64_t waited;
		struct pair p;

		create(&p, 14);
		side_write(&p.a, 1, 0, 100000, 10);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
		world_run(p.w, p.w->now + tenth * unit / 10);
		p.w->link[0][1].down = true;
		side_write(&p.a, 2, 0, 100000, 10);
		wait_for_writes(&p, 3);
		waited = write_sent(&p, 2) - write_sent(&p, 1);
		if (waited < unit || waited > 4 * unit)
			world_fail(p.w, "%u tenths after the first: waited %llu ns of %llu", tenth,
				   (unsigned long long)waited, (unsigned long long)unit);
		world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
		pair_finish(&p);
	}
}

/* As long as answers come, nothing is sent twice, however long the whole takes. */
static void test_steady_progress(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 9); /* 2.1 ms */
	for (unsigned i = 0; i < 50; i++) {
		p.w->link[0][1].delay = p.w->link[1][0].delay = 1000000; /* 2 ms there and back */
		side_write(&p.a, i, 0, 100000, 10);
		world_run(p.w, p.w->now + 700000);
	}
	side_expect(&p.a, 49, 49, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->timeouts == 0);
	pair_finish(&p);
}

/* Of a peer that never answers: what was waited for each try, ns. */
static uint64_t wait_of_tries(uint8_t timeout, uint64_t waited[8])
{
	uint64_t sum = 0;
	struct pair p;

	create(&p, timeout);
	p.w->link[0][1].down = true;
	side_write(&p.a, 1, 0, 100000, 10);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t end = i < 7 ? write_sent(&p, i + 1) : p.w->now;

		waited[i] = end - write_sent(&p, i);
		sum += waited[i];
		world_assert(p.w, waited[i] >= 4096ull << timeout &&
					  waited[i] <= 4 * (4096ull << timeout));
	}
	pair_finish(&p);
	return sum;
}

/* The first losses are mended soon; who is away for a second is not given up; no try takes long. */
static void test_later_tries_wait_longer(void **state)
{
	const uint64_t unit = 4096ull << 14;
	uint64_t waited[8], sum = wait_of_tries(14, waited);

	(void)state;
	assert_true(waited[0] < unit + unit / 4 && waited[1] < unit + unit / 4);
	assert_in_range(sum, 1500 * 1000000ull, 2000 * 1000000ull);
	sum = wait_of_tries(18, waited);
	assert_in_range(sum, 8 * (4096ull << 18), 9 * (4096ull << 18));
}

static void test_zero_is_for_ever(void **state)
{
	struct pair p;

	(void)state;
	create(&p, 0);
	p.w->link[0][1].down = true;
	side_write(&p.a, 1, 0, 100000, 10);
	side_quiet(&p.a, 1000 * PAIR_SECONDS);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_WRITE) == 1);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_ERR) == 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_timeout),
		cmocka_unit_test(test_counted_from_the_packet),
		cmocka_unit_test(test_steady_progress),
		cmocka_unit_test(test_later_tries_wait_longer),
		cmocka_unit_test(test_zero_is_for_ever),
	};

	return cmocka_run_group_tests_name("ack_timeout", tests, NULL, NULL);
}
