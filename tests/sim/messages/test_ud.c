/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Datagrams (9.8.3): 40 bytes of GRH in front, the sender's QP number, Q_Keys, lengths, several
 * destinations from one QP, IPv4 and IPv6 addresses.
 */
#include "tests/sim/world/pair.h"
#include "wire/grh.h"

static void create(struct pair *p)
{
	pair_create(p, &(struct pair_options){.type = IBV_QPT_UD});
}

static uint32_t make_ah(struct pair *p, struct side *from, const struct side *to, uint8_t gid)
{
	uint32_t ah = 0;

	world_assert(p->w, vclient_create_ah(&from->c, to->c.host, gid, &ah) == 0);
	return ah;
}

/* Sends length bytes of the buffer's beginning. */
static void send(struct pair *p, uint32_t ah, uint32_t length, uint32_t qkey)
{
	struct uhca_abi_sge sge = {p->a.mr.addr, length, p->a.mr.lkey};
	struct vsend wr = {.wr_id = 1,
			   .opcode = UHCA_ABI_WR_SEND,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .ah = ah,
			   .remote_qpn = p->b.qp.qpn,
			   .remote_qkey = qkey};

	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

static void expect_datagram(struct pair *p, uint32_t length, const uint8_t src[16],
			    const uint8_t dst[16])
{
	const struct uhca_abi_cqe *wc;
	struct roce_flow flow;

	side_expect(&p->b, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect_len(&p->b, 0, length + 40);
	wc = &p->b.wc[0];
	world_assert(p->w, wc->flags & UHCA_ABI_WC_GRH);
	world_assert(p->w, wc->src_qp == p->a.qp.qpn);
	world_assert(p->w,
		     roce_grh_parse(memory_at(&p->b.c.mem, p->b.mr.addr + 100000, 40), &flow));
	world_assert(p->w, memcmp(flow.src, src, 16) == 0 && memcmp(flow.dst, dst, 16) == 0);
	side_ignore(&p->b, 100000, 40);
	pair_expect_copy(&p->a, 0, &p->b, 100040, length);
}

static void test_lengths(void **state)
{
	static const uint32_t length[] = {0,   1,   3,   4,    100,  855, 856,
					  919, 920, 921, 1024, 4095, 4096};

	(void)state;
	for (unsigned i = 0; i < sizeof length / sizeof *length; i++) {
		struct pair p;

		create(&p);
		side_recv(&p.b, 2, 100000, length[i] + 40);
		send(&p, make_ah(&p, &p.a, &p.b, 0), length[i], p.conn.qkey);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		expect_datagram(&p, length[i], p.a.c.host->gid[0], p.b.c.host->gid[0]);
		pair_finish(&p);
	}
}

static void test_ipv6(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	side_recv(&p.b, 2, 100000, 200);
	send(&p, make_ah(&p, &p.a, &p.b, 1), 100, p.conn.qkey);
	expect_datagram(&p, 100, p.a.c.host->gid[1], p.b.c.host->gid[1]);
	pair_finish(&p);
}

/* The GRH may be scattered over elements of any size. */
static void test_grh_in_pieces(void **state)
{
	struct uhca_abi_sge sge[4];
	struct vrecv wr = {2, sge, 4};
	struct pair p;

	(void)state;
	create(&p);
	for (uint32_t i = 0, at = 100000; i < 4; at += sge[i++].length)
		sge[i] = (struct uhca_abi_sge){p.b.mr.addr + at, (uint32_t[]){7, 30, 10, 500}[i],
					       p.b.mr.lkey};
	world_assert(p.w, vqp_post_recv(&p.b.qp, &wr) == 0);
	send(&p, make_ah(&p, &p.a, &p.b, 0), 300, p.conn.qkey);
	expect_datagram(&p, 300, p.a.c.host->gid[0], p.b.c.host->gid[0]);
	pair_finish(&p);
}

/* Another Q_Key: dropped in silence, the receive stays (9.6.1.3). */
static void test_wrong_qkey(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	side_recv(&p.b, 2, 100000, 140);
	send(&p, make_ah(&p, &p.a, &p.b, 0), 100, p.conn.qkey + 1);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->drops[CORE_DROP_QKEY] == 1);
	send(&p, make_ah(&p, &p.a, &p.b, 0), 100, p.conn.qkey);
	expect_datagram(&p, 100, p.a.c.host->gid[0], p.b.c.host->gid[0]);
	pair_finish(&p);
}

/* With the high bit set the QP's own Q_Key is sent (9.6.1.3, privileged Q_Keys). */
static void test_own_qkey(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	side_recv(&p.b, 2, 100000, 140);
	send(&p, make_ah(&p, &p.a, &p.b, 0), 100, 0x80000000);
	expect_datagram(&p, 100, p.a.c.host->gid[0], p.b.c.host->gid[0]);
	pair_finish(&p);
}

static void test_no_receive(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	send(&p, make_ah(&p, &p.a, &p.b, 0), 100, p.conn.qkey);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_quiet(&p.b, PAIR_SECONDS);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->drops[CORE_DROP_NO_RECV] == 1);
	pair_finish(&p);
}

/*
 * The receive is too short for GRH and payload: dropped in silence, the receive stays for one that
 * fits (class D of 9.9.3), and nobody can end the QP by that. With an SRQ, too, whose limit counts
 * what is left.
 */
static void test_short_receive(void **state)
{
	(void)state;
	for (unsigned srq = 0; srq < 2; srq++) {
		struct pair p;
		uint32_t ah;

		pair_create(&p, &(struct pair_options){.type = IBV_QPT_UD, .srq_wr = srq ? 8 : 0});
		ah = make_ah(&p, &p.a, &p.b, 0);
		side_recv(&p.b, 2, 100000, 139);
		if (srq)
			world_assert(p.w, vsrq_arm(&p.srq, 1) == 0);
		for (unsigned i = 0; i < 3; i++) {
			send(&p, ah, 100, p.conn.qkey);
			side_expect(&p.a, i, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
			side_quiet(&p.b, PAIR_SECONDS);
			world_assert(
				p.w,
				core_counters(p.w->device[1].host.dev)->drops[CORE_DROP_LENGTH] ==
					i + 1);
			world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_RTS);
			world_assert(p.w, vevents_left(&p.b.c.async) == 0);
		}
		send(&p, ah, 99, p.conn.qkey);
		expect_datagram(&p, 99, p.a.c.host->gid[0], p.b.c.host->gid[0]);
		world_assert(p.w, vevents_left(&p.b.c.async) == srq); /* the limit */
		pair_finish(&p);
	}
}

/* To itself, device-internally: the QP's own number in source and destination. */
static void test_loopback(void **state)
{
	struct uhca_abi_sge sge;
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND, .sge = &sge, .num_sge = 1};
	struct link link = link_default();
	struct pair p;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		create(&p);
		link.immediate = i ? 1000000 : 0;
		world_set_links(p.w, &link);
		sge = (struct uhca_abi_sge){p.a.mr.addr, 2000, p.a.mr.lkey};
		wr.ah = make_ah(&p, &p.a, &p.a, 0);
		wr.remote_qpn = p.a.qp.qpn;
		wr.remote_qkey = p.conn.qkey;
		side_recv(&p.a, 2, 100000, 2040);
		world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
		side_expect(&p.a, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		world_assert(p.w, p.a.wc[0].src_qp == p.a.qp.qpn);
		side_ignore(&p.a, 100000, 40);
		pair_expect_copy(&p.a, 0, &p.a, 100040, 2000);
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),       cmocka_unit_test(test_ipv6),
		cmocka_unit_test(test_grh_in_pieces), cmocka_unit_test(test_wrong_qkey),
		cmocka_unit_test(test_own_qkey),      cmocka_unit_test(test_no_receive),
		cmocka_unit_test(test_short_receive), cmocka_unit_test(test_loopback),
	};

	return cmocka_run_group_tests_name("ud", tests, NULL, NULL);
}
