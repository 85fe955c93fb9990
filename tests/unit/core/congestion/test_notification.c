/* SPDX-License-Identifier: BSD-2-Clause */
/* The notification point of a QP: which packets are ECN-capable, and what marks bring. */
#include "tests/sim/world/marks.h"

#include "emu/core/qp/queue_pair.h"

#define US 1000u

static struct marks m;

static void begin(const char *control, enum ibv_qp_type type)
{
	m = (struct marks){0};
	marks_config(&m, control);
	marks_start(&m, &(struct pair_options){.type = type});
}

static void write_at(uint64_t time, uint64_t wr_id)
{
	world_run(m.p.w, time);
	side_write(&m.p.a, wr_id, 0, 4096, 100);
	side_wait(&m.p.a, m.p.a.n_wc + 1);
	pair_expect_copy(&m.p.a, 0, &m.p.b, 4096, 100);
}

/* Bytes as annex A17.9.3 and adapters have them. */
static void test_packet(void **state)
{
	static const uint8_t expected[28] = {0x81, 0, 0xff, 0xff, 0x40};
	const struct marks_packet *cnp;
	struct roce_packet pkt;
	uint8_t bytes[64], payload[16] = {0};

	(void)state;
	begin("dcqcn", IBV_QPT_RC);
	m.chance[0] = 1000000;
	write_at(0, 1);
	assert_int_equal(marks_count(&m, 1, ROCE_OP_CNP), 1);
	cnp = marks_nth(&m, 1, ROCE_OP_CNP, 0);
	assert_int_equal(cnp->pkt.bth.dest_qp, m.p.a.qp.qpn);
	assert_int_equal(cnp->tclass, 48 << 2);
	pkt = cnp->pkt;
	pkt.payload = payload;
	pkt.bth.dest_qp = 0;
	assert_int_equal(roce_packet_emit(&pkt, bytes, sizeof(bytes)), 28);
	assert_memory_equal(bytes, expected, 28);
	pair_finish(&m.p);
}

/* Marks at 0, 49.999 and 50 us, and much later: the second one brings none. */
static void test_interval(void **state)
{
	uint64_t first;

	(void)state;
	begin("dcqcn", IBV_QPT_RC);
	m.chance[0] = 1000000;
	write_at(0, 1);
	first = marks_nth(&m, 0, ROCE_OP_WRITE, 0)->time;
	write_at(first + 49999, 2);
	assert_int_equal(marks_count(&m, 1, ROCE_OP_CNP), 1);
	write_at(first + 50 * US, 3);
	assert_int_equal(marks_count(&m, 1, ROCE_OP_CNP), 2);
	write_at(first + 500 * US, 4);
	assert_int_equal(marks_count(&m, 1, ROCE_OP_CNP), 3);
	assert_int_equal(marks_counters(&m.p.b)->ecn_marked, 4);
	assert_int_equal(marks_counters(&m.p.b)->cnps_sent, 3);
	assert_int_equal(marks_counters(&m.p.a)->cnps_received, 3);
	assert_int_equal(marks_counters(&m.p.a)->cnps_handled, 3);
	pair_finish(&m.p);
}

/* Requests and READ responses are ECN-capable; ACKs and CNPs are not. */
static void test_capable(void **state)
{
	(void)state;
	begin("dcqcn", IBV_QPT_RC);
	m.chance[0] = 1000000;
	side_recv(&m.p.b, 9, 8192, 4096);
	side_send(&m.p.a, 1, 0, 3000);
	side_read(&m.p.a, 2, 0, 0, 3000);
	side_fetch_add(&m.p.a, 3, 16384, 16384, 5);
	side_wait(&m.p.a, 3);
	pair_expect_copy(&m.p.a, 0, &m.p.b, 8192, 3000);
	pair_expect_copy(&m.p.b, 0, &m.p.a, 0, 3000);
	side_ignore(&m.p.a, 0, 32768);
	side_ignore(&m.p.b, 0, 32768);
	for (unsigned i = 0; i < m.n; i++) {
		const struct marks_packet *k = &m.log[i];
		enum roce_operation op = roce_opcode_info(k->pkt.bth.opcode)->operation;

		if (op == ROCE_OP_CNP)
			assert_int_equal(k->tclass, 192);
		else if (op == ROCE_OP_ACK || op == ROCE_OP_ATOMIC_ACK)
			assert_int_equal(k->tclass, ROCE_NOT_ECT);
		else
			assert_int_equal(k->tclass, ROCE_ECT0);
	}
	assert_true(marks_count(&m, 1, ROCE_OP_CNP) > 0);
	pair_finish(&m.p);
}

/* READ responses that were marked bring a CNP from the requester. */
static void test_responses(void **state)
{
	(void)state;
	begin("dcqcn", IBV_QPT_RC);
	m.chance[1] = 1000000;
	side_read(&m.p.a, 1, 0, 4096, 3000);
	side_wait(&m.p.a, 1);
	pair_expect_copy(&m.p.b, 4096, &m.p.a, 0, 3000);
	world_run(m.p.w, m.p.w->now + 10 * US);
	assert_int_equal(marks_counters(&m.p.a)->ecn_marked, 3);
	assert_int_equal(marks_counters(&m.p.a)->cnps_sent, 1);
	assert_int_equal(marks_counters(&m.p.b)->cnps_handled, 1);
	pair_finish(&m.p);
}

/* UC has no ACKs: CNPs are all that a control can have of it. */
static void test_unreliable(void **state)
{
	static const char *const controls[] = {"dcqcn", "swift"};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		begin(controls[i], IBV_QPT_UC);
		m.chance[0] = 1000000;
		write_at(0, 1);
		world_run(m.p.w, m.p.w->now + 10 * US);
		assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 0)->tclass,
				 i ? ROCE_NOT_ECT : ROCE_ECT0);
		assert_int_equal(marks_counters(&m.p.a)->cnps_handled, i ? 0 : 1);
		pair_finish(&m.p);
	}
}

/* DCTCP: no CNPs, and an ACK has BECN when what it acknowledges was marked. */
static void test_echo(void **state)
{
	uint64_t window;

	(void)state;
	begin("dctcp", IBV_QPT_RC);
	window = marks_qp(&m.p.a)->congestion->flow.window;
	write_at(0, 1);
	assert_false(marks_nth(&m, 1, ROCE_OP_ACK, 0)->pkt.bth.becn);
	assert_int_equal(marks_qp(&m.p.a)->congestion->flow.window, window + MARKS_PACKET);
	m.chance[0] = 1000000;
	write_at(0, 2);
	assert_true(marks_nth(&m, 1, ROCE_OP_ACK, 1)->pkt.bth.becn);
	/* alpha is 15/16, of the round before, x 15/16 + 1/16: cut to 1 - 0.94140625 / 2. */
	assert_in_range(marks_qp(&m.p.a)->congestion->flow.window,
			(uint64_t)((double)(window + MARKS_PACKET) * 0.529296875) - 2,
			(uint64_t)((double)(window + MARKS_PACKET) * 0.529296875) + 2);
	assert_int_equal(marks_count(&m, 1, ROCE_OP_CNP), 0);
	pair_finish(&m.p);
}

/* Without congestion control packets go as they are, and marks only count. */
static void test_off(void **state)
{
	struct link link = link_default();

	(void)state;
	begin(NULL, IBV_QPT_RC);
	assert_null(marks_qp(&m.p.a)->congestion);
	marks_qp(&m.p.a)->flow.tclass = 0x6a;
	m.chance[0] = 1000000;
	world_set_links(m.p.w, &link);
	write_at(0, 1);
	world_run(m.p.w, m.p.w->now + 100 * US);
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 0)->tclass, 0x6a);
	assert_int_equal(marks_nth(&m, 1, ROCE_OP_ACK, 0)->tclass, 0);
	assert_int_equal(marks_count(&m, 1, ROCE_OP_CNP), 0);
	assert_int_equal(marks_counters(&m.p.b)->ecn_marked, 1);
	pair_finish(&m.p);
}

/* The program's ECN bits are none of its business; its DSCP is. */
static void test_traffic_class(void **state)
{
	(void)state;
	begin("dcqcn", IBV_QPT_RC);
	marks_qp(&m.p.a)->flow.tclass = 0x6b;
	marks_qp(&m.p.b)->flow.tclass = 0x6b;
	write_at(0, 1);
	assert_int_equal(marks_nth(&m, 0, ROCE_OP_WRITE, 0)->tclass, 0x6a);
	assert_int_equal(marks_nth(&m, 1, ROCE_OP_ACK, 0)->tclass, 0x68);
	pair_finish(&m.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packet),     cmocka_unit_test(test_interval),
		cmocka_unit_test(test_capable),    cmocka_unit_test(test_responses),
		cmocka_unit_test(test_unreliable), cmocka_unit_test(test_echo),
		cmocka_unit_test(test_off),        cmocka_unit_test(test_traffic_class),
	};

	return cmocka_run_group_tests_name("notification", tests, NULL, NULL);
}
