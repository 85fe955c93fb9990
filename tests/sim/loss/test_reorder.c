/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets overtake each other: one NAK for a gap, silence until it is filled (9.7.5.2.8). */
#include "tests/sim/world/mixed.h"

static unsigned sequence_naks(const struct pair *p)
{
	const struct logged *l;
	unsigned n = 0;

	for (unsigned i = 0; (l = rules_nth(&p->rules, 1, ROCE_OP_ACK, i)); i++)
		n += l->pkt.aeth.syndrome == 0x60;
	return n;
}

static void write_late(uint32_t position, uint64_t delay)
{
	struct pair p;

	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_WRITE,
					   .positions = 1u << position,
					   .count = 1,
					   .delay = delay});
	side_write(&p.a, 1, 0, 100000, 8000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 8000);
	pair_idle(&p);
	world_assert(p.w, sequence_naks(&p) <= 1);
	world_assert(p.w, position == ROCE_POS_LAST || sequence_naks(&p) == 1);
	pair_finish(&p);
}

static void test_late_packet(void **state)
{
	(void)state;
	for (uint64_t delay = 500; delay < 5000; delay += 700) {
		write_late(ROCE_POS_FIRST, delay);
		write_late(ROCE_POS_MIDDLE, delay);
		write_late(ROCE_POS_LAST, delay);
	}
}

/* An older ACK that comes after a newer one says nothing new. */
static void test_late_ack(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	rules_add(&p.rules,
		  &(struct rule){.from = 1, .op = ROCE_OP_ACK, .count = 1, .delay = 50000});
	for (unsigned i = 0; i < 4; i++) {
		side_write(&p.a, i, 0, 100000, 3000);
		world_run(p.w, p.w->now + 5000);
	}
	for (unsigned i = 0; i < 4; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 3000);
	pair_idle(&p);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->retransmits == 0);
	pair_finish(&p);
}

/* Each gap gets a NAK of its own: no timeout is needed for any of them. */
static void test_each_gap_has_a_nak(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	for (unsigned i = 0; i < 5; i++) {
		rules_clear(&p.rules);
		rules_add(&p.rules, &(struct rule){.from = 0,
						   .op = ROCE_OP_WRITE,
						   .positions = 1u << ROCE_POS_FIRST,
						   .count = 1,
						   .verdict = WORLD_DROP});
		side_write(&p.a, i, 0, 100000, 8000);
		side_expect(&p.a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, 8000);
	world_assert(p.w, sequence_naks(&p) == 5);
	world_assert(p.w, core_counters(p.w->device[0].host.dev)->timeouts == 0);
	pair_finish(&p);
}

/* The network doubles the NAK: its copy must not cost a retry. */
static void test_duplicate_nak(void **state)
{
	struct vqp_conn conn = vqp_conn_default();
	struct pair p;

	(void)state;
	conn.retry_cnt = 1;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	rules_add(&p.rules, &(struct rule){.from = 0,
					   .op = ROCE_OP_WRITE,
					   .positions = 1u << ROCE_POS_FIRST,
					   .count = 1,
					   .verdict = WORLD_DROP});
	rules_add(&p.rules, &(struct rule){.from = 1,
					   .op = ROCE_OP_ACK,
					   .syndrome_mask = 0x60,
					   .syndrome = 0x60,
					   .verdict = WORLD_DUPLICATE});
	side_write(&p.a, 1, 0, 100000, 8000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 8000);
	pair_finish(&p);
}

static void test_everything_late(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct link link = link_default();
		struct pair p;

		pair_create(&p, &(struct pair_options){.seed = seed});
		link.reorder = 100000;
		link.jitter = 2000;
		world_set_links(p.w, &link);
		mixed_post(&p, 6);
		mixed_check(&p, 6);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_packet),        cmocka_unit_test(test_late_ack),
		cmocka_unit_test(test_each_gap_has_a_nak), cmocka_unit_test(test_duplicate_nak),
		cmocka_unit_test(test_everything_late),
	};

	return cmocka_run_group_tests_name("reorder", tests, NULL, NULL);
}
