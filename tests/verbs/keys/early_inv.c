/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LOCAL_INV right behind a SEND from the key it takes away, in one list, on a real daemon. Runs
 * below uhca-run; the argument says how the daemon executes it: "early" (--early-local-inv), where
 * only the fence saves the SEND, or "ordered".
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <infiniband/uhcadv.h>
#include <stdbool.h>
#include <string.h>

#define LENGTH 1000u

static bool early;

static struct ibv_mr *key_over(struct verbs_pair *p, const struct verbs_side *s)
{
	struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE};
	struct uhcadv_block block = {(uintptr_t)s->memory, LENGTH, s->mr->lkey};
	struct ibv_mr *mr = uhcadv_alloc_mr(p->pd, 4);

	assert_non_null(mr);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, &block, 1), 0);
	return mr;
}

/* The statuses of the SEND and of the LOCAL_INV. */
static void run(unsigned inv_flags, enum ibv_wc_status status[2])
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_mr *key = key_over(p, &p->a);
	struct ibv_sge sge = {0, LENGTH, key->lkey};
	struct ibv_send_wr *bad, wr[2] = {{.wr_id = 1,
					   .next = &wr[1],
					   .sg_list = &sge,
					   .num_sge = 1,
					   .opcode = IBV_WR_SEND,
					   .send_flags = IBV_SEND_SIGNALED},
					  {.wr_id = 2,
					   .opcode = IBV_WR_LOCAL_INV,
					   .send_flags = IBV_SEND_SIGNALED | inv_flags,
					   .invalidate_rkey = key->rkey}};

	memset(p->a.memory, 7, LENGTH);
	verbs_pair_recv(&p->b, 9, 0, LENGTH);
	assert_int_equal(ibv_post_send(p->a.qp, wr, &bad), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct ibv_wc wc = verbs_pair_poll(p->a.cq);

		assert_int_equal(wc.wr_id, i + 1);
		status[i] = wc.status;
	}
	if (status[0] == IBV_WC_SUCCESS) {
		assert_int_equal(verbs_pair_poll(p->b.cq).wr_id, 9);
		assert_memory_equal(p->b.memory, p->a.memory, LENGTH);
	}
	assert_int_equal(ibv_dereg_mr(key), 0);
	verbs_pair_destroy(p);
}

static void test_loose(void **state)
{
	enum ibv_wc_status status[2];

	(void)state;
	run(0, status);
	assert_int_equal(status[0], early ? IBV_WC_LOC_PROT_ERR : IBV_WC_SUCCESS);
	assert_int_equal(status[1], early ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS);
}

static void test_fenced(void **state)
{
	enum ibv_wc_status status[2];

	(void)state;
	run(IBV_SEND_FENCE, status);
	assert_int_equal(status[0], IBV_WC_SUCCESS);
	assert_int_equal(status[1], IBV_WC_SUCCESS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loose),
		cmocka_unit_test(test_fenced),
	};

	early = argc > 1 && strcmp(argv[1], "early") == 0;
	return cmocka_run_group_tests_name(early ? "early" : "ordered", tests, NULL, NULL);
}
