/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys that go or come again, memory that is not there: access errors of the exact kind, on the
 * side that the clause says, and never a byte where none belongs. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1u << 20)
#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_MW_BIND)

/* Two buffers of a MiB each: what is read from, what is written to. */
struct stage {
	struct world *w;
	uint8_t *from, *to;
	struct ibv_mr *from_mr, *to_mr;
	struct ibv_qp *qp[2];
};

static void start(struct stage *s, struct world *w)
{
	s->w = w;
	s->from = malloc(MIB);
	s->to = malloc(MIB);
	assert_true(s->from && s->to);
	memset(s->from, 0x5a, MIB);
	memset(s->to, 0xa5, MIB);
	s->from_mr = ibv_reg_mr(w->pd, s->from, MIB, ALL);
	s->to_mr = ibv_reg_mr(w->pd, s->to, MIB, ALL);
	assert_true(s->from_mr && s->to_mr);
	world_qp_pair(w, s->qp, IBV_QPS_RTS);
}

static void finish(struct stage *s)
{
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(ibv_destroy_qp(s->qp[i]), 0);
	assert_int_equal(ibv_dereg_mr(s->from_mr), 0);
	if (s->to_mr)
		assert_int_equal(ibv_dereg_mr(s->to_mr), 0);
	free(s->from);
	free(s->to);
}

/* One request of the first QP over all of the buffers; how it ends. */
static enum ibv_wc_status move(struct stage *s, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	bool read = opcode == IBV_WR_RDMA_READ;
	struct ibv_sge sge = {(uintptr_t)(read ? s->to : s->from), MIB,
			      read ? s->to_mr->lkey : s->from_mr->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = opcode,
				       .send_flags = IBV_SEND_SIGNALED,
				       .sg_list = &sge,
				       .num_sge = 1};
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)(read ? s->from : s->to);
	wr.wr.rdma.rkey = rkey;
	assert_int_equal(ibv_post_send(s->qp[0], &wr, &bad), 0);
	world_poll(s->w->cq, &wc);
	return wc.status;
}

/* What arrived is a beginning of what was sent; behind it nothing was touched. */
static size_t arrived(const struct stage *s)
{
	size_t n = 0;

	while (n < MIB && s->to[n] == 0x5a)
		n++;
	for (size_t i = n; i < MIB; i++)
		assert_int_equal(s->to[i], 0xa5);
	return n;
}

/* The remote key goes while a WRITE uses it. */
static void test_revoke_in_write(void **state)
{
	struct stage s;
	size_t n;
	int rule = faulty_add("key.revoke opcode=write nth=100");

	start(&s, *state);
	assert_int_equal(move(&s, IBV_WR_RDMA_WRITE, s.to_mr->rkey), IBV_WC_REM_ACCESS_ERR);
	n = arrived(&s);
	assert_true(n < MIB);
	faulty_end(rule, 1);
	finish(&s);
}

/* Either key of a READ, by its number, while the answer is under way. */
static void test_revoke_in_read(void **state)
{
	for (unsigned local = 0; local < 2; local++) {
		struct stage s;
		char text[100];
		int rule;

		start(&s, *state);
		snprintf(text, sizeof(text), "key.revoke=%u opcode=read_response nth=100 dir=%s",
			 local ? s.to_mr->lkey : s.from_mr->rkey, local ? "rx" : "tx");
		rule = faulty_add(text);
		assert_int_equal(move(&s, IBV_WR_RDMA_READ, s.from_mr->rkey),
				 local ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
		assert_true(arrived(&s) < MIB);
		faulty_end(rule, 1);
		finish(&s);
	}
}

/* A key in use by nobody: local and remote uses fail, the region is deregistered as ever. */
static void test_revoked(void **state)
{
	struct stage s;
	char text[100];

	start(&s, *state);
	snprintf(text, sizeof(text), "key.revoke at=time key=%u after=1ms", s.from_mr->lkey);
	faulty_end(faulty_add(text), 1);
	assert_int_equal(move(&s, IBV_WR_RDMA_WRITE, s.to_mr->rkey), IBV_WC_LOC_PROT_ERR);
	assert_int_equal(arrived(&s), 0);
	finish(&s);
}

/* The key of a region that is gone opens the next one at once, as far as that allows. */
static void test_stale_key(void **state)
{
	static const int rights[] = {IBV_ACCESS_LOCAL_WRITE, IBV_ACCESS_REMOTE_READ};
	int rule = faulty_add("key.reuse at=time after=0s");

	assert_int_equal(uhcactl_fault_wait(faulty_ctl(), rule, 1, FAULTY_DEADLINE, NULL), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct stage s;
		struct ibv_mr *next;
		uint32_t stale;

		start(&s, *state);
		stale = s.to_mr->rkey;
		assert_int_equal(ibv_dereg_mr(s.to_mr), 0);
		s.to_mr = NULL;
		next = ibv_reg_mr(s.w->pd, s.to, MIB, rights[i]);
		assert_non_null(next);
		assert_int_equal(next->rkey, stale);
		assert_int_equal(move(&s, IBV_WR_RDMA_WRITE, stale), IBV_WC_REM_ACCESS_ERR);
		assert_int_equal(arrived(&s), 0);
		assert_int_equal(ibv_dereg_mr(next), 0);
		finish(&s);
	}
	faulty_end(rule, 1);
}

/* Which side finds nothing where it reads or writes, and what that is to the requester. */
static void test_nothing_there(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		bool at_from;
		enum ibv_wc_status status;
	} cases[] = {
		{IBV_WR_RDMA_WRITE, true, IBV_WC_LOC_PROT_ERR},
		{IBV_WR_RDMA_WRITE, false, IBV_WC_REM_OP_ERR},
		{IBV_WR_RDMA_READ, true, IBV_WC_REM_OP_ERR},
		{IBV_WR_RDMA_READ, false, IBV_WC_LOC_PROT_ERR},
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage s;
		char text[100];
		uintptr_t at;
		int rule;

		start(&s, *state);
		at = (uintptr_t)(cases[i].at_from ? s.from : s.to) + MIB / 2;
		snprintf(text, sizeof(text), "mem.fail address=0x%lx first=1", (unsigned long)at);
		rule = faulty_add(text);
		assert_int_equal(
			move(&s, cases[i].opcode,
			     cases[i].opcode == IBV_WR_RDMA_READ ? s.from_mr->rkey : s.to_mr->rkey),
			cases[i].status);
		assert_true(arrived(&s) <= MIB / 2);
		faulty_end(rule, 1);
		finish(&s);
	}
}

/* Half of all accesses: each request succeeds with all its bytes, or fails with an error. */
static void test_storm(void **state)
{
	unsigned good = 0, bad = 0;
	int rule = faulty_add("mem.fail p=0.03");

	for (unsigned i = 0; i < 24; i++) {
		enum ibv_wr_opcode opcode = i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
		enum ibv_wc_status status;
		struct stage s;

		start(&s, *state);
		status = move(&s, opcode, i & 1 ? s.from_mr->rkey : s.to_mr->rkey);
		if (status == IBV_WC_SUCCESS) {
			assert_int_equal(arrived(&s), MIB);
			good++;
		} else {
			assert_true(status == IBV_WC_LOC_PROT_ERR || status == IBV_WC_REM_OP_ERR);
			assert_true(arrived(&s) < MIB || opcode == IBV_WR_RDMA_WRITE);
			bad++;
		}
		finish(&s);
	}
	assert_int_equal(good + bad, 24);
	assert_true(bad > 0);
	assert_true(uhcactl_fault_remove(faulty_ctl(), rule, NULL) >= 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, faulty_setup, faulty_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_revoke_in_write), CASE(test_revoke_in_read), CASE(test_revoked),
		CASE(test_stale_key),       CASE(test_nothing_there),  CASE(test_storm),
	};

	return cmocka_run_group_tests_name("fault_memory", tests, NULL, NULL);
}
