/* SPDX-License-Identifier: BSD-2-Clause */
/* Moderation of completion events: by number, by time, and changed while one is held back. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/queues/cq.h"

#include <errno.h>

#define CHANNEL 7u
#define USEC    1000ull

static struct cq *open_cq(struct fixture *f)
{
	struct uhca_cmd_create_cq in = {.cqe = 64, .channel = CHANNEL, .cookie = 5};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;

	assert_int_equal(core_create_cq(f->client, &in, &out, &ring), 0);
	return table_find(&f->dev->cqs, out.handle);
}

static void moderate(struct fixture *f, const struct cq *cq, uint16_t count, uint16_t period)
{
	struct uhca_cmd_modify_cq in = {
		.handle = cq->obj.handle, .cq_count = count, .cq_period = period};

	assert_int_equal(core_modify_cq(f->client, &in), 0);
}

static void arm(struct cq *cq)
{
	__atomic_fetch_or(&cq->page->arm, UHCA_ABI_ARM_NEXT, __ATOMIC_SEQ_CST);
}

static void push(struct cq *cq)
{
	struct uhca_abi_cqe e = {.wr_id = 1};

	assert_true(cq_push(cq, &e));
}

static void test_count(void **state)
{
	struct fixture f;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	cq = open_cq(&f);
	moderate(&f, cq, 3, 1000);
	arm(cq);
	push(cq);
	push(cq);
	assert_int_equal(f.comp, 0);
	push(cq);
	assert_int_equal(f.comp, 1);
	assert_int_equal(f.comp_event[0].channel, CHANNEL);
	/* Nothing is left over, and nobody armed it again. */
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	push(cq);
	assert_int_equal(f.comp, 1);
	arm(cq);
	push(cq);
	push(cq);
	assert_int_equal(f.comp, 1);
	push(cq);
	assert_int_equal(f.comp, 2);
	fixture_stop(&f);
}

static void test_period(void **state)
{
	struct fixture f;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	core_tick(f.dev, 5000);
	cq = open_cq(&f);
	moderate(&f, cq, 0, 50);
	arm(cq);
	push(cq);
	assert_int_equal(core_next_deadline(f.dev), 5000 + 50 * USEC);
	core_tick(f.dev, 5000 + 20 * USEC);
	push(cq); /* the first one's time counts */
	assert_int_equal(core_next_deadline(f.dev), 5000 + 50 * USEC);
	core_tick(f.dev, 5000 + 50 * USEC - 1);
	assert_int_equal(f.comp, 0);
	core_tick(f.dev, 5000 + 50 * USEC);
	assert_int_equal(f.comp, 1);
	assert_int_equal(cq->page->arm, 0);
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	fixture_stop(&f);
}

/* Without a period there is none, whatever the count. */
static void test_off(void **state)
{
	struct fixture f;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	cq = open_cq(&f);
	moderate(&f, cq, 100, 0);
	arm(cq);
	push(cq);
	assert_int_equal(f.comp, 1);
	fixture_stop(&f);
}

/* A change lets go what is held back; destroying takes the timer along. */
static void test_change(void **state)
{
	struct uhca_cmd_modify_cq nobody = {.handle = 0xffff};
	struct fixture f;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	cq = open_cq(&f);
	assert_int_equal(core_modify_cq(f.client, &nobody), -ENOENT);
	nobody.handle = cq->obj.handle;
	assert_int_equal(core_modify_cq(f.other, &nobody), -ENOENT);
	moderate(&f, cq, 10, 100);
	arm(cq);
	push(cq);
	assert_int_equal(f.comp, 0);
	moderate(&f, cq, 20, 200);
	assert_int_equal(f.comp, 1);
	arm(cq);
	push(cq);
	assert_true(core_next_deadline(f.dev) != UINT64_MAX);
	assert_int_equal(core_destroy_cq(f.client, cq->obj.handle), 0);
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	fixture_stop(&f);
}

/* What was unread when it was armed is one completion that asks for an event. */
static void test_unread(void **state)
{
	struct fixture f;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	core_tick(f.dev, 5000);
	cq = open_cq(&f);
	moderate(&f, cq, 2, 50);
	push(cq);
	arm(cq);
	assert_int_equal(core_notify_cq(f.client, cq->obj.handle), 0);
	assert_int_equal(f.comp, 0);
	assert_int_equal(core_next_deadline(f.dev), 5000 + 50 * USEC);
	push(cq);
	assert_int_equal(f.comp, 1);
	push(cq);
	arm(cq);
	assert_int_equal(core_notify_cq(f.client, cq->obj.handle), 0);
	assert_int_equal(f.comp, 1);
	core_tick(f.dev, 5000 + 50 * USEC);
	assert_int_equal(f.comp, 2);
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),  cmocka_unit_test(test_period),
		cmocka_unit_test(test_off),    cmocka_unit_test(test_change),
		cmocka_unit_test(test_unread),
	};

	return cmocka_run_group_tests_name("cq_moderation", tests, NULL, NULL);
}
