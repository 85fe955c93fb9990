/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a program can tell of order, on a real daemon below uhca-run: what one request did is there
 * for the next, whatever the program has polled; what was fetched before a fence is there behind
 * it; what was rung first takes effect first; and no completion waits for its reader. The argument
 * "strict" says that the daemon has --strict-order: not even those of rsockets wait.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#define ROUNDS      40u
#define FROM        0u          /* in a's memory: what is sent */
#define BACK        (64u << 10) /* in a's memory: what is fetched */
#define LANDS       4096u       /* in b's memory */
#define SUM         5u
#define DISCONNECT  0xe0000000u /* as rsockets say it */
#define SEEN_UNREAD 2           /* completions that a poll of two finds */

static bool strict;

static void fill(uint8_t *p, uint32_t n, unsigned round)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + round + 1);
}

static uint64_t remote(const struct verbs_side *s, size_t offset)
{
	return (uintptr_t)s->memory + offset;
}

/* A message of a to b that b does not poll; a has its completion. */
static void deliver(struct verbs_pair *p, uint32_t length, unsigned round)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	fill(p->a.memory + FROM, length, round);
	verbs_pair_recv(&p->b, round, LANDS, length);
	verbs_pair_send(&p->a, &wr, FROM, length);
}

static void expect(struct ibv_cq *cq, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = verbs_pair_poll(cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, opcode);
}

static void received(struct verbs_pair *p, uint32_t length)
{
	expect(p->b.cq, IBV_WC_RECV);
	assert_memory_equal(p->b.memory + LANDS, p->a.memory + FROM, length);
}

static void test_read_behind_send(void **state)
{
	static const uint32_t length[] = {1, 8, 63, 64, 65, 447, 448, 449, 4096, 70000};
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {remote(&p->b, LANDS), p->b.mr->rkey}};
		uint32_t n = length[i % (sizeof(length) / sizeof(length[0]))];

		memset(p->b.memory + LANDS, 0, n);
		deliver(p, n, i);
		verbs_pair_send(&p->a, &wr, BACK, n);
		expect(p->a.cq, IBV_WC_SEND);
		expect(p->a.cq, IBV_WC_RDMA_READ);
		assert_memory_equal(p->a.memory + BACK, p->a.memory + FROM, n);
		received(p, n);
	}
	verbs_pair_destroy(p);
}

static void test_atomic_behind_send(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wr = {
			.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.atomic = {remote(&p->b, LANDS), SUM, 0, p->b.mr->rkey}};
		uint64_t sent, back, now;

		deliver(p, sizeof(sent), i);
		verbs_pair_send(&p->a, &wr, BACK, sizeof(back));
		expect(p->a.cq, IBV_WC_SEND);
		expect(p->a.cq, IBV_WC_FETCH_ADD);
		expect(p->b.cq, IBV_WC_RECV);
		memcpy(&sent, p->a.memory + FROM, sizeof(sent));
		memcpy(&back, p->a.memory + BACK, sizeof(back));
		memcpy(&now, p->b.memory + LANDS, sizeof(now));
		assert_true(back == sent);
		assert_true(now == sent + SUM);
	}
	verbs_pair_destroy(p);
}

/* The poll that comes last changes nothing. */
static void test_write_behind_send(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {remote(&p->b, LANDS), p->b.mr->rkey}};

		deliver(p, 64, i);
		memset(p->a.memory + BACK, (int)~i, 64);
		verbs_pair_send(&p->a, &wr, BACK, 64);
		expect(p->a.cq, IBV_WC_SEND);
		expect(p->a.cq, IBV_WC_RDMA_WRITE);
		expect(p->b.cq, IBV_WC_RECV);
		assert_memory_equal(p->b.memory + LANDS, p->a.memory + BACK, 64);
	}
	verbs_pair_destroy(p);
}

/* Requests begin in their order: what a fenced one waited for is there for those behind it. */
static void test_send_behind_fence(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct ibv_sge sge = {(uintptr_t)p->a.memory + BACK, 64, p->a.mr->lkey};
		struct ibv_send_wr *bad, wr[3] = {{.next = &wr[1],
						   .sg_list = &sge,
						   .num_sge = 1,
						   .opcode = IBV_WR_RDMA_READ,
						   .wr.rdma = {remote(&p->b, 0), p->b.mr->rkey}},
						  {.next = &wr[2],
						   .opcode = IBV_WR_SEND,
						   .send_flags = IBV_SEND_FENCE},
						  {.sg_list = &sge,
						   .num_sge = 1,
						   .opcode = IBV_WR_SEND,
						   .send_flags = IBV_SEND_SIGNALED}};

		fill(p->b.memory, 64, i);
		verbs_pair_recv(&p->b, 1, LANDS, 0);
		verbs_pair_recv(&p->b, 2, LANDS, 64);
		assert_int_equal(ibv_post_send(p->a.qp, wr, &bad), 0);
		expect(p->a.cq, IBV_WC_SEND);
		expect(p->b.cq, IBV_WC_RECV);
		expect(p->b.cq, IBV_WC_RECV);
		assert_memory_equal(p->b.memory + LANDS, p->b.memory, 64);
	}
	verbs_pair_destroy(p);
}

/* ---- the order of ringing ---- */

static struct ibv_mw *bind_window(struct verbs_pair *p)
{
	struct ibv_mw *mw = ibv_alloc_mw(p->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};

	assert_non_null(mw);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){p->b.mr, (uintptr_t)p->b.memory, 4096,
							 IBV_ACCESS_REMOTE_READ};
	assert_int_equal(ibv_post_send(p->b.qp, &wr, &bad), 0);
	expect(p->b.cq, IBV_WC_BIND_MW);
	mw->rkey = wr.bind_mw.rkey;
	return mw;
}

/* The later QP takes the key away, then the earlier one reads through it: too late. */
static void test_ringing(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
		struct ibv_mr *window = ibv_reg_mr(p->pd, p->b.memory, 4096,
						   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		struct ibv_mr *whole = p->b.mr;
		struct ibv_send_wr *bad,
			wr = {.opcode = IBV_WR_LOCAL_INV, .send_flags = IBV_SEND_SIGNALED};
		struct ibv_send_wr read = {.opcode = IBV_WR_RDMA_READ,
					   .send_flags = IBV_SEND_SIGNALED};
		struct ibv_mw *mw;

		assert_non_null(window);
		p->b.mr = window;
		mw = bind_window(p);
		wr.invalidate_rkey = mw->rkey;
		read.wr.rdma.remote_addr = remote(&p->b, 0);
		read.wr.rdma.rkey = mw->rkey;
		assert_int_equal(ibv_post_send(p->b.qp, &wr, &bad), 0);
		verbs_pair_send(&p->a, &read, BACK, 64);
		assert_int_equal(verbs_pair_poll(p->a.cq).status, IBV_WC_REM_ACCESS_ERR);
		expect(p->b.cq, IBV_WC_LOCAL_INV);
		assert_int_equal(ibv_dealloc_mw(mw), 0);
		assert_int_equal(ibv_dereg_mr(window), 0);
		p->b.mr = whole;
		verbs_pair_destroy(p);
	}
}

/* ---- completions that wait for their reader ---- */

static void say(struct verbs_pair *p, uint32_t imm)
{
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				       .send_flags = IBV_SEND_SIGNALED,
				       .imm_data = htonl(imm)};

	verbs_pair_recv(&p->b, 0, 0, 0);
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
	expect(p->a.cq, IBV_WC_RDMA_WRITE);
}

/* What was acknowledged has completed, also behind something unread. */
static void check_seen(struct verbs_pair *p, uint32_t imm, int seen)
{
	struct ibv_wc wc[2];

	deliver(p, 64, 0);
	expect(p->a.cq, IBV_WC_SEND);
	say(p, imm);
	assert_int_equal(ibv_poll_cq(p->b.cq, 2, wc), seen);
	assert_int_equal(wc[0].opcode, IBV_WC_RECV);
	if (seen < SEEN_UNREAD)
		wc[1] = verbs_pair_poll(p->b.cq);
	assert_int_equal(wc[1].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(ntohl(wc[1].imm_data), imm);
}

static void test_immediate(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++)
		check_seen(p, i % 2 ? DISCONNECT : i, SEEN_UNREAD);
	verbs_pair_destroy(p);
}

/* QPs as librdmacm makes them for rsockets. */
static void test_rsocket(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct verbs_side *side[2] = {&p->a, &p->b};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
						.cap = {PAIR_WR, PAIR_WR, 2, 1, 64},
						.sq_sig_all = 1,
						.send_cq = side[i]->cq,
						.recv_cq = side[i]->cq};

		assert_int_equal(ibv_destroy_qp(side[i]->qp), 0);
		side[i]->qp = ibv_create_qp(p->pd, &attr);
		assert_non_null(side[i]->qp);
	}
	verbs_pair_connect(p, p->a.qp, p->b.qp->qp_num);
	verbs_pair_connect(p, p->b.qp, p->a.qp->qp_num);
	check_seen(p, 1, SEEN_UNREAD);
	check_seen(p, DISCONNECT, strict ? SEEN_UNREAD : 1);
	verbs_pair_destroy(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_behind_send),  cmocka_unit_test(test_atomic_behind_send),
		cmocka_unit_test(test_write_behind_send), cmocka_unit_test(test_send_behind_fence),
		cmocka_unit_test(test_ringing),           cmocka_unit_test(test_immediate),
		cmocka_unit_test(test_rsocket),
	};

	strict = argc > 1 && strcmp(argv[1], "strict") == 0;
	return cmocka_run_group_tests_name(strict ? "strict" : "order", tests, NULL, NULL);
}
