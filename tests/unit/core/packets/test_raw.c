/* SPDX-License-Identifier: BSD-2-Clause */
/* Raw packet QPs: frames as posted, and what each kind of mistake does. */
#include "tests/sim/world/segment.h"

static void everything_to_b(struct pair *p)
{
	struct uhca_cmd_create_flow in = segment_request(1, 0, 0); /* ALL_DEFAULT */
	uint32_t handle;

	assert_int_equal(segment_rule(&p->b, &in, &handle), 0);
}

static void test_transfer(void **state)
{
	struct segment_frame f = segment_udp();
	uint8_t sent[SEGMENT_FRAME];
	struct pair p;

	(void)state;
	segment_create(&p);
	everything_to_b(&p);
	segment_send(&p.a, &f, 7);
	side_expect(&p.a, 0, 7, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&p.b, 0, SEGMENT_FRAME);
	segment_bytes(&f, 7, sent);
	assert_memory_equal(memory_at(&p.b.c.mem, p.b.mr.addr + 65536, sizeof(sent)), sent,
			    sizeof(sent));
	side_ignore(&p.b, 65536, SEGMENT_FRAME);
	pair_finish(&p);
}

static void send(struct pair *p, uint64_t wr_id, uint32_t length, enum vpost_mode mode)
{
	side_post(&p->a, &(struct op){.opcode = UHCA_ABI_WR_SEND,
				      .wr_id = wr_id,
				      .flags = UHCA_ABI_SEND_SIGNALED,
				      .length = length,
				      .mode = mode});
	segment_run(p);
}

static void test_modes(void **state)
{
	struct pair p;

	(void)state;
	segment_create(&p);
	everything_to_b(&p);
	send(&p, 1, 14, VPOST_INLINE);
	send(&p, 2, 1000, VPOST_GATHERED);
	send(&p, 3, 1024, VPOST_PLAIN);
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t length[] = {14, 1000, 1024};

		side_expect(&p.a, i, i + 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect_len(&p.b, i, length[i]);
		pair_expect_copy(&p.a, 0, &p.b, 65536 + 1024 * i, length[i]);
	}
	pair_finish(&p);
}

/* Too short, too long, and an operation that there is not: SQE each, what follows is flushed. */
static void send_fails(uint8_t opcode, uint32_t length, uint8_t status)
{
	struct pair p;

	segment_create(&p);
	everything_to_b(&p);
	side_queue(&p.a, &(struct op){.opcode = opcode, .wr_id = 1, .length = length});
	side_queue(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND, .wr_id = 2, .length = 100});
	vqp_doorbell(&p.a.qp);
	assert_int_equal(segment_run(&p), 0);
	side_expect(&p.a, 0, 1, status,
		    opcode == UHCA_ABI_WR_SEND ? UHCA_ABI_WC_SEND : UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, UHCA_ABI_WC_SEND);
	assert_int_equal(vqp_state(&p.a.qp), IBV_QPS_SQE);
	pair_finish(&p);
}

static void test_send_errors(void **state)
{
	(void)state;
	send_fails(UHCA_ABI_WR_SEND, 13, UHCA_ABI_WC_LOC_LEN_ERR);
	send_fails(UHCA_ABI_WR_SEND, 9217, UHCA_ABI_WC_LOC_LEN_ERR);
	send_fails(UHCA_ABI_WR_RDMA_WRITE, 100, UHCA_ABI_WC_LOC_QP_OP_ERR);
}

static void test_longer_than_receive(void **state)
{
	struct pair p;

	(void)state;
	segment_create(&p);
	everything_to_b(&p);
	send(&p, 1, 1025, VPOST_PLAIN);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_LOC_LEN_ERR, UHCA_ABI_WC_RECV);
	side_expect(&p.b, 1, 1, UHCA_ABI_WC_WR_FLUSH_ERR, UHCA_ABI_WC_RECV);
	assert_int_equal(vqp_state(&p.b.qp), IBV_QPS_ERR);
	side_ignore(&p.b, 65536, 2048);
	pair_finish(&p);
}

/* Neither a frame without a receive nor one for a QP that is not ready does any harm. */
static void test_dropped(void **state)
{
	const struct core_counters *n;
	struct pair p;

	(void)state;
	segment_create(&p);
	everything_to_b(&p);
	n = core_counters(p.b.c.host->dev);
	for (unsigned i = 0; i < 17; i++)
		send(&p, i, 64, VPOST_PLAIN);
	assert_int_equal(n->drops[CORE_DROP_NO_RECV], 1);
	vqp_to_state(&p.b.qp, IBV_QPS_RESET);
	send(&p, 17, 64, VPOST_PLAIN);
	assert_int_equal(n->drops[CORE_DROP_STATE], 1);
	n = core_counters(p.a.c.host->dev);
	assert_int_equal(n->tx_packets, 18);
	assert_int_equal(n->tx_bytes, 18 * 64);
	side_ignore(&p.b, 65536, 17 * 1024);
	assert_int_equal(p.b.n_wc, 16);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transfer),    cmocka_unit_test(test_modes),
		cmocka_unit_test(test_send_errors), cmocka_unit_test(test_longer_than_receive),
		cmocka_unit_test(test_dropped),
	};

	return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
