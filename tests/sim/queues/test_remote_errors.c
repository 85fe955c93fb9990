/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a responder refuses, and what each end sees of it: the NAK on the wire, the requester's
 * completion status and flush, the responder's receive, state and async event (IBTA 9.7.4.1,
 * 9.9.2, 9.9.3, tables of requester and responder error behaviour).
 */
#include "tests/sim/world/pair.h"
#include "wire/syndrome.h"

/* One refused request. */
struct refusal {
	const char *name;
	struct vsend wr; /* remote_addr: offset into b's buffer; rkey 0: the right one */
	uint32_t length;
	uint8_t nak;    /* code on the wire */
	uint8_t status; /* at the requester */
	uint32_t event; /* at the responder */
};

#define NO_EVENT UINT32_MAX

static const struct logged *last_nak(const struct pair *p)
{
	const struct logged *l, *found = NULL;

	for (unsigned i = 0; (l = rules_nth(&p->rules, 1, ROCE_OP_ACK, i)); i++)
		if (roce_syndrome_kind(l->pkt.aeth.syndrome) == ROCE_NAK)
			found = l;
	return found;
}

static void post(struct pair *p, const struct refusal *r, uint32_t rkey)
{
	struct uhca_abi_sge sge = {p->a.mr.addr, r->length, p->a.mr.lkey};
	struct vsend wr = r->wr;

	wr.wr_id = 7;
	wr.flags = UHCA_ABI_SEND_SIGNALED;
	wr.sge = &sge;
	wr.num_sge = 1;
	wr.remote_addr += p->b.mr.addr;
	wr.rkey = rkey;
	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

/* Before it stands one good request, behind it two that must be flushed. */
static void expect_refusal(struct pair *p, const struct refusal *r, uint32_t rkey)
{
	const struct logged *nak;

	side_write(&p->a, 6, 0, 100000, 2000);
	pair_expect_copy(&p->a, 0, &p->b, 100000, 2000);
	post(p, r, rkey);
	side_write(&p->a, 8, 0, 200000, 100);
	side_read(&p->a, 9, 100000, 0, 100);
	side_expect(&p->a, 0, 6, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_wait(&p->a, 2);
	if (p->a.wc[1].status != r->status)
		world_fail(p->w, "%s: status %u, expected %u", r->name, p->a.wc[1].status,
			   r->status);
	side_expect(&p->a, 1, 7, r->status, 0);
	side_expect(&p->a, 2, 8, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p->a, 3, 9, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	nak = last_nak(p);
	world_assert(p->w, nak && roce_syndrome_value(nak->pkt.aeth.syndrome) == r->nak);
	world_assert(p->w, nak->pkt.bth.psn == p->conn.sq_psn + 2);
	world_assert(p->w, vqp_state(&p->a.qp) == IBV_QPS_ERR);
	world_assert(p->w, vqp_state(&p->b.qp) == IBV_QPS_ERR);
	if (r->event != NO_EVENT)
		world_assert(p->w, side_events(&p->b, r->event) == 1);
	world_assert(p->w, vevents_left(&p->b.c.async) == (r->event != NO_EVENT));
	world_assert(p->w, vevents_left(&p->a.c.async) == 0);
	side_quiet(&p->a, PAIR_SECONDS);
}

static void refuse(const struct refusal *r, const struct vqp_conn *conn)
{
	struct pair p;

	for (unsigned joined = 0; joined < 2; joined++) {
		pair_create(&p, &(struct pair_options){.conn = conn});
		p.w->link[0][1].join = joined ? 1000000 : 0;
		expect_refusal(&p, r, r->wr.rkey ? r->wr.rkey : p.b.mr.rkey);
		pair_finish(&p);
	}
}

#define ACCESS_ERROR                                                                               \
	.nak = ROCE_NAK_REMOTE_ACCESS, .status = UHCA_ABI_WC_REM_ACCESS_ERR,                       \
	.event = UHCA_ABI_EVENT_QP_ACCESS_ERR
#define INVALID_REQUEST                                                                            \
	.nak = ROCE_NAK_INVALID_REQUEST, .status = UHCA_ABI_WC_REM_INV_REQ_ERR,                    \
	.event = UHCA_ABI_EVENT_QP_REQ_ERR

static void test_unknown_key(void **state)
{
	static const struct refusal cases[] = {
		{"write", {.opcode = UHCA_ABI_WR_RDMA_WRITE, .rkey = 0x1234}, 10, ACCESS_ERROR},
		{"long write", {.opcode = UHCA_ABI_WR_RDMA_WRITE, .rkey = 1}, 9000, ACCESS_ERROR},
		{"read", {.opcode = UHCA_ABI_WR_RDMA_READ, .rkey = 0x1234}, 10, ACCESS_ERROR},
		{"cas", {.opcode = UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, .rkey = 99}, 8, ACCESS_ERROR},
		{"add", {.opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, .rkey = 9}, 8, ACCESS_ERROR},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		refuse(&cases[i], NULL);
}

/* What a READ asked for before the refused request is brought, though the QP has failed (9.7.4). */
static void test_read_before(void **state)
{
	const struct refusal r = {"write", {.opcode = UHCA_ABI_WR_RDMA_WRITE}, 10, ACCESS_ERROR};
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_read(&p.a, 6, 0, 100000, 300000);
	post(&p, &r, p.b.mr.rkey + 0x100);
	side_expect(&p.a, 0, 6, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect(&p.a, 1, 7, r.status, 0);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_ERR);
	pair_expect_copy(&p.b, 100000, &p.a, 0, 300000);
	pair_finish(&p);
}

static void test_out_of_range(void **state)
{
	static const struct refusal cases[] = {
		{"behind",
		 {.opcode = UHCA_ABI_WR_RDMA_WRITE, .remote_addr = PAIR_BUFFER},
		 1,
		 ACCESS_ERROR},
		{"before",
		 {.opcode = UHCA_ABI_WR_RDMA_WRITE, .remote_addr = -1ull},
		 1,
		 ACCESS_ERROR},
		{"over the end",
		 {.opcode = UHCA_ABI_WR_RDMA_WRITE, .remote_addr = PAIR_BUFFER - 4999},
		 5000,
		 ACCESS_ERROR},
		{"read over the end",
		 {.opcode = UHCA_ABI_WR_RDMA_READ, .remote_addr = PAIR_BUFFER - 4999},
		 5000,
		 ACCESS_ERROR},
		{"read far away",
		 {.opcode = UHCA_ABI_WR_RDMA_READ, .remote_addr = 1ull << 62},
		 5,
		 ACCESS_ERROR},
		{"add over the end",
		 {.opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, .remote_addr = PAIR_BUFFER},
		 8,
		 ACCESS_ERROR},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		refuse(&cases[i], NULL);
}

/* Against a region of b that allows all but what the request needs. */
static void refuse_access(uint8_t opcode, uint32_t length, uint32_t access, bool other_pd)
{
	const struct refusal r = {"access", {.opcode = opcode}, length, ACCESS_ERROR};
	struct pair p;
	struct vmr mr;
	uint32_t pd;

	pair_create(&p, &(struct pair_options){0});
	pd = p.b.c.pd;
	if (other_pd)
		world_assert(p.w, core_alloc_pd(p.b.c.core, &pd) == 0);
	world_assert(p.w, vclient_reg_mr_pd(&p.b.c, pd, &p.b.mr, access, &mr) == 0);
	expect_refusal(&p, &r, mr.rkey);
	pair_finish(&p);
}

static void test_access_flags(void **state)
{
	const uint32_t all = PAIR_ACCESS;

	(void)state;
	refuse_access(UHCA_ABI_WR_RDMA_WRITE, 100, all & ~IBV_ACCESS_REMOTE_WRITE, false);
	refuse_access(UHCA_ABI_WR_RDMA_READ, 100, all & ~IBV_ACCESS_REMOTE_READ, false);
	refuse_access(UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, 8, all & ~IBV_ACCESS_REMOTE_ATOMIC, false);
	refuse_access(UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, 8, all & ~IBV_ACCESS_REMOTE_ATOMIC, false);
}

static void test_other_protection_domain(void **state)
{
	(void)state;
	refuse_access(UHCA_ABI_WR_RDMA_WRITE, 100, PAIR_ACCESS, true);
	refuse_access(UHCA_ABI_WR_RDMA_READ, 100, PAIR_ACCESS, true);
	refuse_access(UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, 8, PAIR_ACCESS, true);
}

static void test_deregistered(void **state)
{
	const struct refusal r = {"gone", {.opcode = UHCA_ABI_WR_RDMA_READ}, 100, ACCESS_ERROR};
	struct pair p;
	struct vmr mr;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, vclient_reg_mr_pd(&p.b.c, p.b.c.pd, &p.b.mr, PAIR_ACCESS, &mr) == 0);
	world_assert(p.w, vclient_dereg_mr(&p.b.c, &mr) == 0);
	expect_refusal(&p, &r, mr.rkey);
	pair_finish(&p);
}

/* What came before the refused request is answered before it is refused. */
static void test_answers_before_refusal(void **state)
{
	const struct refusal r = {"write", {.opcode = UHCA_ABI_WR_RDMA_WRITE}, 100, ACCESS_ERROR};
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_store(&p.b, 0, 41);
	side_read(&p.a, 1, 100000, 8, 50000);
	side_fetch_add(&p.a, 2, 90000, 0, 1);
	post(&p, &r, 99);
	side_write(&p.a, 8, 0, 200000, 100);
	pair_expect_copy(&p.b, 8, &p.a, 100000, 50000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
	side_expect_u64(&p.a, 90000, 41);
	side_expect_u64(&p.b, 0, 42);
	side_expect(&p.a, 2, 7, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
	side_expect(&p.a, 3, 8, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	pair_finish(&p);
}

static void test_misaligned_atomic(void **state)
{
	static const struct refusal cases[] = {
		{"add",
		 {.opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, .remote_addr = 4},
		 8,
		 INVALID_REQUEST},
		{"cas",
		 {.opcode = UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, .remote_addr = 1},
		 8,
		 INVALID_REQUEST},
	};

	(void)state;
	refuse(&cases[0], NULL);
	refuse(&cases[1], NULL);
}

/* The QP's own access flags forbid the operation. */
static void test_qp_access_flags(void **state)
{
	static const struct refusal cases[] = {
		{"read", {.opcode = UHCA_ABI_WR_RDMA_READ}, 100, INVALID_REQUEST},
		{"add", {.opcode = UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD}, 8, INVALID_REQUEST},
		{"swap", {.opcode = UHCA_ABI_WR_ATOMIC_CMP_AND_SWP}, 8, INVALID_REQUEST},
	};
	static const uint32_t need[] = {IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_ATOMIC,
					IBV_ACCESS_REMOTE_ATOMIC};
	struct vqp_conn conn = vqp_conn_default();

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		conn.access = PAIR_ACCESS & ~need[i];
		refuse(&cases[i], &conn);
	}
}

/* A region that may be written to is not enough. Of any length, in one packet and in several. */
static void test_qp_refuses_write(void **state)
{
	static const uint8_t opcode[] = {UHCA_ABI_WR_RDMA_WRITE, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM};
	struct vqp_conn conn = vqp_conn_default();

	(void)state;
	conn.access = PAIR_ACCESS & ~IBV_ACCESS_REMOTE_WRITE;
	for (unsigned i = 0; i < 6; i++) {
		const uint32_t length[] = {0, 100, 9000};
		struct op op = {.opcode = opcode[i % 2], .wr_id = 1, .length = length[i / 2]};
		struct pair p;

		op.flags = UHCA_ABI_SEND_SIGNALED;
		pair_create(&p, &(struct pair_options){.conn = &conn});
		side_post(&p.a, &op);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
		world_assert(p.w, roce_syndrome_value(last_nak(&p)->pkt.aeth.syndrome) ==
					  ROCE_NAK_INVALID_REQUEST);
		world_assert(p.w, side_events(&p.b, UHCA_ABI_EVENT_QP_REQ_ERR) == 1);
		pair_finish(&p);
	}
}

/* A SEND longer than its receive: length error here, invalid request there. */
static void test_send_too_long(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < 6; k++) {
		const uint32_t rooms[] = {0, 1111, 2222, 3333, 4444, 4999}, room = rooms[k];
		const struct refusal r = {"send",
					  {.opcode = UHCA_ABI_WR_SEND},
					  5000,
					  .nak = ROCE_NAK_INVALID_REQUEST,
					  .status = UHCA_ABI_WC_REM_INV_REQ_ERR,
					  .event = NO_EVENT};
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		p.w->link[0][1].split = 0;
		side_ignore(&p.b, 300000, room);
		side_recv(&p.b, 1, 300000, room);
		side_recv(&p.b, 2, 400000, 100);
		side_write(&p.a, 6, 0, 100000, 2000);
		pair_expect_copy(&p.a, 0, &p.b, 100000, 2000);
		post(&p, &r, 0);
		side_expect(&p.a, 1, 7, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
		side_expect(&p.b, 0, 1, UHCA_ABI_WC_LOC_LEN_ERR, 0);
		side_expect(&p.b, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
		world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_ERR);
		side_quiet(&p.b, PAIR_SECONDS);
		pair_finish(&p);
	}
}

/* The receive names memory it may not: the responder's own fault (remote operational error). */
static void bad_receive(struct uhca_abi_sge sge, struct pair *p)
{
	struct vrecv wr = {1, &sge, 1};

	world_assert(p->w, vqp_post_recv(&p->b.qp, &wr) == 0);
	side_recv(&p->b, 2, 400000, 100);
	side_send(&p->a, 3, 0, 3000);
	side_send(&p->a, 4, 0, 30);
	side_expect(&p->a, 0, 3, UHCA_ABI_WC_REM_OP_ERR, 0);
	side_expect(&p->a, 1, 4, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p->b, 0, 1, UHCA_ABI_WC_LOC_PROT_ERR, 0);
	side_expect(&p->b, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	world_assert(p->w, roce_syndrome_value(last_nak(p)->pkt.aeth.syndrome) ==
				   ROCE_NAK_REMOTE_OPERATIONAL);
	side_quiet(&p->b, PAIR_SECONDS);
	pair_finish(p);
}

static void test_receive_protection(void **state)
{
	struct pair p;
	struct vmr mr;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	bad_receive((struct uhca_abi_sge){p.b.mr.addr, 4000, 0x4711}, &p);
	pair_create(&p, &(struct pair_options){0});
	bad_receive((struct uhca_abi_sge){p.b.mr.addr + PAIR_BUFFER - 10, 4000, p.b.mr.lkey}, &p);
	pair_create(&p, &(struct pair_options){0});
	world_assert(p.w, vclient_reg_mr_pd(&p.b.c, p.b.c.pd, &p.b.mr, IBV_ACCESS_REMOTE_READ,
					    &mr) == 0);
	bad_receive((struct uhca_abi_sge){p.b.mr.addr, 4000, mr.lkey}, &p);
}

/* Registered memory that the client has unmapped since: -EFAULT from below. */
static void test_unmapped(void **state)
{
	struct pair p;
	struct vmr mr;
	uint64_t va;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	va = memory_map(&p.b.c.mem, 8192);
	world_assert(p.w, vclient_reg_mr(&p.b.c, va, 8192, PAIR_ACCESS, &mr) == 0);
	memory_unmap(&p.b.c.mem, va);
	bad_receive((struct uhca_abi_sge){va, 4000, mr.lkey}, &p);
}

/* Zero bytes need no key at all (9.7.4.1.6: R_Key is not checked for zero length). */
static void test_zero_length_needs_no_key(void **state)
{
	struct pair p;
	struct refusal r = {"zero", {.opcode = UHCA_ABI_WR_RDMA_WRITE}, 0, ACCESS_ERROR};

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	post(&p, &r, 0xdead);
	r.wr.opcode = UHCA_ABI_WR_RDMA_READ;
	post(&p, &r, 0xdead);
	side_expect(&p.a, 0, 7, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 7, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_key),
		cmocka_unit_test(test_read_before),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_access_flags),
		cmocka_unit_test(test_other_protection_domain),
		cmocka_unit_test(test_deregistered),
		cmocka_unit_test(test_answers_before_refusal),
		cmocka_unit_test(test_misaligned_atomic),
		cmocka_unit_test(test_qp_access_flags),
		cmocka_unit_test(test_qp_refuses_write),
		cmocka_unit_test(test_send_too_long),
		cmocka_unit_test(test_receive_protection),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_zero_length_needs_no_key),
	};

	return cmocka_run_group_tests_name("remote_errors", tests, NULL, NULL);
}
