/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with a send request before any packet leaves: opcode, lengths, keys, handle. */
#include "pair.h"

#include "qp.h"
#include "send_check.h"

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
		cmocka_unit_test(test_rc),
		cmocka_unit_test(test_uc),
		cmocka_unit_test(test_ud),
		cmocka_unit_test(test_low_latency),
	};

	return cmocka_run_group_tests_name("send_check", tests, NULL, NULL);
}
