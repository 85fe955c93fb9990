/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of no bytes: with an empty element, without elements, inline, of every operation. */
#include "tests/sim/world/pair.h"

static void post_empty(struct pair *p, uint8_t opcode, uint32_t num_sge, enum vpost_mode mode)
{
	struct uhca_abi_sge sge[2] = {{p->a.mr.addr, 0, p->a.mr.lkey}, {0, 0, 0}};
	struct vsend wr = {.wr_id = opcode,
			   .opcode = opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .mode = mode,
			   .sge = sge,
			   .num_sge = num_sge,
			   .remote_addr = p->b.mr.addr,
			   .rkey = p->b.mr.rkey,
			   .imm = 5};

	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

static void all_operations(uint32_t num_sge, enum vpost_mode mode)
{
	struct pair p;

	pair_create(&p, &(struct pair_options){.init = {.max_inline_data = 16}});
	for (unsigned i = 0; i < 3; i++)
		side_recv(&p.b, i, 100000, i * 50);
	post_empty(&p, UHCA_ABI_WR_SEND, num_sge, mode);
	post_empty(&p, UHCA_ABI_WR_SEND_WITH_IMM, num_sge, mode);
	post_empty(&p, UHCA_ABI_WR_RDMA_WRITE, num_sge, mode);
	post_empty(&p, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, num_sge, mode);
	post_empty(&p, UHCA_ABI_WR_RDMA_READ, num_sge, VPOST_PLAIN);
	side_expect(&p.a, 0, UHCA_ABI_WR_SEND, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 1, UHCA_ABI_WR_SEND_WITH_IMM, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 2, UHCA_ABI_WR_RDMA_WRITE, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 3, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, UHCA_ABI_WC_SUCCESS,
		    UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 4, UHCA_ABI_WR_RDMA_READ, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect_len(&p.a, 4, 0);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect(&p.b, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect(&p.b, 2, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV_RDMA_WITH_IMM);
	for (unsigned i = 0; i < 3; i++)
		side_expect_len(&p.b, i, 0);
	world_assert(p.w, p.b.wc[1].imm == 5 && p.b.wc[2].imm == 5);
	pair_finish(&p);
}

static void test_reliable(void **state)
{
	(void)state;
	all_operations(0, VPOST_PLAIN);
	all_operations(1, VPOST_PLAIN);
	all_operations(2, VPOST_PLAIN);
	all_operations(0, VPOST_INLINE);
	all_operations(1, VPOST_INLINE);
	all_operations(1, VPOST_GATHERED);
}

/* Between non-empty ones, under loss: an empty message still takes its PSN. */
static void test_mixed_with_loss(void **state)
{
	struct link link = link_default();
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.seed = 3});
	link.loss = 200000;
	link.max_losses = 2;
	world_set_links(p.w, &link);
	for (unsigned i = 0; i < 40; i++) {
		uint32_t length = i % 3 ? 0 : 1500;

		side_recv(&p.b, i, 100000 + 2000 * i, 2000);
		side_send(&p.a, i, 2000 * i, length);
		pair_expect_copy(&p.a, 2000 * i, &p.b, 100000 + 2000 * i, length);
	}
	for (unsigned i = 0; i < 40; i++) {
		side_expect(&p.b, i, i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect_len(&p.b, i, i % 3 ? 0 : 1500);
	}
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reliable),
		cmocka_unit_test(test_mixed_with_loss),
	};

	return cmocka_run_group_tests_name("zero_length", tests, NULL, NULL);
}
