/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a send request before any packet leaves: opcode, lengths, keys, handle. */
#include "tests/sim/world/pair.h"

#include "emu/core/qp/qp.h"
#include "emu/core/send/send_check.h"

static struct pair p;
static struct uhca_abi_sge sge;
static uint32_t length;

static uint8_t check(uint8_t opcode, uint16_t flags, uint32_t inline_length)
{
	struct side *s = &p.a;
	struct qp *qp = device_find_qp(s->c.host->dev, s->qp.qpn);
	struct sgl l = {qp->dev, qp->pd, &sge, flags & UHCA_ABI_SEND_INLINE ? 0 : 1};
	struct uhca_abi_send_wqe w = {.opcode = opcode,
				      .flags = flags,
				      .inline_length = inline_length,
				      .num_sge = (uint8_t)l.n};

	return send_check(qp, &w, &l, &length);
}

static void start(enum ibv_qp_type type)
{
	pair_create(&p, &(struct pair_options){.type = type});
	sge = (struct uhca_abi_sge){p.a.mr.addr, 64, p.a.mr.lkey};
}

static void test_rc(void **state)
{
	(void)state;
	start(IBV_QPT_RC);
	assert_int_equal(check(UHCA_ABI_WR_SEND, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(length, 64);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_READ, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, 0, 0), UHCA_ABI_WC_LOC_LEN_ERR);
	assert_int_equal(length, 0);
	sge.length = 8;
	assert_int_equal(check(UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(200, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_INLINE, 5), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(length, 5);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_READ, UHCA_ABI_SEND_INLINE, 5),
			 UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_GATHERED, 8), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_GATHERED, 9),
			 UHCA_ABI_WC_LOC_QP_OP_ERR);
	sge.lkey ^= 0x80;
	assert_int_equal(check(UHCA_ABI_WR_SEND, 0, 0), UHCA_ABI_WC_LOC_PROT_ERR);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_GATHERED, 8),
			 UHCA_ABI_WC_LOC_PROT_ERR);
	sge.length = 0x80000001u;
	assert_int_equal(check(UHCA_ABI_WR_SEND, 0, 0), UHCA_ABI_WC_LOC_LEN_ERR);
	pair_finish(&p);
}

static uint8_t check_masked(uint8_t opcode, uint32_t size, uint32_t operands)
{
	struct side *s = &p.a;
	struct qp *qp = device_find_qp(s->c.host->dev, s->qp.qpn);
	struct sgl l = {qp->dev, qp->pd, &sge, 1};
	struct uhca_abi_send_wqe w = {
		.opcode = opcode, .inline_length = operands, .num_sge = 1, .masked.size = size};

	return send_check(qp, &w, &l, &length);
}

static void test_masked_atomics(void **state)
{
	const uint8_t cas = UHCA_ABI_WR_MASKED_CMP_SWP, add = UHCA_ABI_WR_MASKED_FETCH_ADD;

	(void)state;
	start(IBV_QPT_RC);
	for (uint32_t size = 0; size <= 64; size++) {
		bool good = size == 4 || size == 8 || size == 16 || size == 32;

		sge.length = size;
		assert_int_equal(check_masked(cas, size, 4 * size),
				 good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_LOC_QP_OP_ERR);
		assert_int_equal(length, good ? size : 0);
		assert_int_equal(check_masked(add, size, 2 * size),
				 good ? UHCA_ABI_WC_SUCCESS : UHCA_ABI_WC_LOC_QP_OP_ERR);
		assert_int_equal(check_masked(add, size, 4 * size), UHCA_ABI_WC_LOC_QP_OP_ERR);
		sge.length++;
		assert_int_equal(check_masked(add, size, 2 * size),
				 good ? UHCA_ABI_WC_LOC_LEN_ERR : UHCA_ABI_WC_LOC_QP_OP_ERR);
	}
	pair_finish(&p);
	start(IBV_QPT_UC);
	sge.length = 8;
	assert_int_equal(check_masked(cas, 8, 32), UHCA_ABI_WC_LOC_QP_OP_ERR);
	pair_finish(&p);
}

static void test_local_rights(void **state)
{
	struct core_config cfg;

	(void)state;
	core_config_default(&cfg);
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_RDMA_WRITE), 0);
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_RDMA_READ), MR_LOCAL_WRITE);
	assert_int_equal(send_max_read_sge(&cfg), cfg.limits.max_sge);
	cfg.features |= UHCA_ABI_HAS_SINK_RULE;
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_RDMA_WRITE), 0);
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD), MR_LOCAL_WRITE);
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_MASKED_CMP_SWP), MR_LOCAL_WRITE);
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_RDMA_READ),
			 MR_LOCAL_WRITE | MR_REMOTE_WRITE);
	assert_int_equal(send_local_rights(&cfg, UHCA_ABI_WR_READ_WITH_INV),
			 MR_LOCAL_WRITE | MR_REMOTE_WRITE);
	assert_int_equal(send_max_read_sge(&cfg), 1);
}

static void test_uc(void **state)
{
	(void)state;
	start(IBV_QPT_UC);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_WRITE, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_READ, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	pair_finish(&p);
}

static void test_ud(void **state)
{
	(void)state;
	start(IBV_QPT_UD);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_WRITE, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	/* Handle 0 is nobody's. */
	assert_int_equal(check(UHCA_ABI_WR_SEND, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	pair_finish(&p);
}

/* The fence of LOCAL_INV is optional, the fences of others are not. */
static void test_invalidate_fence(void **state)
{
	uint32_t *features;

	(void)state;
	start(IBV_QPT_RC);
	features = &p.a.c.host->dev->cfg.features;
	assert_int_equal(check(UHCA_ABI_WR_LOCAL_INV, UHCA_ABI_SEND_FENCE, 0), UHCA_ABI_WC_SUCCESS);
	*features &= ~(uint32_t)UHCA_ABI_HAS_INV_FENCE;
	assert_int_equal(check(UHCA_ABI_WR_LOCAL_INV, UHCA_ABI_SEND_FENCE, 0),
			 UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_LOCAL_INV, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_FENCE, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_BIND_MW, UHCA_ABI_SEND_FENCE, 0), UHCA_ABI_WC_SUCCESS);
	pair_finish(&p);
}

/* What a low-latency QP sends is inline; what it fetches may be long. */
static void test_low_latency(void **state)
{
	(void)state;
	pair_create(&p, &(struct pair_options){.init = {.create_flags = UHCA_ABI_QP_LOW_LATENCY,
							.max_send_wr = 4}});
	sge = (struct uhca_abi_sge){p.a.mr.addr, 64, p.a.mr.lkey};
	assert_int_equal(check(UHCA_ABI_WR_SEND, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_GATHERED, 64),
			 UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_SEND, UHCA_ABI_SEND_INLINE, 64), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_WRITE, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_RDMA_READ, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_LOCAL_INV, 0, 0), UHCA_ABI_WC_SUCCESS);
	sge.length = 8;
	assert_int_equal(check(UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, 0, 0), UHCA_ABI_WC_SUCCESS);
	assert_int_equal(check(UHCA_ABI_WR_ATOMIC_WRITE, 0, 0), UHCA_ABI_WC_LOC_QP_OP_ERR);
	assert_int_equal(check(UHCA_ABI_WR_ATOMIC_WRITE, UHCA_ABI_SEND_INLINE, 8),
			 UHCA_ABI_WC_SUCCESS);
	sge.length = 0;
	assert_int_equal(check(UHCA_ABI_WR_SEND, 0, 0), UHCA_ABI_WC_SUCCESS);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rc),           cmocka_unit_test(test_masked_atomics),
		cmocka_unit_test(test_local_rights), cmocka_unit_test(test_uc),
		cmocka_unit_test(test_ud),           cmocka_unit_test(test_invalidate_fence),
		cmocka_unit_test(test_low_latency),
	};

	return cmocka_run_group_tests_name("send_check", tests, NULL, NULL);
}
