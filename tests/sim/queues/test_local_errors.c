/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that fail before a packet leaves: the status, in its turn behind the older requests,
 * nothing on the wire, and the state afterwards: ERR for RC, SQE for UC and UD (IBTA 9.9.2.1,
 * 10.3.1.6, 10.8.3.1).
 */
#include "tests/sim/world/pair.h"

#define BAD_LKEY 0x4711u

/* a posts one good request, the bad one, two more; the bad one's status and the flush come. */
static void expect_failure(struct pair *p, const struct vsend *bad, uint8_t status)
{
	const struct vsend good = {.wr_id = 1,
				   .opcode = UHCA_ABI_WR_SEND,
				   .ah = bad->ah,
				   .remote_qpn = bad->remote_qpn,
				   .remote_qkey = bad->remote_qkey};
	struct vsend wr = *bad;
	enum ibv_qp_state end = p->a.qp.type == IBV_QPT_RC ? IBV_QPS_ERR : IBV_QPS_SQE;
	unsigned sends;

	side_recv(&p->b, 1, 100000, 100);
	if (p->a.qp.type == IBV_QPT_UD)
		side_ignore(&p->b, 100000, 40);
	wr.wr_id = 2;
	world_assert(p->w, vqp_queue_send(&p->a.qp, &good) == 0);
	world_assert(p->w, vqp_queue_send(&p->a.qp, &wr) == 0);
	world_assert(p->w, vqp_queue_send(&p->a.qp, &good) == 0);
	world_assert(p->w, vqp_queue_send(&p->a.qp, &good) == 0);
	vqp_doorbell(&p->a.qp);
	side_expect(&p->a, 0, 2, status, 0);
	side_expect(&p->a, 1, 1, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p->a, 2, 1, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p->b, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_quiet(&p->a, PAIR_SECONDS);
	sends = rules_count(&p->rules, 0, ROCE_OP_SEND);
	world_assert(p->w, sends == 1);
	world_assert(p->w, rules_count(&p->rules, 0, ROCE_OP_WRITE) == 0);
	world_assert(p->w, rules_count(&p->rules, 0, ROCE_OP_READ_REQ) == 0);
	world_assert(p->w, vqp_state(&p->a.qp) == end);
	world_assert(p->w, vqp_state(&p->b.qp) == IBV_QPS_RTS);
	pair_finish(p);
}

static void create(struct pair *p, enum ibv_qp_type type)
{
	pair_create(p, &(struct pair_options){.type = type});
}

static void fail_with_sge(enum ibv_qp_type type, uint8_t opcode, uint32_t offset, uint32_t length,
			  uint32_t lkey)
{
	struct uhca_abi_sge sge;
	struct vsend wr = {.opcode = opcode, .sge = &sge, .num_sge = 1};
	struct pair p;

	create(&p, type);
	sge = (struct uhca_abi_sge){p.a.mr.addr + offset, length, lkey ? lkey : p.a.mr.lkey};
	wr.remote_addr = p.b.mr.addr;
	wr.rkey = p.b.mr.rkey;
	expect_failure(&p, &wr, UHCA_ABI_WC_LOC_PROT_ERR);
}

static void test_bad_lkey(void **state)
{
	(void)state;
	fail_with_sge(IBV_QPT_RC, UHCA_ABI_WR_SEND, 0, 100, BAD_LKEY);
	fail_with_sge(IBV_QPT_RC, UHCA_ABI_WR_RDMA_WRITE, 0, 9000, BAD_LKEY);
	fail_with_sge(IBV_QPT_UC, UHCA_ABI_WR_SEND, 0, 100, BAD_LKEY);
	fail_with_sge(IBV_QPT_UC, UHCA_ABI_WR_RDMA_WRITE, 0, 9000, BAD_LKEY);
}

static void test_out_of_range(void **state)
{
	(void)state;
	fail_with_sge(IBV_QPT_RC, UHCA_ABI_WR_SEND, PAIR_BUFFER - 99, 100, 0);
	fail_with_sge(IBV_QPT_RC, UHCA_ABI_WR_RDMA_WRITE, PAIR_BUFFER, 1, 0);
	fail_with_sge(IBV_QPT_UC, UHCA_ABI_WR_SEND, PAIR_BUFFER - 99, 100, 0);
}

/* ---- where the answer goes ---- */

enum sink { NO_KEY, BEYOND, READ_ONLY, SINKS };

static struct uhca_abi_sge bad_sink(struct pair *p, enum sink sink)
{
	struct uhca_abi_sge sge = {p->a.mr.addr, 8, p->a.mr.lkey};
	struct vmr mr;

	if (sink == NO_KEY)
		sge.lkey = BAD_LKEY;
	else if (sink == BEYOND)
		sge.addr += PAIR_BUFFER - 7;
	else {
		world_assert(p->w, vclient_reg_mr_pd(&p->a.c, p->a.c.pd, &p->a.mr, 0, &mr) == 0);
		sge.lkey = mr.lkey;
	}
	return sge;
}

/*
 * The answer of a READ or atomic has no place: that shows when it is there. The request was
 * carried out; one that the peer refuses fails by what the peer says.
 */
static void fail_at_answer(uint8_t opcode, enum sink sink, bool good_rkey)
{
	static const struct {
		enum roce_operation request;
		uint64_t after;
	} what[] = {
		[UHCA_ABI_WR_RDMA_READ] = {ROCE_OP_READ_REQ, 5},
		[UHCA_ABI_WR_ATOMIC_CMP_AND_SWP] = {ROCE_OP_CMP_SWAP, 77},
		[UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD] = {ROCE_OP_FETCH_ADD, 10},
	};
	struct uhca_abi_sge sge;
	struct vsend wr = {.wr_id = 2, .opcode = opcode, .sge = &sge, .num_sge = 1};
	struct pair p;

	create(&p, IBV_QPT_RC);
	side_store(&p.b, 0, 5);
	sge = bad_sink(&p, sink);
	wr.remote_addr = p.b.mr.addr;
	wr.rkey = good_rkey ? p.b.mr.rkey : p.b.mr.rkey ^ 0x100;
	wr.compare_add = 5;
	wr.swap = 77;
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.a, 0, 2, good_rkey ? UHCA_ABI_WC_LOC_PROT_ERR : UHCA_ABI_WC_REM_ACCESS_ERR,
		    0);
	side_quiet(&p.a, PAIR_SECONDS);
	world_assert(p.w, rules_count(&p.rules, 0, what[opcode].request) == 1);
	side_expect_u64(&p.b, 0, good_rkey ? what[opcode].after : 5);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_ERR);
	world_assert(p.w, vqp_state(&p.b.qp) == (good_rkey ? IBV_QPS_RTS : IBV_QPS_ERR));
	pair_finish(&p);
}

static void test_bad_sink(void **state)
{
	static const uint8_t opcode[] = {UHCA_ABI_WR_RDMA_READ, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP,
					 UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD};

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned sink = 0; sink < SINKS; sink++)
			for (unsigned good = 0; good < 2; good++)
				fail_at_answer(opcode[i], (enum sink)sink, good);
}

static void test_other_pd(void **state)
{
	struct uhca_abi_sge sge;
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND, .sge = &sge, .num_sge = 1};
	struct pair p;
	struct vmr mr;
	uint32_t pd;

	(void)state;
	create(&p, IBV_QPT_RC);
	world_assert(p.w, core_alloc_pd(p.a.c.core, &pd) == 0);
	world_assert(p.w, vclient_reg_mr_pd(&p.a.c, pd, &p.a.mr, PAIR_ACCESS, &mr) == 0);
	sge = (struct uhca_abi_sge){mr.addr, 8, mr.lkey};
	expect_failure(&p, &wr, UHCA_ABI_WC_LOC_PROT_ERR);
}

/* Gathered early by the provider, but what was gathered is not registered: as if not gathered. */
static void test_gathered_is_checked(void **state)
{
	struct uhca_abi_sge sge;
	struct vsend wr = {
		.opcode = UHCA_ABI_WR_SEND, .mode = VPOST_GATHERED, .sge = &sge, .num_sge = 1};
	struct pair p;

	(void)state;
	create(&p, IBV_QPT_RC);
	sge = (struct uhca_abi_sge){p.a.mr.addr, 30, BAD_LKEY};
	expect_failure(&p, &wr, UHCA_ABI_WC_LOC_PROT_ERR);
}

static void test_atomic_length(void **state)
{
	static const uint32_t length[] = {0, 4, 7, 9, 16};

	(void)state;
	for (unsigned i = 0; i < sizeof length / sizeof *length; i++) {
		struct uhca_abi_sge sge;
		struct vsend wr = {
			.opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, .sge = &sge, .num_sge = 1};
		struct pair p;

		create(&p, IBV_QPT_RC);
		sge = (struct uhca_abi_sge){p.a.mr.addr, length[i], p.a.mr.lkey};
		wr.remote_addr = p.b.mr.addr;
		wr.rkey = p.b.mr.rkey;
		expect_failure(&p, &wr, UHCA_ABI_WC_LOC_LEN_ERR);
	}
}

/* More than 2^31 bytes, from elements that are each legal. */
static void test_too_long(void **state)
{
	struct uhca_abi_sge sge[3];
	struct vsend wr = {.opcode = UHCA_ABI_WR_RDMA_WRITE, .sge = sge, .num_sge = 3};
	struct pair p;
	struct vmr mr;
	uint64_t va;

	(void)state;
	create(&p, IBV_QPT_RC);
	va = memory_map_pattern(&p.a.c.mem, 1ull << 30);
	world_assert(p.w, vclient_reg_mr(&p.a.c, va, 1ull << 30, 0, &mr) == 0);
	sge[0] = sge[1] = (struct uhca_abi_sge){va, 1u << 30, mr.lkey};
	sge[2] = (struct uhca_abi_sge){va, 1, mr.lkey};
	expect_failure(&p, &wr, UHCA_ABI_WC_LOC_LEN_ERR);
}

static void test_unknown_opcode(void **state)
{
	static const uint8_t opcode[] = {10, 13, 63, 255};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct vsend wr = {.opcode = opcode[i]};
		struct pair p;

		create(&p, IBV_QPT_RC);
		expect_failure(&p, &wr, UHCA_ABI_WC_LOC_QP_OP_ERR);
	}
}

/* What the transport does not offer. */
static void test_opcode_of_other_transport(void **state)
{
	static const uint8_t opcode[] = {UHCA_ABI_WR_RDMA_READ, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP,
					 UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct vsend wr = {.opcode = opcode[i]};
		struct pair p;

		create(&p, IBV_QPT_UC);
		expect_failure(&p, &wr, UHCA_ABI_WC_LOC_QP_OP_ERR);
	}
}

static void fail_datagram(uint32_t length, bool bad_ah, uint8_t opcode, uint8_t status)
{
	struct uhca_abi_sge sge;
	struct vsend wr = {.opcode = opcode, .sge = &sge, .num_sge = 1};
	struct pair p;
	uint32_t ah;

	create(&p, IBV_QPT_UD);
	sge = (struct uhca_abi_sge){p.a.mr.addr, length, p.a.mr.lkey};
	world_assert(p.w, vclient_create_ah(&p.a.c, p.b.c.host, 0, &ah) == 0);
	wr.ah = ah;
	wr.remote_qpn = p.b.qp.qpn;
	wr.remote_qkey = p.conn.qkey;
	if (!bad_ah) {
		expect_failure(&p, &wr, status);
		return;
	}
	wr.ah = ah + 1;
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND});
	side_wait(&p.a, 1); /* an all-zero handle */
	world_assert(p.w, p.a.wc[0].status == UHCA_ABI_WC_LOC_QP_OP_ERR);
	pair_finish(&p);
}

/* The address handle belongs to another protection domain (10.2.2.2). */
static void test_foreign_address_handle(void **state)
{
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND, .wr_id = 1};
	struct pair p;
	uint32_t own;

	(void)state;
	create(&p, IBV_QPT_UD);
	own = p.a.c.pd;
	world_assert(p.w, core_alloc_pd(p.a.c.core, &p.a.c.pd) == 0);
	world_assert(p.w, vclient_create_ah(&p.a.c, p.b.c.host, 0, &wr.ah) == 0);
	p.a.c.pd = own;
	wr.remote_qpn = p.b.qp.qpn;
	wr.remote_qkey = p.conn.qkey;
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_LOC_QP_OP_ERR, 0);
	pair_finish(&p);
}

static void test_datagram(void **state)
{
	(void)state;
	fail_datagram(4097, false, UHCA_ABI_WR_SEND, UHCA_ABI_WC_LOC_LEN_ERR);
	fail_datagram(100000, false, UHCA_ABI_WR_SEND, UHCA_ABI_WC_LOC_LEN_ERR);
	fail_datagram(10, false, UHCA_ABI_WR_RDMA_WRITE, UHCA_ABI_WC_LOC_QP_OP_ERR);
	fail_datagram(10, true, UHCA_ABI_WR_SEND, UHCA_ABI_WC_LOC_QP_OP_ERR);
}

/* From SQE back to RTS: the send queue works again, the receive queue never stopped. */
static void test_sqe_and_back(void **state)
{
	struct uhca_abi_sge sge = {0, 10, BAD_LKEY};
	struct vsend wr = {.opcode = UHCA_ABI_WR_SEND, .wr_id = 1, .sge = &sge, .num_sge = 1};
	struct pair p;

	(void)state;
	create(&p, IBV_QPT_UC);
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_LOC_PROT_ERR, 0);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_SQE);
	side_send(&p.a, 2, 0, 100);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_recv(&p.a, 3, 100000, 100);
	side_send(&p.b, 4, 0, 100);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.b, 0, &p.a, 100000, 100);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RTS) == 0);
	side_recv(&p.b, 5, 100000, 100);
	side_send(&p.a, 6, 0, 100);
	side_expect(&p.a, 3, 6, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_wait(&p.b, 2);
	side_expect(&p.b, 1, 5, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_expect_copy(&p.a, 0, &p.b, 100000, 100);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_lkey),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_bad_sink),
		cmocka_unit_test(test_other_pd),
		cmocka_unit_test(test_gathered_is_checked),
		cmocka_unit_test(test_atomic_length),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_unknown_opcode),
		cmocka_unit_test(test_opcode_of_other_transport),
		cmocka_unit_test(test_datagram),
		cmocka_unit_test(test_foreign_address_handle),
		cmocka_unit_test(test_sqe_and_back),
	};

	return cmocka_run_group_tests_name("local_errors", tests, NULL, NULL);
}
