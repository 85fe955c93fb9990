/* SPDX-License-Identifier: BSD-2-Clause */
/* When a request that sends nothing may be done, and that it is done once. */
#include "tests/sim/world/pair.h"

#include "emu/core/qp/qp.h"
#include "emu/core/send/local_op.h"

static void test_which(void **state)
{
	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		struct send_wr w = {.wqe.opcode = (uint8_t)opcode};

		assert_int_equal(local_op_is(&w), opcode == UHCA_ABI_WR_BIND_MW ||
							  opcode == UHCA_ABI_WR_LOCAL_INV ||
							  fast_reg_is((uint8_t)opcode));
	}
}

/* una behind the cursor: something is incomplete; a READ may be among it. */
static enum requester_blocked blocked(uint8_t opcode, uint16_t flags, uint32_t ahead,
				      uint32_t reads)
{
	struct send_wr w = {.wqe = {.opcode = opcode, .flags = flags}};
	struct qp qp = {.type = QPT_RC};

	qp.req.una = 5;
	qp.req.send = 5 + ahead;
	qp.req.rd_outstanding = reads;
	return local_op_blocked(&qp, &w);
}

static void test_fence(void **state)
{
	static const uint8_t opcode[] = {UHCA_ABI_WR_BIND_MW, UHCA_ABI_WR_REG_MR,
					 UHCA_ABI_WR_REG_SG, UHCA_ABI_WR_REG_INTERLEAVED,
					 UHCA_ABI_WR_LOCAL_INV};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(blocked(opcode[i], 0, 1, 1), BLOCKED_NOT);
		assert_int_equal(blocked(opcode[i], UHCA_ABI_SEND_FENCE, 0, 0), BLOCKED_NOT);
		assert_int_equal(blocked(opcode[i], UHCA_ABI_SEND_FENCE, 1, 1), BLOCKED_FENCE);
	}
	assert_int_equal(blocked(UHCA_ABI_WR_BIND_MW, UHCA_ABI_SEND_FENCE, 1, 0), BLOCKED_NOT);
	assert_int_equal(blocked(UHCA_ABI_WR_LOCAL_INV, UHCA_ABI_SEND_FENCE, 1, 0), BLOCKED_FENCE);
}

/* What fails gets its status, and the cursor stays for its turn. */
static void test_failure(void **state)
{
	struct send_wr w = {.wqe = {.opcode = UHCA_ABI_WR_LOCAL_INV, .imm = 12345}};
	struct pair p;
	struct qp *qp;
	uint32_t cursor;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	qp = device_find_qp(p.a.c.host->dev, p.a.qp.qpn);
	cursor = qp->req.send;
	local_op_run(qp, &w);
	assert_int_equal(w.status, UHCA_ABI_WC_MW_BIND_ERR);
	assert_false(w.executed);
	assert_int_equal(qp->req.send, cursor);
	pair_finish(&p);
}

/* The queue goes back over it: it is passed, not done again. */
static void test_once(void **state)
{
	struct vsend inv = {
		.opcode = UHCA_ABI_WR_LOCAL_INV, .flags = UHCA_ABI_SEND_SIGNALED, .wr_id = 3};
	struct vsend bind = {.opcode = UHCA_ABI_WR_BIND_MW, .flags = UHCA_ABI_SEND_SIGNALED};
	struct vmr mr;
	struct vmw w;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	assert_int_equal(vclient_reg_mr_pd(&p.a.c, p.a.c.pd, &p.a.mr, IBV_ACCESS_MW_BIND, &mr), 0);
	assert_int_equal(vclient_alloc_mw(&p.a.c, p.a.c.pd, 2, &w), 0);
	bind.wr_id = 2;
	bind.bind.addr = mr.addr;
	bind.bind.length = 64;
	bind.bind.mr_lkey = mr.lkey;
	bind.bind.mw_rkey = w.rkey;
	bind.bind.new_rkey = inv.imm = w.rkey ^ 1;
	rules_add(
		&p.rules,
		&(struct rule){.from = 0, .op = ROCE_OP_WRITE, .count = 3, .verdict = WORLD_DROP});
	side_write(&p.a, 1, 0, 0, 64);
	assert_int_equal(vqp_post_send(&p.a.qp, &bind), 0);
	assert_int_equal(vqp_post_send(&p.a.qp, &inv), 0);
	pair_expect_copy(&p.a, 0, &p.b, 0, 64);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_BIND_MW);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_failure),
		cmocka_unit_test(test_once),
	};

	return cmocka_run_group_tests_name("local_op", tests, NULL, NULL);
}
