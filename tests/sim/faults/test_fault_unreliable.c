/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules on datagrams and unreliable connections, where nothing is sent again: what a rule does is
 * what the receiver sees, and what it takes away is gone.
 */
#include "tests/sim/world/pair.h"
#include "tests/sim/world/world_faults.h"
#include "wire/grh.h"

#define LENGTH 3000u

static void create(struct pair *p, enum ibv_qp_type type, const char *rule)
{
	pair_create(p, &(struct pair_options){.type = type});
	world_rule(p->w, rule);
}

/* ---- datagrams ---- */

static void send_datagram(struct pair *p)
{
	struct uhca_abi_sge sge = {p->a.mr.addr, 100, p->a.mr.lkey};
	struct vsend wr = {.wr_id = 1,
			   .opcode = UHCA_ABI_WR_SEND,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_qpn = p->b.qp.qpn,
			   .remote_qkey = p->conn.qkey};

	world_assert(p->w, vclient_create_ah(&p->a.c, p->b.c.host, 0, &wr.ah) == 0);
	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

/* The datagram in the first receive; its traffic class, as the GRH tells. */
static uint8_t expect_datagram(struct pair *p, unsigned i)
{
	struct roce_flow flow;

	side_expect(&p->b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&p->b, i, 140);
	side_ignore(&p->b, 100000 + 200 * i, 40);
	world_assert(
		p->w,
		roce_grh_parse(memory_at(&p->b.c.mem, p->b.mr.addr + 100000 + 200 * i, 40), &flow));
	pair_expect_copy(&p->a, 0, &p->b, 100040 + 200 * i, 100);
	return flow.tclass;
}

static void post_receives(struct pair *p)
{
	for (unsigned i = 0; i < 4; i++)
		side_recv(&p->b, i, 100000 + 200 * i, 140);
}

static void test_ecn(void **state)
{
	struct pair p;

	(void)state;
	create(&p, IBV_QPT_UD, "ecn nth=2");
	post_receives(&p);
	send_datagram(&p);
	send_datagram(&p);
	side_wait(&p.b, 2);
	world_assert(p.w, (expect_datagram(&p, 0) & 3) == 0);
	world_assert(p.w, (expect_datagram(&p, 1) & 3) == 3);
	pair_finish(&p);
}

/* So many of three datagrams arrive; the sender sees nothing but success. */
static void datagrams(const char *rule, unsigned arrive, bool bad_icrc)
{
	struct pair p;

	create(&p, IBV_QPT_UD, rule);
	post_receives(&p);
	for (unsigned i = 0; i < 3; i++)
		send_datagram(&p);
	for (unsigned i = 0; i < 3; i++)
		side_expect(&p.a, i, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	for (unsigned i = 0; i < arrive; i++)
		expect_datagram(&p, i);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, p.b.n_wc == arrive);
	world_assert(p.w, world_bad_icrc(p.w, 1) == bad_icrc);
	pair_finish(&p);
}

static void test_datagrams(void **state)
{
	(void)state;
	datagrams("drop opcode=ud nth=2", 2, false);
	datagrams("drop opcode=ud", 0, false);
	datagrams("dup opcode=ud nth=1", 4, false);
	datagrams("corrupt=icrc opcode=ud nth=3", 2, true);
	datagrams("corrupt=payload:10 opcode=ud nth=1", 2, true);
	datagrams("set=deth.qkey:+1 nth=1", 2, false);
	datagrams("delay=5ms opcode=ud", 3, false);
	datagrams("reorder=1 opcode=ud nth=1", 3, false);
	datagrams("set=deth.src_qp:5 opcode=ud nth=1", 3, false);
}

/* A datagram has no answer: nobody can make one up. */
static void test_no_answer(void **state)
{
	struct pair p;

	(void)state;
	create(&p, IBV_QPT_UD, "cnp opcode=ud");
	post_receives(&p);
	send_datagram(&p);
	side_wait(&p.b, 1);
	expect_datagram(&p, 0);
	world_assert(p.w, fault_net_counters(world_net(p.w, 1))->made == 1);
	pair_finish(&p);
}

/* ---- unreliable connections ---- */

static void test_message_lost(void **state)
{
	static const char *const rules[] = {
		"drop opcode=UC_SEND_FIRST nth=1",        "drop opcode=UC_SEND_MIDDLE nth=1",
		"drop opcode=UC_SEND_LAST nth=1",         "corrupt=bit opcode=uc.send nth=2",
		"truncate=10 opcode=UC_SEND_FIRST nth=1", "reorder=1 opcode=UC_SEND_FIRST nth=1",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct pair p;

		create(&p, IBV_QPT_UC, rules[i]);
		side_recv(&p.b, 1, 100000, LENGTH);
		side_recv(&p.b, 2, 200000, LENGTH);
		side_send(&p.a, 1, 0, LENGTH);
		side_send(&p.a, 2, 50000, LENGTH);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		pair_expect_copy(&p.a, 50000, &p.b, 100000, LENGTH);
		side_quiet(&p.b, PAIR_SECONDS);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ecn),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_message_lost),
	};

	return cmocka_run_group_tests_name("fault_unreliable", tests, NULL, NULL);
}
