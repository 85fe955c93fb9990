/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Low-latency QPs beside others that have megabytes to send: they go first, requests and answers;
 * they do not starve the others; their ACKs wait for no company; and loss does not matter to them.
 */
#include "tests/sim/world/mixed.h"

#define BULK    (4u << 20)
#define SHALLOW 8u

/* A connected pair of low-latency QPs; a bulk pair beside it on the same devices. */
struct stage {
	struct pair p;
	struct vqp a, b; /* bulk */
};

static void start_on(struct stage *s, const struct core_config *cfg, enum ibv_qp_type type)
{
	struct vqp_init init = {0};

	pair_create(&s->p, &(struct pair_options){.cfg = cfg,
						  .type = type,
						  .cqe = 4096,
						  .buffer = BULK,
						  .init = {.create_flags = UHCA_ABI_QP_LOW_LATENCY,
							   .max_send_wr = SHALLOW,
							   .max_inline_data = 64}});
	init.send_cq = init.recv_cq = &s->p.a.cq;
	assert_int_equal(vqp_create(&s->p.a.c, &init, &s->a), 0);
	init.send_cq = init.recv_cq = &s->p.b.cq;
	assert_int_equal(vqp_create(&s->p.b.c, &init, &s->b), 0);
	vqp_connect(&s->a, &s->b, &s->p.conn);
}

static void write_beside(struct stage *s, uint64_t wr_id, uint32_t length)
{
	struct uhca_abi_sge sge = {s->p.a.mr.addr, length, s->p.a.mr.lkey};
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = UHCA_ABI_WR_RDMA_WRITE,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = s->p.b.mr.addr,
			   .rkey = s->p.b.mr.rkey};

	assert_int_equal(vqp_post_send(&s->a, &wr), 0);
}

static void bulk_write(struct stage *s, uint64_t wr_id)
{
	write_beside(s, wr_id, BULK);
}

/* side_expect is for the QP of the side. */
static void expect_bulk(struct stage *s, unsigned i, uint64_t wr_id)
{
	side_wait(&s->p.a, i + 1);
	world_assert(s->p.w, s->p.a.wc[i].qpn == s->a.qpn && s->p.a.wc[i].wr_id == wr_id);
	world_assert(s->p.w, s->p.a.wc[i].status == UHCA_ABI_WC_SUCCESS);
}

static void small(struct side *s, uint8_t opcode, uint64_t wr_id, uint32_t length)
{
	side_post(s, &(struct op){.opcode = opcode,
				  .wr_id = wr_id,
				  .flags = UHCA_ABI_SEND_SIGNALED,
				  .length = length,
				  .mode = opcode == UHCA_ABI_WR_RDMA_READ ? VPOST_PLAIN
									  : VPOST_INLINE});
}

static uint32_t packets_to(const struct stage *s, uint32_t qpn, uint32_t from, uint32_t end)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < end; i++)
		n += s->p.rules.log[i].pkt.bth.dest_qp == qpn;
	return n;
}

/* Posted last, sent first, whatever the others have; and answered first. */
static void test_first(void **state)
{
	static const enum ibv_qp_type types[] = {IBV_QPT_RC, IBV_QPT_UC};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct core_config cfg = world_config();
		struct stage s;
		unsigned before;

		start_on(&s, &cfg, types[i]);
		side_recv(&s.p.b, 9, 0, 8);
		bulk_write(&s, 1);
		world_run(s.p.w, s.p.w->now + 20000);
		before = s.p.rules.n_log;
		world_assert(s.p.w, before > 0);
		small(&s.p.a, UHCA_ABI_WR_SEND, 2, 8);
		world_pump(s.p.w);
		world_assert(s.p.w, s.p.rules.n_log > before);
		world_assert(s.p.w, packets_to(&s, s.p.b.qp.qpn, before, before + 1) == 1);
		side_expect(&s.p.b, 0, 9, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect(&s.p.a, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		expect_bulk(&s, 1, 1);
		pair_expect_copy(&s.p.a, 0, &s.p.b, 0, BULK);
		pair_finish(&s.p);
	}
}

/*
 * Short messages go many in a row; in the midst of such a row, too, one of low latency goes first.
 */
static void test_first_among_short(void **state)
{
	struct core_config cfg = world_config();
	struct stage s;
	unsigned before;

	(void)state;
	start_on(&s, &cfg, IBV_QPT_RC);
	s.p.w->stall = 1000000; /* one burst at a time */
	for (unsigned i = 0; i < 40; i++)
		write_beside(&s, i, 8);
	world_run(s.p.w, s.p.w->now + 30000);
	before = packets_to(&s, s.b.qpn, 0, s.p.rules.n_log);
	world_assert(s.p.w, before > 0 && before % 16 != 0 && before < 30);
	small(&s.p.a, UHCA_ABI_WR_RDMA_WRITE, 100, 8);
	side_wait(&s.p.a, 41);
	for (unsigned i = 0, bulk = 0; i < s.p.rules.n_log; i++) {
		if (s.p.rules.log[i].pkt.bth.dest_qp == s.p.b.qp.qpn)
			break;
		bulk += s.p.rules.log[i].pkt.bth.dest_qp == s.b.qpn;
		world_assert(s.p.w, bulk <= before);
	}
	world_assert(s.p.w, packets_to(&s, s.p.b.qp.qpn, 0, s.p.rules.n_log) == 1);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, 8);
	pair_finish(&s.p);
}

/*
 * A long READ answer of a low-latency QP against a WRITE stream that goes the same way and always
 * has work: after 16 packets, rounded up to whole bursts, the stream gets one burst.
 */
static void test_others_are_served(void **state)
{
	struct core_config cfg = world_config();
	unsigned urgent = 0, most = 0, left = BULK / 1024;
	struct stage s;

	(void)state;
	cfg.burst_bytes = 4096;
	cfg.window_bytes = 4 * BULK;
	start_on(&s, &cfg, IBV_QPT_RC);
	s.p.w->stall = 1000000; /* so that there is time for the READ to come in between */
	bulk_write(&s, 1);
	side_read(&s.p.b, 2, 0, 0, BULK);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, BULK);
	side_expect(&s.p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	expect_bulk(&s, 0, 1);
	for (unsigned i = 0; i < s.p.rules.n_log && left > 0; i++) {
		const struct logged *l = &s.p.rules.log[i];
		bool stream = l->pkt.bth.dest_qp == s.b.qpn;

		left -= stream;
		urgent = stream ? 0 : urgent + (l->from == 0);
		most = urgent > most ? urgent : most;
	}
	world_assert(s.p.w, left == 0);
	world_assert(s.p.w, most == 16);
	pair_finish(&s.p);
}

/* Nobody else has work when it would be his turn: nothing is sent twice, nothing left out. */
static void test_alone(void **state)
{
	struct core_config cfg = world_config();
	struct stage s;

	(void)state;
	start_on(&s, &cfg, IBV_QPT_RC);
	side_read(&s.p.b, 2, 0, 0, BULK);
	side_expect(&s.p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	world_assert(s.p.w, packets_to(&s, s.p.b.qp.qpn, 0, s.p.rules.n_log) == BULK / 1024);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, BULK);
	pair_finish(&s.p);
}

/* An ordinary QP's ACK of a single message waits (test_delayed_ack.c); this one's does not. */
static void test_ack_at_once(void **state)
{
	struct core_config cfg = world_config();
	struct stage s;
	uint64_t start;

	(void)state;
	cfg.ack_delay_ns = 10000;
	start_on(&s, &cfg, IBV_QPT_RC);
	start = s.p.w->now;
	side_recv(&s.p.b, 9, 0, 8);
	small(&s.p.a, UHCA_ABI_WR_SEND, 1, 8);
	side_expect(&s.p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	world_assert(s.p.w, s.p.w->now - start < 10000);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, 8);
	pair_finish(&s.p);
}

/* Payload that is not inline fails in its turn; what is behind it is flushed. */
static void test_not_inline(void **state)
{
	struct core_config cfg = world_config();
	struct stage s;

	(void)state;
	start_on(&s, &cfg, IBV_QPT_RC);
	small(&s.p.a, UHCA_ABI_WR_RDMA_WRITE, 1, 8);
	side_write(&s.p.a, 2, 0, 0, 8);
	small(&s.p.a, UHCA_ABI_WR_RDMA_WRITE, 3, 8);
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, 8);
	side_expect(&s.p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&s.p.a, 1, 2, UHCA_ABI_WC_LOC_QP_OP_ERR, 0);
	side_expect(&s.p.a, 2, 3, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	pair_finish(&s.p);
}

/* Requests that were lost go again, in their order. */
static void test_loss(void **state)
{
	static const struct link hurt = {
		.delay = 1000, .loss = 200000, .duplicate = 100000, .max_losses = 3};
	struct core_config cfg = world_config();
	struct stage s;

	(void)state;
	start_on(&s, &cfg, IBV_QPT_RC);
	world_set_links(s.p.w, &hurt);
	for (unsigned i = 0; i < 40; i++) {
		side_recv(&s.p.b, i, 0, 8);
		small(&s.p.a, UHCA_ABI_WR_SEND, 100 + i, 8);
		side_expect(&s.p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect(&s.p.a, i, 100 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	}
	pair_expect_copy(&s.p.a, 0, &s.p.b, 0, 8);
	pair_finish(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_first_among_short),
		cmocka_unit_test(test_others_are_served),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_ack_at_once),
		cmocka_unit_test(test_not_inline),
		cmocka_unit_test(test_loss),
	};

	return cmocka_run_group_tests_name("low_latency", tests, NULL, NULL);
}
