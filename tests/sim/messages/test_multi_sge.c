/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scatter/gather lists on both sides whose seams lie anywhere: inside packets, on their borders,
 * empty elements between (seed 000: a list of elements, each its own key).
 */
#include "tests/sim/world/pair.h"

#define TOTAL 6000u
#define MAX   16u

/* Cuts TOTAL bytes at base into n elements with gaps between; pattern is chosen by r. */
static uint32_t cut(struct side *s, struct prng *r, uint32_t base, struct uhca_abi_sge *sge)
{
	uint32_t n = prng_range(r, 1, MAX), left = TOTAL, at = base;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t piece = i + 1 == n ? left : prng_below(r, left + 1);

		if (prng_below(r, 4) == 0 && i + 1 < n)
			piece = piece > 1024 ? 1024 : 0; /* a packet's border, or nothing */
		sge[i] = (struct uhca_abi_sge){s->mr.addr + at, piece, s->mr.lkey};
		at += piece + prng_below(r, 50);
		left -= piece;
	}
	return n;
}

/* The bytes that "from" names are expected in "to". */
static void expect(struct side *a, const struct uhca_abi_sge *from, uint32_t n_from, struct side *b,
		   const struct uhca_abi_sge *to)
{
	uint8_t flat[TOTAL];
	uint32_t at = 0;

	for (uint32_t i = 0; i < n_from; at += from[i++].length)
		if (from[i].length)
			memcpy(flat + at, memory_expected(&a->c.mem, from[i].addr, from[i].length),
			       from[i].length);
	at = 0;
	for (uint32_t i = 0; at < TOTAL; at += to[i++].length)
		if (to[i].length)
			memory_expect(&b->c.mem, to[i].addr, flat + at, to[i].length);
}

static void send_lists(enum ibv_mtu mtu, uint64_t seed)
{
	struct vqp_conn conn = vqp_conn_default();
	struct prng r = {seed};
	struct uhca_abi_sge from[MAX], to[MAX];
	struct vsend wr = {.wr_id = 1, .flags = UHCA_ABI_SEND_SIGNALED, .sge = from};
	struct vrecv recv = {.wr_id = 2, .sge = to};
	struct pair p;

	conn.mtu = mtu;
	pair_create(&p, &(struct pair_options){.conn = &conn,
					       .seed = seed,
					       .init = {.max_send_sge = MAX, .max_recv_sge = MAX}});
	wr.num_sge = cut(&p.a, &r, 1000, from);
	recv.num_sge = cut(&p.b, &r, 20000, to);
	expect(&p.a, from, wr.num_sge, &p.b, to);
	world_assert(p.w, vqp_post_recv(&p.b.qp, &recv) == 0);
	wr.opcode = UHCA_ABI_WR_SEND;
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&p.b, 0, TOTAL);
	pair_finish(&p);
}

static void test_send(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		send_lists(IBV_MTU_256 + (enum ibv_mtu)(seed % 5), seed);
}

/* A WRITE gathers from a list, a READ scatters into one. */
static void write_and_read(uint64_t seed)
{
	struct prng r = {seed};
	struct uhca_abi_sge from[MAX], to[MAX];
	struct pair p;
	struct vsend wr = {.flags = UHCA_ABI_SEND_SIGNALED};

	pair_create(&p, &(struct pair_options){.seed = seed, .init = {.max_send_sge = MAX}});
	struct uhca_abi_sge there = {p.b.mr.addr + 50000, TOTAL, p.b.mr.lkey};

	wr.remote_addr = there.addr;
	wr.rkey = p.b.mr.rkey;
	wr.opcode = UHCA_ABI_WR_RDMA_WRITE;
	wr.sge = from;
	wr.num_sge = cut(&p.a, &r, 1000, from);
	expect(&p.a, from, wr.num_sge, &p.b, &there);
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	wr.opcode = UHCA_ABI_WR_RDMA_READ;
	wr.sge = to;
	wr.num_sge = cut(&p.a, &r, 40000, to);
	expect(&p.b, &there, 1, &p.a, to);
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.a, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect_len(&p.a, 1, TOTAL);
	pair_finish(&p);
}

static void test_write_and_read(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		write_and_read(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_write_and_read),
	};

	return cmocka_run_group_tests_name("multi_sge", tests, NULL, NULL);
}
