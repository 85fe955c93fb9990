/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink of a READ on a device with iWARP's rule (RFC 5040, 4.4): one element, which the peer
 * must be allowed to write. Beside it, the same on a device without.
 */
#include "tests/sim/world/pair.h"

static void start(struct pair *p, bool rule, uint32_t access, struct vmr *mr)
{
	struct core_config cfg = world_config();

	if (rule)
		cfg.features |= UHCA_ABI_HAS_SINK_RULE;
	pair_create(p, &(struct pair_options){.cfg = &cfg});
	world_assert(p->w, vclient_reg_mr_pd(&p->a.c, p->a.c.pd, &p->a.mr, access, mr) == 0);
}

static void post_into(struct pair *p, uint8_t opcode, uint32_t lkey, uint32_t n)
{
	static const uint64_t zeros[2];
	struct uhca_abi_sge sge[2] = {{p->a.mr.addr, 8, lkey}, {p->a.mr.addr + 100, 8, lkey}};
	struct vsend wr = {.wr_id = 1,
			   .opcode = opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = sge,
			   .num_sge = n,
			   .remote_addr = p->b.mr.addr,
			   .rkey = p->b.mr.rkey,
			   .masked = {zeros, sizeof(zeros), 8}};

	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

static void test_right(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool rule = i & 1, remote = i & 2;
		struct vmr mr;
		struct pair p;

		start(&p, rule, IBV_ACCESS_LOCAL_WRITE | (remote ? IBV_ACCESS_REMOTE_WRITE : 0),
		      &mr);
		post_into(&p, UHCA_ABI_WR_RDMA_READ, mr.lkey, 1);
		if (rule && !remote) {
			side_expect(&p.a, 0, 1, UHCA_ABI_WC_LOC_PROT_ERR, 0);
			world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_READ_REQ) == 0);
		} else {
			side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
			pair_expect_copy(&p.b, 0, &p.a, 0, 8);
		}
		pair_finish(&p);
	}
}

/* Other requests that fill elements have no such rule. */
static void test_atomics(void **state)
{
	static const uint8_t opcodes[][2] = {
		{UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, UHCA_ABI_WC_FETCH_ADD},
		{UHCA_ABI_WR_MASKED_FETCH_ADD, UHCA_ABI_WC_MASKED_FETCH_ADD},
	};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct vmr mr;
		struct pair p;

		start(&p, true, IBV_ACCESS_LOCAL_WRITE, &mr);
		post_into(&p, opcodes[i][0], mr.lkey, 1);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, opcodes[i][1]);
		pair_expect_copy(&p.b, 0, &p.a, 0, 8);
		pair_finish(&p);
	}
}

static void test_elements(void **state)
{
	(void)state;
	for (unsigned rule = 0; rule < 2; rule++) {
		struct vmr mr;
		struct pair p;

		start(&p, rule, PAIR_ACCESS, &mr);
		post_into(&p, UHCA_ABI_WR_RDMA_READ, mr.lkey, 2);
		side_expect(&p.a, 0, 1, rule ? UHCA_ABI_WC_LOC_QP_OP_ERR : UHCA_ABI_WC_SUCCESS,
			    UHCA_ABI_WC_RDMA_READ);
		if (!rule) {
			pair_expect_copy(&p.b, 0, &p.a, 0, 8);
			pair_expect_copy(&p.b, 8, &p.a, 100, 8);
		}
		pair_finish(&p);
	}
}

/* The right is taken away while the answer is on its way: nothing is placed. */
static void test_taken_away(void **state)
{
	struct uhca_cmd_rereg_mr in = {.flags = IBV_REREG_MR_CHANGE_ACCESS,
				       .access = IBV_ACCESS_LOCAL_WRITE};
	struct uhca_cmd_reg_mr_reply out;

	(void)state;
	for (unsigned rule = 0; rule < 2; rule++) {
		struct vmr mr;
		struct pair p;

		start(&p, rule, PAIR_ACCESS, &mr);
		post_into(&p, UHCA_ABI_WR_RDMA_READ, mr.lkey, 1);
		world_pump(p.w);
		in.handle = mr.handle;
		assert_int_equal(core_rereg_mr(p.a.c.core, &in, &out), 0);
		assert_int_equal(out.lkey, mr.lkey);
		side_expect(&p.a, 0, 1, rule ? UHCA_ABI_WC_LOC_PROT_ERR : UHCA_ABI_WC_SUCCESS,
			    UHCA_ABI_WC_RDMA_READ);
		if (!rule)
			pair_expect_copy(&p.b, 0, &p.a, 0, 8);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_elements),
		cmocka_unit_test(test_taken_away),
	};

	return cmocka_run_group_tests_name("sink_rule", tests, NULL, NULL);
}
