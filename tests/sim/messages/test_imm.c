/* SPDX-License-Identifier: BSD-2-Clause */
/* Immediate data: four bytes that arrive as they were given, byte for byte, on every service. */
#include "tests/sim/world/pair.h"

#include <arpa/inet.h>

static const uint32_t values[] = {0, 1, 0x12345678, 0xff000000, 0xffffffff};

static void post_imm(struct side *s, uint8_t opcode, unsigned i, uint32_t length)
{
	side_post(s, &(struct op){.opcode = opcode,
				  .wr_id = i,
				  .flags = UHCA_ABI_SEND_SIGNALED,
				  .imm = values[i],
				  .length = length,
				  .remote = 300000});
}

static void expect_imm(struct pair *p, unsigned i, uint8_t opcode, uint32_t length)
{
	side_expect(&p->b, i, i, UHCA_ABI_WC_SUCCESS, opcode);
	side_expect_len(&p->b, i, length);
	world_assert(p->w, p->b.wc[i].flags & UHCA_ABI_WC_WITH_IMM);
	world_assert(p->w, p->b.wc[i].imm == values[i]);
}

static void connected(enum ibv_qp_type type, uint8_t opcode, uint32_t length)
{
	bool write = opcode == UHCA_ABI_WR_RDMA_WRITE_WITH_IMM;
	struct pair p;

	pair_create(&p, &(struct pair_options){.type = type});
	for (unsigned i = 0; i < 5; i++)
		side_recv(&p.b, i, 100000, 6000);
	for (unsigned i = 0; i < 5; i++)
		post_imm(&p.a, opcode, i, length);
	for (unsigned i = 0; i < 5; i++)
		expect_imm(&p, i, write ? UHCA_ABI_WC_RECV_RDMA_WITH_IMM : UHCA_ABI_WC_RECV,
			   length);
	pair_expect_copy(&p.a, 0, &p.b, write ? 300000 : 100000, length);
	pair_finish(&p);
}

static void test_connected(void **state)
{
	static const uint32_t length[] = {0, 1, 1024, 1025, 5000};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		connected(IBV_QPT_RC, UHCA_ABI_WR_SEND_WITH_IMM, length[i]);
		connected(IBV_QPT_RC, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, length[i]);
		connected(IBV_QPT_UC, UHCA_ABI_WR_SEND_WITH_IMM, length[i]);
		connected(IBV_QPT_UC, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, length[i]);
	}
}

/* On the wire it is big-endian as the application gave it (network order in verbs). */
static void test_on_the_wire(void **state)
{
	const struct logged *l;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 0, 100000, 10);
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND_WITH_IMM,
				     .imm = htonl(0xa1b2c3d4),
				     .length = 0});
	side_wait(&p.b, 1);
	l = rules_nth(&p.rules, 0, ROCE_OP_SEND, 0);
	world_assert(p.w, l && l->pkt.immdt == 0xa1b2c3d4);
	world_assert(p.w, ntohl(p.b.wc[0].imm) == 0xa1b2c3d4);
	pair_finish(&p);
}

/* A plain SEND says that it has none. */
static void test_without(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 0, 100000, 10);
	side_send(&p.a, 0, 0, 10);
	side_wait(&p.b, 1);
	world_assert(p.w, !(p.b.wc[0].flags & UHCA_ABI_WC_WITH_IMM));
	pair_expect_copy(&p.a, 0, &p.b, 100000, 10);
	pair_finish(&p);
}

/* Where the device has none of it, the request fails, and nothing is sent. */
static void test_missing(void **state)
{
	static const uint8_t opcode[] = {UHCA_ABI_WR_SEND_WITH_IMM,
					 UHCA_ABI_WR_RDMA_WRITE_WITH_IMM};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct core_config cfg = world_config();
		struct pair p;

		cfg.no_send_imm = i == 0;
		cfg.no_write_imm = i == 1;
		pair_create(&p, &(struct pair_options){.cfg = &cfg});
		side_recv(&p.b, 0, 100000, 6000);
		post_imm(&p.a, opcode[!i], 0, 10);
		side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS,
			    i ? UHCA_ABI_WC_SEND : UHCA_ABI_WC_RDMA_WRITE);
		post_imm(&p.a, opcode[i], 1, 10);
		side_wait(&p.a, 2);
		world_assert(p.w, p.a.wc[1].status == UHCA_ABI_WC_LOC_QP_OP_ERR);
		side_wait(&p.b, 1);
		pair_expect_copy(&p.a, 0, &p.b, i ? 100000 : 300000, 10);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_connected),
		cmocka_unit_test(test_on_the_wire),
		cmocka_unit_test(test_without),
		cmocka_unit_test(test_missing),
	};

	return cmocka_run_group_tests_name("imm", tests, NULL, NULL);
}
