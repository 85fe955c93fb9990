/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A request is executed, and its QP goes before the ACK was sent: the peer must still hear it,
 * once, whether the QP is destroyed, reset or put in error.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/packets/orphan_ack.h"
#include "emu/core/qp/qp.h"

#include <stdlib.h>

static struct pair p;
static struct vqp_conn conn;

/* An empty WRITE from a to b, as the wire brings it; b executes it and owes an ACK. */
static void write_arrives(void)
{
	struct qp *b = device_find_qp(p.b.c.host->dev, p.b.qp.qpn);
	struct core_burst t;

	memset(&t, 0, sizeof t);
	t.head.bth.opcode.v = t.last_opcode.v = ROCE_RC_WRITE_ONLY;
	t.head.bth.pkey = 0xffff;
	t.head.bth.dest_qp = p.b.qp.qpn;
	t.head.bth.psn = b->resp.epsn;
	t.head.bth.ackreq = t.last_ackreq = true;
	memcpy(t.flow.src, b->flow.dst, 16);
	memcpy(t.flow.dst, b->flow.src, 16);
	t.count = 1;
	core_rx(p.b.c.host->dev, 1, &t);
}

static void expect_ack(bool expected)
{
	static uint8_t buf[65536];
	struct core_burst t;
	bool any = core_tx_next(p.b.c.host->dev, 2, buf, sizeof buf, &t);

	assert_int_equal(any, expected);
	if (!any)
		return;
	assert_int_equal(t.head.bth.opcode.v, ROCE_RC_ACKNOWLEDGE);
	assert_int_equal(t.head.bth.dest_qp, p.a.qp.qpn);
	assert_int_equal(t.model.qpn, p.b.qp.qpn);
	assert_int_equal(t.head.bth.psn, conn.rq_psn);
	assert_int_equal(t.head.aeth.msn, 1);
	assert_false(core_tx_next(p.b.c.host->dev, 2, buf, sizeof buf, &t));
}

static void start(void)
{
	conn = vqp_conn_default();
	conn.sq_psn = conn.rq_psn;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	write_arrives();
}

static void finish(void)
{
	vclient_close(&p.a.c);
	vclient_close(&p.b.c);
	free(p.a.wc);
	free(p.b.wc);
	world_destroy(p.w);
}

static void test_destroy(void **state)
{
	(void)state;
	start();
	assert_int_equal(vqp_destroy(&p.b.qp), 0);
	expect_ack(true);
	expect_ack(false);
	finish();
}

static void test_reset(void **state)
{
	(void)state;
	start();
	assert_int_equal(vqp_to_state(&p.b.qp, IBV_QPS_RESET), 0);
	expect_ack(true);
	finish();
}

static void test_error(void **state)
{
	(void)state;
	start();
	assert_int_equal(vqp_to_state(&p.b.qp, IBV_QPS_ERR), 0);
	expect_ack(true);
	finish();
}

/* More QPs go at once than there is room for: the rest is lost, nothing else. */
static void test_many(void **state)
{
	struct qp *b;

	(void)state;
	start();
	b = device_find_qp(p.b.c.host->dev, p.b.qp.qpn);
	for (unsigned i = 0; i < ORPHAN_ACK_MAX + 9; i++) {
		b->resp.ack_pending = true;
		orphan_ack_engine.leave(b);
	}
	assert_int_equal(b->dev->orphan_ack->used, ORPHAN_ACK_MAX);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_destroy),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("orphan_ack", tests, NULL, NULL);
}
