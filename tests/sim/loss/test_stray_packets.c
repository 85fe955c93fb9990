/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that are not for the QP they name (9.6.1, packet validation): counted, dropped without
 * an answer, and the connection goes on as if they had never come.
 */
#include "tests/sim/world/pair.h"

/* A copy of the n-th SEND that a sent, as a burst with its flow. */
static void captured(const struct pair *p, struct core_burst *t, const uint8_t payload[16])
{
	const struct logged *l = rules_nth(&p->rules, 0, ROCE_OP_SEND, 0);
	struct roce_packet pkt;
	struct roce_flow flow = {.sport = 0xc000, .dport = ROCE_UDP_PORT};

	world_assert(p->w, l != NULL);
	pkt = l->pkt;
	pkt.payload = payload;
	pkt.payload_len = 16;
	memcpy(flow.src, p->a.c.host->gid[0], 16);
	memcpy(flow.dst, p->b.c.host->gid[0], 16);
	core_burst_start(t, &pkt, &flow);
	t->head.bth.psn = p->conn.sq_psn + 1; /* the one that is expected next */
}

/* One good SEND, then a stray that "spoil" made of the next, then the next itself. */
static void stray(enum ibv_qp_type type, enum core_drop reason,
		  void (*spoil)(struct pair *p, struct core_burst *t))
{
	static const uint8_t payload[16] = "not for you";
	struct core_burst t;
	struct pair p;

	pair_create(&p, &(struct pair_options){.type = type});
	side_recv(&p.b, 0, 100000, 16);
	side_recv(&p.b, 1, 100100, 16);
	side_send(&p.a, 0, 0, 16);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_idle(&p);
	captured(&p, &t, payload);
	spoil(&p, &t);
	world_deliver(p.w, 1, &t);
	side_quiet(&p.b, 1000000);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->drops[reason] == 1);
	world_assert(p.w, core_counters(p.w->device[1].host.dev)->naks_sent == 0);
	side_send(&p.a, 1, 50, 16);
	side_expect(&p.b, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	pair_expect_copy(&p.a, 50, &p.b, 100100, 16);
	pair_finish(&p);
}

static void unknown_qp(struct pair *p, struct core_burst *t)
{
	(void)p;
	t->head.bth.dest_qp ^= 0x5a5;
}

static void other_source(struct pair *p, struct core_burst *t)
{
	(void)p;
	t->flow.src[15] = 99;
}

static void other_destination(struct pair *p, struct core_burst *t)
{
	(void)p;
	t->flow.dst[15] = 99;
}

static void other_partition(struct pair *p, struct core_burst *t)
{
	(void)p;
	t->head.bth.pkey = 0x8001;
}

static void other_service(struct pair *p, struct core_burst *t)
{
	uint8_t v = p->a.qp.type == IBV_QPT_RC ? ROCE_UC_SEND_ONLY : ROCE_RC_SEND_ONLY;

	t->head.bth.opcode.v = t->last_opcode.v = v;
}

static void datagram(struct pair *p, struct core_burst *t)
{
	(void)p;
	t->head.bth.opcode.v = t->last_opcode.v = ROCE_UD_SEND_ONLY;
}

/* Acknowledges a packet that was never sent. */
static void ghost_ack(struct pair *p, struct core_burst *t)
{
	t->head.bth.opcode.v = t->last_opcode.v = ROCE_RC_ACKNOWLEDGE;
	t->head.bth.psn = p->conn.rq_psn + 5;
	t->length = t->segment = t->n_iov = 0;
}

static void ghost_read_response(struct pair *p, struct core_burst *t)
{
	t->head.bth.opcode.v = t->last_opcode.v = ROCE_RC_READ_RESPONSE_ONLY;
	t->head.bth.psn = p->conn.rq_psn;
}

static void test_reliable(void **state)
{
	(void)state;
	stray(IBV_QPT_RC, CORE_DROP_NO_QP, unknown_qp);
	stray(IBV_QPT_RC, CORE_DROP_ADDRESS, other_source);
	stray(IBV_QPT_RC, CORE_DROP_ADDRESS, other_destination);
	stray(IBV_QPT_RC, CORE_DROP_PKEY, other_partition);
	stray(IBV_QPT_RC, CORE_DROP_SERVICE, other_service);
	stray(IBV_QPT_RC, CORE_DROP_SERVICE, datagram);
	stray(IBV_QPT_RC, CORE_DROP_RESPONSE, ghost_ack);
	stray(IBV_QPT_RC, CORE_DROP_RESPONSE, ghost_read_response);
}

static void test_unreliable(void **state)
{
	(void)state;
	stray(IBV_QPT_UC, CORE_DROP_NO_QP, unknown_qp);
	stray(IBV_QPT_UC, CORE_DROP_ADDRESS, other_source);
	stray(IBV_QPT_UC, CORE_DROP_PKEY, other_partition);
	stray(IBV_QPT_UC, CORE_DROP_SERVICE, other_service);
	stray(IBV_QPT_UC, CORE_DROP_SERVICE, ghost_ack);
}

/* A limited member's P_Key is taken (10.9.3: one of two may be limited). */
static void test_limited_member(void **state)
{
	static const uint8_t payload[16] = "for you, really";
	struct core_burst t;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_recv(&p.b, 0, 100000, 16);
	side_recv(&p.b, 1, 100100, 16);
	side_send(&p.a, 0, 0, 16);
	side_expect(&p.b, 0, 0, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	captured(&p, &t, payload);
	t.head.bth.pkey = 0x7fff;
	world_deliver(p.w, 1, &t);
	side_expect(&p.b, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 16);
	memory_expect(&p.b.c.mem, p.b.mr.addr + 100100, payload, 16);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reliable),
		cmocka_unit_test(test_unreliable),
		cmocka_unit_test(test_limited_member),
	};

	return cmocka_run_group_tests_name("stray_packets", tests, NULL, NULL);
}
