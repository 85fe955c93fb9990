/* SPDX-License-Identifier: BSD-2-Clause */
/* Every path MTU, and lengths on both sides of its multiples: packets are never longer (C9-92). */
#include "tests/sim/world/pair.h"

static const enum ibv_mtu mtus[] = {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048,
				    IBV_MTU_4096};

static unsigned packets_of(uint32_t length, uint32_t mtu)
{
	return length ? (length + mtu - 1) / mtu : 1;
}

static void check_packets(const struct pair *p, uint32_t mtu)
{
	for (unsigned i = 0; i < p->rules.n_log; i++) {
		const struct logged *l = &p->rules.log[i];
		enum roce_position at = roce_opcode_info(l->pkt.bth.opcode)->position;

		world_assert(p->w, l->pkt.payload_len <= mtu);
		if (at == ROCE_POS_FIRST || at == ROCE_POS_MIDDLE)
			world_assert(p->w, l->pkt.payload_len == mtu);
		world_assert(p->w, l->pkt.bth.pad == roce_pad(l->pkt.payload_len));
	}
}

static void move(enum ibv_mtu code, uint32_t length)
{
	struct vqp_conn conn = vqp_conn_default();
	uint32_t mtu = 128u << code;
	struct pair p;

	conn.mtu = code;
	pair_create(&p, &(struct pair_options){.conn = &conn});
	side_recv(&p.b, 1, 100000, length);
	side_send(&p.a, 1, 0, length);
	side_write(&p.a, 2, 0, 200000, length);
	side_read(&p.a, 3, 300000, 0, length);
	for (unsigned i = 0; i < 3; i++) {
		side_wait(&p.a, i + 1);
		world_assert(p.w, p.a.wc[i].status == UHCA_ABI_WC_SUCCESS);
	}
	pair_expect_copy(&p.a, 0, &p.b, 100000, length);
	pair_expect_copy(&p.a, 0, &p.b, 200000, length);
	pair_expect_copy(&p.b, 0, &p.a, 300000, length);
	check_packets(&p, mtu);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_SEND) == packets_of(length, mtu));
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_WRITE) == packets_of(length, mtu));
	world_assert(p.w, rules_count(&p.rules, 1, ROCE_OP_READ_RESP) == packets_of(length, mtu));
	pair_finish(&p);
}

static void test_lengths(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		for (uint32_t n = 0; n <= 4; n++) {
			uint32_t mtu = 128u << mtus[i];

			move(mtus[i], n * mtu);
			move(mtus[i], n * mtu + 1);
			if (n)
				move(mtus[i], n * mtu - 1);
		}
}

/* A peer that sends longer packets than agreed breaks the protocol: invalid request. */
static void test_longer_than_agreed(void **state)
{
	struct vqp_conn a = vqp_conn_default(), b;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){.unconnected = true});
	b = a;
	a.mtu = IBV_MTU_2048;
	b.mtu = IBV_MTU_1024;
	b.sq_psn = a.rq_psn;
	b.rq_psn = a.sq_psn;
	world_assert(p.w, vqp_init(&p.a.qp, &a) == 0 && vqp_init(&p.b.qp, &b) == 0);
	world_assert(p.w, vqp_rtr(&p.a.qp, &a, p.b.c.host, p.b.qp.qpn) == 0);
	world_assert(p.w, vqp_rtr(&p.b.qp, &b, p.a.c.host, p.a.qp.qpn) == 0);
	world_assert(p.w, vqp_rts(&p.a.qp, &a) == 0 && vqp_rts(&p.b.qp, &b) == 0);
	side_write(&p.a, 1, 0, 100000, 1500);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_longer_than_agreed),
	};

	return cmocka_run_group_tests_name("mtu", tests, NULL, NULL);
}
