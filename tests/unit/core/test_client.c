/* SPDX-License-Identifier: BSD-2-Clause */
/* Clients: doorbells, handles of others, and an end that leaves nothing behind. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/base/client.h"
#include "emu/core/keys/mr.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <time.h>

static void count_all(const struct fixture *f, uint32_t expected[CORE_OBJECT_TYPES])
{
	for (int type = 0; type < CORE_OBJECT_TYPES; type++)
		expected[type] = core_object_count(f->dev, type);
}

static void assert_empty(const struct fixture *f)
{
	for (int type = 0; type < CORE_OBJECT_TYPES; type++)
		assert_int_equal(core_object_count(f->dev, type), 0);
	assert_int_equal(f->dev->qpns.used, 0);
	assert_int_equal(f->rings, 0);
	assert_true(list_empty(&f->dev->tx_ready));
	assert_true(core_next_deadline(f->dev) == UINT64_MAX);
}

/* QPs of every type in every state, one with work to send, one with its timer running. */
static void populate(struct fixture *f)
{
	static const uint32_t type[] = {IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD};
	struct uhca_cmd_create_ah ah = {.pd = fixture_pd(f), .attr = fixture_attr(0).ah};
	uint32_t handle;

	for (unsigned i = 0; i < 30; i++) {
		struct fixture_qp qp = fixture_qp(f, type[i % 3]);
		struct qp *object = device_find_qp(f->dev, qp.qpn);
		if (i >= 3)
			fixture_connect(f, &qp, type[i % 3]);
		if (i >= 27)
			qp_set_state(object, QPS_ERR);
		if (i == 10)
			qp_kick(object);
		if (i == 12)
			timer_set(&f->dev->timers, &object->req.timer, 77);
		fixture_mr(f, qp.pd, 0x10000, 4096 * (i + 1) * 30, MR_LOCAL_WRITE);
		fixture_srq(f, qp.pd);
		assert_int_equal(core_create_ah(f->client, &ah, &handle), 0);
	}
}

static void test_teardown(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	populate(&f);
	core_client_destroy(f.client);
	assert_empty(&f);
	assert_int_equal(f.async, 0); /* the dead are not told */
	fixture_stop(&f);
}

/* The whole device with clients in it. */
static void test_device_teardown(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	populate(&f);
	fixture_stop(&f);
}

/* One goes, the other keeps all of its own. */
static void test_neighbour(void **state)
{
	uint32_t before[CORE_OBJECT_TYPES], after[CORE_OBJECT_TYPES];
	struct client *mine;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	mine = f.client;
	populate(&f);
	count_all(&f, before);
	f.client = f.other;
	populate(&f);
	core_client_destroy(f.other);
	count_all(&f, after);
	assert_memory_equal(before, after, sizeof(before));
	core_client_destroy(mine);
	assert_empty(&f);
	fixture_stop(&f);
}

/* As little at a time as can be, with a neighbour who works meanwhile. */
static void test_parts(void **state)
{
	struct client *mine;
	struct fixture f;
	unsigned parts = 1;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	mine = f.client;
	populate(&f);
	f.client = f.other;
	while (!core_client_leave(mine, 1)) {
		if (parts++ % 16)
			continue;
		pd = fixture_pd(&f);
		fixture_mr(&f, pd, 0x10000, 4096, MR_LOCAL_WRITE);
	}
	assert_true(parts > 100);
	core_client_destroy(f.other);
	assert_empty(&f);
	fixture_stop(&f);
}

/* Who inherits what is shared may itself end before all of it has come. */
static void test_parts_of_a_group(void **state)
{
	struct uhca_cmd_import_reply out;
	struct client *mine;
	struct fixture f;
	uint32_t pd, mr;

	(void)state;
	fixture_start(&f, NULL);
	mine = f.client;
	pd = fixture_pd(&f);
	mr = fixture_mr(&f, pd, 0x10000, 4096, MR_LOCAL_WRITE) >> 8;
	populate(&f);
	assert_int_equal(core_client_join(f.other, mine), 0);
	f.client = f.other;
	populate(&f);
	/* Up to where the first region has another owner, and the last has not. */
	while (core_import_mr(f.other, mr, &out) == 0 && mine->end.stage < 1)
		assert_false(core_client_leave(mine, 1));
	assert_false(core_client_leave(mine, 2 * CORE_STEPS_PER_OBJECT));
	core_client_destroy(f.other);
	assert_empty(&f);
	fixture_stop(&f);
}

#define MANY    4000u
#define ENTRIES 128u
#define SECOND  1000000000ull

static uint64_t cpu_now(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void describe(struct fixture *f, uint32_t key, uint32_t lkey)
{
	struct uhca_cmd_describe_key in = {.shape = UHCA_ABI_SHAPE_SG,
					   .bytes = ENTRIES * sizeof(struct uhca_abi_block),
					   .layout = {.n = ENTRIES, .key = key}};
	struct uhca_abi_block *block = (void *)in.list;

	for (unsigned i = 0; i < ENTRIES; i++)
		block[i] = (struct uhca_abi_block){0x10000, 64, lkey, 0};
	assert_int_equal(core_describe_key(f->client, &in), 0);
}

/*
 * Many regions and many descriptions of them cost what they are, not one times the other: that was
 * several times the processor time that is allowed here.
 */
static void test_indirect(void **state)
{
	static uint32_t lkey[MANY];
	struct uhca_cmd_alloc_key in = {.max_entries = ENTRIES};
	struct uhca_cmd_reg_mr_reply out;
	struct fixture f;
	uint64_t before;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	for (unsigned i = 0; i < MANY; i++)
		lkey[i] = fixture_mr(&f, in.pd, 0x10000, 4096, MR_LOCAL_WRITE);
	for (unsigned i = 0; i < MANY; i++) {
		assert_int_equal(core_alloc_key(f.client, &in, &out), 0);
		describe(&f, out.lkey, lkey[i]);
	}
	before = cpu_now();
	core_client_destroy(f.client);
	assert_true(cpu_now() - before < SECOND / 4);
	assert_empty(&f);
	fixture_stop(&f);
}

static void test_find(void **state)
{
	struct fixture f;
	struct object *o = NULL;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	assert_int_equal(client_find(f.client, &f.dev->pds, pd, &o), 0);
	assert_int_equal(o->handle, pd);
	o = NULL;
	assert_int_equal(client_find(f.other, &f.dev->pds, pd, &o), -ENOENT);
	assert_int_equal(client_find(f.client, &f.dev->pds, 0, &o), -ENOENT);
	assert_int_equal(client_find(f.client, &f.dev->cqs, pd, &o), -ENOENT);
	assert_null(o);
	fixture_stop(&f);
}

/* ---- doorbells ---- */

static void test_smallest_free(void **state)
{
	struct fixture f;
	struct qp *qp = (struct qp *)&f; /* never looked at */
	uint32_t n;

	(void)state;
	fixture_start(&f, NULL);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(client_add_doorbell(f.client, qp, &n), 0);
		assert_int_equal(n, i);
	}
	client_remove_doorbell(f.client, 30);
	client_remove_doorbell(f.client, 7);
	assert_int_equal(client_add_doorbell(f.client, qp, &n), 0);
	assert_int_equal(n, 7);
	assert_int_equal(client_add_doorbell(f.client, qp, &n), 0);
	assert_int_equal(n, 30);
	assert_int_equal(client_add_doorbell(f.client, qp, &n), 0);
	assert_int_equal(n, 40);
	assert_int_equal(client_add_doorbell(f.other, qp, &n), 0);
	assert_int_equal(n, 0); /* each client has its own */
	fixture_stop(&f);
}

static void test_doorbell_model(void **state)
{
	struct prng r = prng_start("test_client");
	struct fixture f;
	bool used[200] = {0};
	uint32_t n;

	(void)state;
	fixture_start(&f, NULL);
	for (int i = 0; i < 20000; i++) {
		uint32_t pick = prng_below(&r, 200), smallest = 0;
		if (used[pick]) {
			client_remove_doorbell(f.client, pick);
			used[pick] = false;
			continue;
		}
		while (smallest < 200 && used[smallest])
			smallest++;
		assert_int_equal(client_add_doorbell(f.client, (struct qp *)&f, &n), 0);
		assert_int_equal(n, smallest);
		used[n] = true;
	}
	fixture_stop(&f);
}

static void test_all_doorbells(void **state)
{
	struct fixture f;
	uint32_t n = 0;

	(void)state;
	fixture_start(&f, NULL);
	for (uint32_t i = 0; i < UHCA_ABI_DOORBELL_MAX; i++)
		assert_int_equal(client_add_doorbell(f.client, (struct qp *)&f, &n), 0);
	assert_int_equal(n, UHCA_ABI_DOORBELL_MAX - 1);
	assert_int_equal(client_add_doorbell(f.client, (struct qp *)&f, &n), -ENOMEM);
	fixture_stop(&f);
}

/* Ringing puts the QP on the ready list; a number that nobody has does nothing. */
static void test_ring(void **state)
{
	struct fixture f;
	struct fixture_qp qp;
	struct qp *object;
	uint64_t now;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	object = device_find_qp(f.dev, qp.qpn);
	list_remove(&object->tx_link);
	now = f.dev->now;
	core_doorbell(f.client, object->doorbell + 1, now + 5);
	core_doorbell(f.client, UINT32_MAX, now + 5);
	core_doorbell(f.other, object->doorbell, now + 5);
	assert_true(list_empty(&f.dev->tx_ready));
	core_doorbell(f.client, object->doorbell, now + 6);
	assert_false(list_empty(&f.dev->tx_ready));
	assert_true(f.dev->now == now + 6);
	core_doorbell(f.client, object->doorbell, now); /* time does not go back */
	assert_true(f.dev->now == now + 6);
	fixture_stop(&f);
}

/* In the error state what is posted completes at once. */
static void test_ring_in_error(void **state)
{
	struct fixture f;
	struct fixture_qp qp;
	struct qp *object;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	object = device_find_qp(f.dev, qp.qpn);
	qp_fail(object, UINT32_MAX);
	object->page->send.producer += 2;
	object->page->recv.producer += 3;
	core_doorbell(f.client, object->doorbell, 6);
	assert_int_equal(object->send_cq->producer, 5);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_teardown),       cmocka_unit_test(test_device_teardown),
		cmocka_unit_test(test_neighbour),      cmocka_unit_test(test_find),
		cmocka_unit_test(test_parts),          cmocka_unit_test(test_parts_of_a_group),
		cmocka_unit_test(test_indirect),       cmocka_unit_test(test_smallest_free),
		cmocka_unit_test(test_doorbell_model), cmocka_unit_test(test_all_doorbells),
		cmocka_unit_test(test_ring),           cmocka_unit_test(test_ring_in_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
