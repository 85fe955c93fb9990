/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The longest message that IBTA allows, 2^31 bytes, in each operation that moves bytes.
 * Memory is a pattern that nothing stores, so that it costs time but no space. With the smallest
 * MTU such a message takes 2^23 PSNs, half of all there are.
 */
#include "tests/sim/world/pair.h"

#define LONGEST (1ull << 31)

struct stage {
	struct pair p;
	struct vmr a, b;
};

static void map_pattern(struct pair *p, struct side *s, struct vmr *mr)
{
	uint64_t va = memory_map_pattern(&s->c.mem, LONGEST);

	world_assert(p->w, vclient_reg_mr(&s->c, va, LONGEST, PAIR_ACCESS, mr) == 0);
}

static void create(struct stage *s, enum ibv_mtu mtu)
{
	struct vqp_conn conn = vqp_conn_default();
	struct link link = link_default();

	conn.mtu = mtu;
	pair_create(&s->p, &(struct pair_options){.conn = &conn, .buffer = 4096});
	rules_detach(&s->p.rules); /* no log of half a million packets */
	link.split = link.wire = 0;
	link.loss = 200; /* whole bursts; some go-back at large PSN distances */
	link.max_losses = 2;
	world_set_links(s->p.w, &link);
	map_pattern(&s->p, &s->p.a, &s->a);
	map_pattern(&s->p, &s->p.b, &s->b);
}

static void post(struct stage *s, uint8_t opcode)
{
	struct uhca_abi_sge sge[2] = {{s->a.addr, LONGEST / 2, s->a.lkey},
				      {s->a.addr + LONGEST / 2, LONGEST / 2, s->a.lkey}};
	struct vsend wr = {.wr_id = 1,
			   .opcode = opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = sge,
			   .num_sge = 2,
			   .remote_addr = s->b.addr,
			   .rkey = s->b.rkey};

	world_assert(s->p.w, vqp_post_send(&s->p.a.qp, &wr) == 0);
}

static void expect_written(struct stage *s, struct side *side, const struct vmr *mr)
{
	struct memory_area *area = memory_find(&side->c.mem, mr->addr, mr->length);

	world_assert(s->p.w, area->mismatches == 0);
	world_assert(s->p.w, area->written >= LONGEST);
}

static void move_write(enum ibv_mtu mtu)
{
	struct stage s;

	create(&s, mtu);
	post(&s, UHCA_ABI_WR_RDMA_WRITE);
	side_expect(&s.p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	expect_written(&s, &s.p.b, &s.b);
	pair_finish(&s.p);
}

static void move_read(enum ibv_mtu mtu)
{
	struct stage s;

	create(&s, mtu);
	post(&s, UHCA_ABI_WR_RDMA_READ);
	side_expect(&s.p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect_len(&s.p.a, 0, LONGEST);
	expect_written(&s, &s.p.a, &s.a);
	pair_finish(&s.p);
}

static void move_send(enum ibv_mtu mtu)
{
	struct uhca_abi_sge sge;
	struct vrecv wr = {2, &sge, 1};
	struct stage s;

	create(&s, mtu);
	sge = (struct uhca_abi_sge){s.b.addr, LONGEST, s.b.lkey};
	world_assert(s.p.w, vqp_post_recv(&s.p.b.qp, &wr) == 0);
	post(&s, UHCA_ABI_WR_SEND);
	side_expect(&s.p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&s.p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&s.p.b, 0, LONGEST);
	expect_written(&s, &s.p.b, &s.b);
	pair_finish(&s.p);
}

static void test_write(void **state)
{
	(void)state;
	move_write(IBV_MTU_4096);
	move_write(IBV_MTU_256);
}

static void test_read(void **state)
{
	(void)state;
	move_read(IBV_MTU_4096);
	move_read(IBV_MTU_256);
}

static void test_send(void **state)
{
	(void)state;
	move_send(IBV_MTU_4096);
	move_send(IBV_MTU_256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_send),
	};

	return cmocka_run_group_tests_name("max_message", tests, NULL, NULL);
}
