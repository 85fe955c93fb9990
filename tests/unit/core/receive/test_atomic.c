/* SPDX-License-Identifier: BSD-2-Clause */
/* The responder's atomics on one number: value before, value after, memory that is gone. */
#include "tests/sim/world/pair.h"

#include "emu/core/qp/qp.h"
#include "emu/core/receive/atomic.h"

static struct pair p;
static struct mr *mr;

static uint64_t execute(bool cas, uint64_t swap_add, uint64_t compare)
{
	struct roce_atomiceth h = {
		.va = p.a.mr.addr + 64, .swap_add = swap_add, .compare = compare};
	uint64_t original = 0;

	assert_int_equal(atomic_execute(p.a.c.host->dev, mr, &h, cas, &original), 0);
	return original;
}

static void test_values(void **state)
{
	struct qp *qp;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	qp = device_find_qp(p.a.c.host->dev, p.a.qp.qpn);
	assert_int_equal(mr_check(qp->pd, p.a.mr.rkey, p.a.mr.addr + 64, 8, MR_REMOTE_ATOMIC, &mr),
			 MR_OK);
	side_store(&p.a, 64, 41);
	assert_int_equal(execute(false, 1, 0), 41);
	assert_int_equal(execute(false, UINT64_MAX, 0), 42);
	assert_int_equal(execute(true, 7, 40), 41); /* no match: unchanged */
	assert_int_equal(execute(true, 7, 41), 41);
	assert_int_equal(side_load(&p.a, 64), 7);
	for (unsigned bit = 0; bit < 64; bit++) /* all 64 bits are compared */
		assert_int_equal(execute(true, 8, 7 ^ UINT64_C(1) << bit), 7);
	assert_int_equal(side_load(&p.a, 64), 7);
	side_expect_u64(&p.a, 64, 7);
	pair_finish(&p);
}

static void test_gone(void **state)
{
	struct roce_atomiceth h = {0};
	struct vmr gone;
	struct qp *qp;
	uint64_t va, original;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	va = memory_map(&p.a.c.mem, 4096);
	assert_int_equal(vclient_reg_mr(&p.a.c, va, 4096, PAIR_ACCESS, &gone), 0);
	qp = device_find_qp(p.a.c.host->dev, p.a.qp.qpn);
	assert_int_equal(mr_check(qp->pd, gone.rkey, va, 8, MR_REMOTE_ATOMIC, &mr), MR_OK);
	memory_unmap(&p.a.c.mem, va);
	h.va = va;
	assert_int_equal(atomic_execute(p.a.c.host->dev, mr, &h, false, &original), -EFAULT);
	assert_int_equal(vclient_dereg_mr(&p.a.c, &gone), 0);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests_name("atomic", tests, NULL, NULL);
}
