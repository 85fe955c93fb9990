/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arming a CQ (11.4.2.2): one event for the next completion, or for the next solicited one or
 * error; none while it is not armed, never two for one arming.
 */
#include "tests/sim/world/pair.h"

#include <errno.h>

static unsigned events(const struct side *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->c.comp.n; i++)
		n += s->c.comp.list[i].element == (uintptr_t)&s->cq;
	return n;
}

static void send(struct pair *p, unsigned i, bool solicited)
{
	side_recv(&p->b, i, 100000, 100);
	side_post(&p->a, &(struct op){.opcode = UHCA_ABI_WR_SEND,
				      .wr_id = i,
				      .flags = UHCA_ABI_SEND_SIGNALED |
					       (solicited ? UHCA_ABI_SEND_SOLICITED : 0),
				      .length = 100});
	side_expect(&p->b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect(&p->a, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	pair_expect_copy(&p->a, 0, &p->b, 100000, 100);
}

static void test_next(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	send(&p, 0, true);
	world_assert(p.w, events(&p.b) == 0);
	vcq_arm(&p.b.cq, false);
	world_assert(p.w, events(&p.b) == 0);
	send(&p, 1, false);
	world_assert(p.w, events(&p.b) == 1);
	send(&p, 2, false);
	world_assert(p.w, events(&p.b) == 1);
	vcq_arm(&p.b.cq, false);
	vcq_arm(&p.b.cq, false); /* twice is once */
	send(&p, 3, false);
	send(&p, 4, false);
	world_assert(p.w, events(&p.b) == 2);
	world_assert(p.w, events(&p.a) == 0);
	pair_finish(&p);
}

static void test_solicited_only(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	vcq_arm(&p.b.cq, true);
	send(&p, 0, false);
	send(&p, 1, false);
	world_assert(p.w, events(&p.b) == 0);
	send(&p, 2, true);
	world_assert(p.w, events(&p.b) == 1);
	send(&p, 3, true);
	world_assert(p.w, events(&p.b) == 1);
	pair_finish(&p);
}

/* Solicited is asked for, then any: the wider wish holds. */
static void test_wider_wish(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	vcq_arm(&p.b.cq, true);
	vcq_arm(&p.b.cq, false);
	send(&p, 0, false);
	world_assert(p.w, events(&p.b) == 1);
	vcq_arm(&p.b.cq, false);
	vcq_arm(&p.b.cq, true);
	send(&p, 1, false);
	world_assert(p.w, events(&p.b) == 2);
	pair_finish(&p);
}

/* An error is solicited whatever was asked for. */
static void test_error(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 0, 100000, 100);
	vcq_arm(&p.b.cq, true);
	world_assert(p.w, vqp_to_state(&p.b.qp, IBV_QPS_ERR) == 0);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	world_assert(p.w, events(&p.b) == 1);
	pair_finish(&p);
}

/* WRITE with immediate data carries the solicited bit in its last packet. */
static void test_write_with_imm(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 0, 100000, 100);
	vcq_arm(&p.b.cq, true);
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
				     .wr_id = 0,
				     .flags = UHCA_ABI_SEND_SIGNALED | UHCA_ABI_SEND_SOLICITED,
				     .length = 5000,
				     .remote = 200000});
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV_RDMA_WITH_IMM);
	world_assert(p.w, events(&p.b) == 1);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 5000);
	pair_finish(&p);
}

/* Only the last packet of a message carries the SE bit, and only when it was asked for. */
static void test_on_the_wire(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	for (unsigned i = 0; i < 2; i++) {
		side_recv(&p.b, i, 100000, 5000);
		side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND,
					     .wr_id = i,
					     .flags = i ? UHCA_ABI_SEND_SOLICITED : 0,
					     .length = 5000});
	}
	side_wait(&p.b, 2);
	for (unsigned i = 0; i < 10; i++)
		world_assert(p.w, rules_nth(&p.rules, 0, ROCE_OP_SEND, i)->pkt.bth.solicited ==
					  (i == 9));
	pair_expect_copy(&p.a, 0, &p.b, 100000, 5000);
	pair_finish(&p);
}

/* The CQ goes: its events that nobody took go with it. */
static void test_destroyed_cq(void **state)
{
	struct vqp_init init = {0};
	struct pair p;
	struct vcq cq;
	struct vqp qp;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, vcq_create(&p.a.c, 16, 1, &cq) == 0);
	init.send_cq = init.recv_cq = &cq;
	world_assert(p.w, vqp_create(&p.a.c, &init, &qp) == 0);
	vqp_connect(&qp, &qp, &(struct vqp_conn){.mtu = IBV_MTU_1024});
	vcq_arm(&cq, false);
	world_assert(p.w, vqp_to_state(&qp, IBV_QPS_ERR) == 0);
	world_assert(p.w, vqp_post_recv(&qp, &(struct vrecv){0}) == 0);
	world_assert(p.w, vevents_left(&p.a.c.comp) == 1);
	world_assert(p.w, vcq_destroy(&cq) == -EBUSY);
	world_assert(p.w, vevents_left(&p.a.c.comp) == 1);
	world_assert(p.w, vqp_destroy(&qp) == 0);
	world_assert(p.w, vcq_destroy(&cq) == 0);
	world_assert(p.w, vevents_left(&p.a.c.comp) == 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next),           cmocka_unit_test(test_solicited_only),
		cmocka_unit_test(test_wider_wish),     cmocka_unit_test(test_error),
		cmocka_unit_test(test_write_with_imm), cmocka_unit_test(test_destroyed_cq),
		cmocka_unit_test(test_on_the_wire),
	};

	return cmocka_run_group_tests_name("solicited_events", tests, NULL, NULL);
}
