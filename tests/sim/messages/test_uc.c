/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unreliable connections (9.8.2): no acknowledgement, no repetition; a message that lost a packet
 * is dropped whole and its receive serves the next one; requests complete when they were sent.
 */
#include "tests/sim/world/pair.h"

#define LENGTH 4000u /* four packets */

static void create(struct pair *p)
{
	pair_create(p, &(struct pair_options){.type = IBV_QPT_UC});
}

static void test_all_arrives(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	side_recv(&p.b, 1, 100000, LENGTH);
	side_send(&p.a, 1, 0, LENGTH);
	side_write(&p.a, 2, 50000, 200000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&p.b, 0, LENGTH);
	pair_expect_copy(&p.a, 0, &p.b, 100000, LENGTH);
	pair_expect_copy(&p.a, 50000, &p.b, 200000, LENGTH);
	pair_idle(&p);
	world_assert(p.w, rules_count(&p.rules, 1, ROCE_OP_ACK) == 0);
	pair_finish(&p);
}

/* Packet n of the first SEND is lost: the second message lands in the first receive. */
static void test_any_packet_lost(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		struct pair p;

		create(&p);
		rules_add(&p.rules, &(struct rule){.from = 0,
						   .op = ROCE_OP_SEND,
						   .skip = n,
						   .count = 1,
						   .verdict = WORLD_DROP});
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

/* A WRITE with immediate data that lost a packet must not report itself. */
static void test_write_with_imm_lost(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		struct pair p;

		create(&p);
		rules_add(&p.rules, &(struct rule){.from = 0,
						   .op = ROCE_OP_WRITE,
						   .skip = n,
						   .count = 1,
						   .verdict = WORLD_DROP});
		side_ignore(&p.b, 200000, LENGTH);
		side_recv(&p.b, 1, 100000, 10);
		side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE_WITH_IMM,
					     .length = LENGTH,
					     .remote = 200000});
		side_quiet(&p.b, PAIR_SECONDS);
		pair_finish(&p);
	}
}

/* No receive posted: dropped without a word; the next message finds one. */
static void test_no_receive(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	side_send(&p.a, 1, 0, LENGTH);
	side_quiet(&p.b, PAIR_SECONDS);
	side_recv(&p.b, 2, 100000, LENGTH);
	side_send(&p.a, 3, 50000, 100);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 50000, &p.b, 100000, 100);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->drops[CORE_DROP_NO_RECV] > 0);
	pair_finish(&p);
}

/* What a responder may not do is dropped; both QPs live on. */
static void test_bad_key(void **state)
{
	struct pair p;
	struct uhca_abi_sge sge;
	struct vsend wr = {.opcode = UHCA_ABI_WR_RDMA_WRITE, .sge = &sge, .num_sge = 1, .rkey = 9};

	(void)state;
	create(&p);
	sge = (struct uhca_abi_sge){p.a.mr.addr, LENGTH, p.a.mr.lkey};
	wr.remote_addr = p.b.mr.addr;
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_write(&p.a, 2, 0, 200000, LENGTH);
	side_expect(&p.a, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_expect_copy(&p.a, 0, &p.b, 200000, LENGTH);
	pair_idle(&p);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_RTS);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_RTS);
	pair_finish(&p);
}

/* A message that is longer than its receive: that is the receiver's error, and only his. */
static void test_too_long(void **state)
{
	for (uint32_t room = 0; room < LENGTH; room += 1333) {
		struct pair p;

		(void)state;
		create(&p);
		side_ignore(&p.b, 100000, room);
		side_recv(&p.b, 1, 100000, room);
		side_recv(&p.b, 2, 200000, 100);
		side_send(&p.a, 1, 0, LENGTH);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.b, 0, 1, UHCA_ABI_WC_LOC_LEN_ERR, UHCA_ABI_WC_RECV);
		side_expect(&p.b, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, UHCA_ABI_WC_RECV);
		pair_idle(&p);
		world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_RTS);
		world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_ERR);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrives),
		cmocka_unit_test(test_any_packet_lost),
		cmocka_unit_test(test_write_with_imm_lost),
		cmocka_unit_test(test_no_receive),
		cmocka_unit_test(test_bad_key),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests_name("uc", tests, NULL, NULL);
}
