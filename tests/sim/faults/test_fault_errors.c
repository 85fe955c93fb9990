/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules that the protocol does not get over: the request completes with exactly the status that
 * IBTA vol. 1, 10.10.2 and 11.6.2 have for it, those behind it are flushed, the QP is in error, and
 * the other end is as it should be.
 */
#include "tests/sim/world/pair.h"
#include "tests/sim/world/world_faults.h"

#define LENGTH 3000u /* three packets */

enum kind { SEND, WRITE, READ, ATOMIC };

/* What happens at the responder. */
enum other_end {
	UNTOUCHED,  /* nothing arrived */
	EXECUTED,   /* as if nothing were wrong */
	REQ_ERR,    /* it found an invalid request: QP_REQ_ERR */
	ACCESS_ERR, /* it found an access that is not allowed: QP_ACCESS_ERR */
	SOME_OF_IT, /* perhaps the first packets, QP fine */
};

struct row {
	const char *rule;
	enum kind kind;
	uint8_t status;
	enum other_end other;
};

static void create(struct pair *p)
{
	struct vqp_conn conn = vqp_conn_default();

	conn.rnr_retry = 3;
	pair_create(p, &(struct pair_options){.conn = &conn});
}

static void post(struct pair *p, enum kind kind)
{
	switch (kind) {
	case SEND:
		side_recv(&p->b, 7, 100000, LENGTH);
		side_send(&p->a, 1, 0, LENGTH);
		break;
	case WRITE:
		side_write(&p->a, 1, 0, 100000, LENGTH);
		break;
	case READ:
		side_read(&p->a, 1, 200000, 0, LENGTH);
		break;
	case ATOMIC:
		side_store(&p->b, 0, 1000);
		side_fetch_add(&p->a, 1, 200000, 0, 5);
		break;
	}
}

static void expect_executed(struct pair *p, enum kind kind)
{
	if (kind == SEND)
		side_expect(&p->b, 0, 7, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	if (kind == SEND || kind == WRITE)
		pair_expect_copy(&p->a, 0, &p->b, 100000, LENGTH);
	if (kind == ATOMIC)
		side_expect_u64(&p->b, 0, 1005);
}

static void expect_other_end(struct pair *p, const struct row *r)
{
	bool req = r->other == REQ_ERR, access = r->other == ACCESS_ERR;

	pair_idle(p);
	world_assert(p->w, side_events(&p->b, UHCA_ABI_EVENT_QP_REQ_ERR) == req);
	world_assert(p->w, side_events(&p->b, UHCA_ABI_EVENT_QP_ACCESS_ERR) == access);
	world_assert(p->w, vqp_state(&p->b.qp) == (req || access ? IBV_QPS_ERR : IBV_QPS_RTS));
	side_poll(&p->b);
	if (r->other == EXECUTED)
		expect_executed(p, r->kind);
	else if (r->other == UNTOUCHED)
		world_assert(p->w, p->b.n_wc == 0);
}

static void run(const struct row *r)
{
	struct pair p;

	create(&p);
	world_rule(p.w, r->rule);
	if (r->other != UNTOUCHED && r->other != EXECUTED)
		side_ignore(&p.b, 100000, LENGTH);
	side_ignore(&p.a, 200000, LENGTH); /* an answer that was begun */
	post(&p, r->kind);
	if (r->other != EXECUTED) { /* else one ACK may be for both */
		side_write(&p.a, 2, 0, 300000, 100);
		side_ignore(&p.b, 300000, 100);
	}
	side_expect(&p.a, 0, 1, r->status, 0);
	if (r->other != EXECUTED)
		side_expect(&p.a, 1, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_ERR);
	expect_other_end(&p, r);
	side_quiet(&p.a, PAIR_SECONDS);
	pair_finish(&p);
}

static void run_all(const struct row *r)
{
	for (; r->rule; r++)
		run(r);
}

static void test_nobody_answers(void **state)
{
	static const struct row rows[] = {
		{"black-hole: drop", SEND, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{"drop dev=uhca0", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{"drop dev=uhca1 dir=rx", READ, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		/* One way only: the other end has done it, and nobody hears of it. */
		{"one-way: drop dev=uhca1", SEND, UHCA_ABI_WC_RETRY_EXC_ERR, EXECUTED},
		{"drop dev=uhca0 dir=rx", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, EXECUTED},
		{"drop opcode=atomic_ack", ATOMIC, UHCA_ABI_WC_RETRY_EXC_ERR, EXECUTED},
		{"drop opcode=read_response", READ, UHCA_ABI_WC_RETRY_EXC_ERR, SOME_OF_IT},
		{"drop opcode=response", ATOMIC, UHCA_ABI_WC_RETRY_EXC_ERR, EXECUTED},
		{"drop opcode=RC_SEND_LAST", SEND, UHCA_ABI_WC_RETRY_EXC_ERR, SOME_OF_IT},
		{"corrupt=icrc", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{"corrupt=bit opcode=response", SEND, UHCA_ABI_WC_RETRY_EXC_ERR, EXECUTED},
		{"nak=sequence", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{NULL, 0, 0, 0},
	};

	(void)state;
	run_all(rows);
}

static void test_refused(void **state)
{
	static const struct row rows[] = {
		{"nak=access", SEND, UHCA_ABI_WC_REM_ACCESS_ERR, UNTOUCHED},
		{"nak=access", WRITE, UHCA_ABI_WC_REM_ACCESS_ERR, UNTOUCHED},
		{"nak=access", READ, UHCA_ABI_WC_REM_ACCESS_ERR, UNTOUCHED},
		{"nak=access", ATOMIC, UHCA_ABI_WC_REM_ACCESS_ERR, UNTOUCHED},
		{"mid-stream: nak=access opcode=write nth=2", WRITE, UHCA_ABI_WC_REM_ACCESS_ERR,
		 SOME_OF_IT},
		{"nak=operational", SEND, UHCA_ABI_WC_REM_OP_ERR, UNTOUCHED},
		{"nak=operational", WRITE, UHCA_ABI_WC_REM_OP_ERR, UNTOUCHED},
		{"nak=operational dir=tx", READ, UHCA_ABI_WC_REM_OP_ERR, UNTOUCHED},
		{"nak=operational", ATOMIC, UHCA_ABI_WC_REM_OP_ERR, UNTOUCHED},
		{"nak=invalid", SEND, UHCA_ABI_WC_REM_INV_REQ_ERR, UNTOUCHED},
		{"nak=invalid", WRITE, UHCA_ABI_WC_REM_INV_REQ_ERR, UNTOUCHED},
		{"nak=invalid", READ, UHCA_ABI_WC_REM_INV_REQ_ERR, UNTOUCHED},
		{"nak=invalid dir=tx", ATOMIC, UHCA_ABI_WC_REM_INV_REQ_ERR, UNTOUCHED},
		{"nak=17", WRITE, UHCA_ABI_WC_BAD_RESP_ERR, UNTOUCHED},
		/* Done, and refused all the same. */
		{"forge=nak:access opcode=RC_SEND_LAST", SEND, UHCA_ABI_WC_REM_ACCESS_ERR,
		 EXECUTED},
		{"set=aeth.syndrome:0x62 opcode=ack", WRITE, UHCA_ABI_WC_REM_ACCESS_ERR, EXECUTED},
		{"set=aeth.syndrome:0x63 opcode=ack", SEND, UHCA_ABI_WC_REM_OP_ERR, EXECUTED},
		{"rnr=1", SEND, UHCA_ABI_WC_RNR_RETRY_EXC_ERR, UNTOUCHED},
		{"rnr=1", READ, UHCA_ABI_WC_RNR_RETRY_EXC_ERR, UNTOUCHED},
		{"rnr=5 dir=tx", ATOMIC, UHCA_ABI_WC_RNR_RETRY_EXC_ERR, UNTOUCHED},
		{"rnr=1 opcode=RC_WRITE_LAST", WRITE, UHCA_ABI_WC_RNR_RETRY_EXC_ERR, SOME_OF_IT},
		{NULL, 0, 0, 0},
	};

	(void)state;
	run_all(rows);
}

/* Packets whose ICRC is right, and which say something else than they should. */
static void test_changed(void **state)
{
	static const struct row rows[] = {
		{"set=reth.rkey:+256", WRITE, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"set=reth.rkey:0 opcode=read", READ, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"set=atomic.rkey:0x12345", ATOMIC, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"set=reth.va:0x10", WRITE, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"set=reth.va:-4096 opcode=read", READ, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"set=atomic.va:+1", ATOMIC, UHCA_ABI_WC_REM_INV_REQ_ERR, REQ_ERR},
		{"set=reth.length:+1", WRITE, UHCA_ABI_WC_REM_INV_REQ_ERR, REQ_ERR},
		{"set=reth.length:-8", WRITE, UHCA_ABI_WC_REM_INV_REQ_ERR, REQ_ERR},
		{"set=reth.length:0x80000001 opcode=read", READ, UHCA_ABI_WC_REM_INV_REQ_ERR,
		 REQ_ERR},
		{"truncate=100 opcode=RC_WRITE_FIRST", WRITE, UHCA_ABI_WC_REM_INV_REQ_ERR, REQ_ERR},
		{"truncate=0 opcode=RC_SEND_MIDDLE", SEND, UHCA_ABI_WC_REM_INV_REQ_ERR, REQ_ERR},
		{"truncate=1020 opcode=RC_SEND_FIRST dir=rx", SEND, UHCA_ABI_WC_REM_INV_REQ_ERR,
		 REQ_ERR},
		{"truncate=8 opcode=read_response", READ, UHCA_ABI_WC_BAD_RESP_ERR, EXECUTED},
		/* SEND FIRST becomes MIDDLE, WRITE MIDDLE becomes SEND MIDDLE. */
		{"set=bth.opcode:1 opcode=RC_SEND_FIRST", SEND, UHCA_ABI_WC_REM_INV_REQ_ERR,
		 REQ_ERR},
		{"set=bth.opcode:1 opcode=RC_WRITE_MIDDLE", WRITE, UHCA_ABI_WC_REM_INV_REQ_ERR,
		 REQ_ERR},
		/* No receiver can read a READ request with a payload: it is dropped. */
		{"set=bth.opcode:0x0c opcode=write", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{"set=bth.version:15", SEND, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{"set=bth.dest_qp:0x777777", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{"set=bth.pkey:1", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR, UNTOUCHED},
		{NULL, 0, 0, 0},
	};

	(void)state;
	run_all(rows);
}

/* What happens to the device at the moment of a packet. */
static void test_device_actions(void **state)
{
	static const struct row rows[] = {
		{"revoked: key.revoke opcode=RC_WRITE_FIRST", WRITE, UHCA_ABI_WC_REM_ACCESS_ERR,
		 ACCESS_ERR},
		{"key.revoke opcode=read", READ, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"key.revoke opcode=atomic", ATOMIC, UHCA_ABI_WC_REM_ACCESS_ERR, ACCESS_ERR},
		{"port.down opcode=RC_SEND_FIRST dir=rx", SEND, UHCA_ABI_WC_RETRY_EXC_ERR,
		 UNTOUCHED},
		{"port.down opcode=RC_WRITE_LAST dir=rx", WRITE, UHCA_ABI_WC_RETRY_EXC_ERR,
		 SOME_OF_IT},
		{NULL, 0, 0, 0},
	};

	(void)state;
	run_all(rows);
}

/* The QP fails by itself in the middle of a message: its peer finds nobody there. */
static void test_qp_fails(void **state)
{
	struct pair p;

	(void)state;
	create(&p);
	world_rule(p.w, "qp.error opcode=RC_WRITE_MIDDLE dir=rx");
	side_ignore(&p.b, 100000, LENGTH);
	side_write(&p.a, 1, 0, 100000, LENGTH);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	world_assert(p.w, vqp_state(&p.b.qp) == IBV_QPS_ERR);
	world_assert(p.w, side_events(&p.b, UHCA_ABI_EVENT_QP_FATAL) == 1);
	pair_finish(&p);
}

/* What is changed and still makes sense arrives as it was changed. */
static void test_changed_data(void **state)
{
	static const uint8_t changed = 0x5a;
	struct pair p;

	(void)state;
	create(&p);
	world_rule(p.w, "set=payload:3:0x5a opcode=RC_WRITE_MIDDLE nth=1");
	world_rule(p.w, "set=immdt:0x11223344");
	world_rule(p.w, "set=atomic.ack:4711");
	world_rule(p.w, "set=atomic.swap:+2");
	side_write(&p.a, 1, 0, 100000, LENGTH);
	side_recv(&p.b, 9, 0, 0);
	side_post(&p.a, &(struct op){.opcode = UHCA_ABI_WR_SEND_WITH_IMM,
				     .wr_id = 2,
				     .flags = UHCA_ABI_SEND_SIGNALED,
				     .imm = 1});
	side_store(&p.b, 0, 1000);
	side_fetch_add(&p.a, 3, 200000, 0, 5);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_FETCH_ADD);
	side_expect(&p.b, 0, 9, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	world_assert(p.w, p.b.wc[0].imm == 0x44332211);
	side_expect_u64(&p.a, 200000, 4711);
	side_expect_u64(&p.b, 0, 1007);
	pair_expect_copy(&p.a, 0, &p.b, 100000, LENGTH);
	memory_expect(&p.b.c.mem, p.b.mr.addr + 100000 + 1024 + 3, &changed, 1);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_answers), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_changed),        cmocka_unit_test(test_changed_data),
		cmocka_unit_test(test_device_actions), cmocka_unit_test(test_qp_fails),
	};

	return cmocka_run_group_tests_name("fault_errors", tests, NULL, NULL);
}
