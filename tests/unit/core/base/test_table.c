/* SPDX-License-Identifier: BSD-2-Clause */
/* Handle table: what was given out is found, what was taken back never again by the same name. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/base/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int thing[64];

static void test_find(void **state)
{
	struct table t;
	uint32_t a, b;

	(void)state;
	table_construct(&t, 64);
	assert_null(table_find(&t, 0));
	assert_int_equal(table_add(&t, &thing[0], &a), 0);
	assert_int_equal(table_add(&t, &thing[1], &b), 0);
	assert_int_not_equal(a, b);
	assert_ptr_equal(table_find(&t, a), &thing[0]);
	assert_ptr_equal(table_find(&t, b), &thing[1]);
	assert_null(table_find(&t, 0));
	assert_null(table_find(&t, UINT32_MAX));
	assert_int_equal(t.used, 2);
	table_destruct(&t);
}

static void test_stale(void **state)
{
	struct table t;
	uint32_t first, second;

	(void)state;
	table_construct(&t, 64);
	assert_int_equal(table_add(&t, &thing[0], &first), 0);
	table_remove(&t, first);
	assert_null(table_find(&t, first));
	assert_int_equal(table_add(&t, &thing[1], &second), 0);
	assert_int_not_equal(first, second);
	assert_null(table_find(&t, first));
	assert_ptr_equal(table_find(&t, second), &thing[1]);
	table_destruct(&t);
}

/* A free slot's next name is not valid before somebody has it. */
static void test_name_of_free_slot(void **state)
{
	struct table t;
	uint32_t handle, next;

	(void)state;
	table_construct(&t, 16);
	assert_int_equal(table_add(&t, &thing[0], &handle), 0);
	table_remove(&t, handle);
	next = handle + (1u << t.index_bits);
	assert_null(table_find(&t, next));
	assert_int_equal(table_add(&t, &thing[1], &handle), 0);
	assert_int_equal(handle, next);
	table_destruct(&t);
}

static void check_exhaustion(uint32_t max)
{
	uint32_t *handle = calloc(max, sizeof(*handle)), more;
	struct table t;

	assert_non_null(handle);
	table_construct(&t, max);
	for (uint32_t i = 0; i < max; i++)
		assert_int_equal(table_add(&t, &thing[i % 64], &handle[i]), 0);
	assert_int_equal(table_add(&t, &thing[0], &more), -ENOMEM);
	assert_int_equal(t.used, max);
	table_remove(&t, handle[max / 2]);
	assert_int_equal(table_add(&t, &thing[0], &more), 0);
	assert_int_equal(table_add(&t, &thing[0], &more), -ENOMEM);
	for (uint32_t i = 0; i < max; i++)
		assert_ptr_equal(table_find(&t, handle[i]), i == max / 2 ? NULL : &thing[i % 64]);
	table_destruct(&t);
	free(handle);
}

static void test_exhaustion(void **state)
{
	static const uint32_t max[] = {1, 2, 15, 16, 17, 100, 4096};

	(void)state;
	for (unsigned i = 0; i < sizeof(max) / sizeof(max[0]); i++)
		check_exhaustion(max[i]);
}

/* Names of few bits go round; none is ever 0, 1 or all ones, and none follows itself. */
static void test_few_bits(void **state)
{
	struct table t;
	uint32_t handle, last = 0;

	(void)state;
	table_construct_bits(&t, 4, 5, 12345);
	assert_int_equal(t.generations, 6);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(table_add(&t, &thing[0], &handle), 0);
		assert_true(handle > 1 && handle < 31);
		assert_int_not_equal(handle, last);
		last = handle;
		table_remove(&t, handle);
	}
	table_destruct(&t);
}

static void test_salt(void **state)
{
	struct table t[3];
	uint32_t handle[3];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		table_construct_bits(&t[i], 4096, 24, i * 0x12345678u);
		assert_int_equal(table_add(&t[i], &thing[0], &handle[i]), 0);
		assert_true(handle[i] > 1 && handle[i] < 0xffffffu);
		table_destruct(&t[i]);
	}
	assert_int_not_equal(handle[0], handle[1]);
	assert_int_not_equal(handle[1], handle[2]);
}

static void test_iteration(void **state)
{
	struct table t;
	uint32_t handle[40], cursor = 0;
	bool seen[40] = {0};

	(void)state;
	table_construct(&t, 64);
	assert_null(table_next(&t, &cursor));
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(table_add(&t, &thing[i], &handle[i]), 0);
	cursor = 0;
	for (int *o; (o = table_next(&t, &cursor));) {
		unsigned i = (unsigned)(o - thing);
		assert_false(seen[i]);
		seen[i] = true;
		table_remove(&t, handle[i]);
	}
	for (unsigned i = 0; i < 40; i++)
		assert_true(seen[i]);
	assert_int_equal(t.used, 0);
	table_destruct(&t);
}

/* 10^5 random steps against a list of what must be there. */
#define MODEL 300

struct model {
	uint32_t live[MODEL], dead[MODEL];
	void *object[MODEL];
	unsigned n_live, n_dead;
};

static void model_add(struct model *m, struct table *t, struct prng *r)
{
	void *object = &thing[prng_below(r, 64)];
	uint32_t handle;
	int err = table_add(t, object, &handle);

	assert_int_equal(err, m->n_live == MODEL ? -ENOMEM : 0);
	if (err)
		return;
	for (unsigned i = 0; i < m->n_live; i++)
		assert_int_not_equal(m->live[i], handle);
	/* A name may come again after all generations of its slot; then it is not dead. */
	for (unsigned i = 0; i < m->n_dead; i++)
		if (m->dead[i] == handle)
			m->dead[i] = 0;
	m->live[m->n_live] = handle;
	m->object[m->n_live++] = object;
}

static void model_remove(struct model *m, struct table *t, struct prng *r)
{
	unsigned i;

	if (m->n_live == 0)
		return;
	i = prng_below(r, m->n_live);
	table_remove(t, m->live[i]);
	m->dead[m->n_dead < MODEL ? m->n_dead++ : prng_below(r, MODEL)] = m->live[i];
	m->live[i] = m->live[--m->n_live];
	m->object[i] = m->object[m->n_live];
}

static void model_check(const struct model *m, const struct table *t, struct prng *r)
{
	if (m->n_live) {
		unsigned i = prng_below(r, m->n_live);
		assert_ptr_equal(table_find(t, m->live[i]), m->object[i]);
	}
	if (m->n_dead)
		assert_null(table_find(t, m->dead[prng_below(r, m->n_dead)]));
	assert_int_equal(t->used, m->n_live);
}

static void test_model(void **state)
{
	struct prng r = prng_start("test_table");
	struct model m = {.n_live = 0};
	struct table t;

	(void)state;
	table_construct_bits(&t, MODEL, 16, prng_u32(&r));
	for (int i = 0; i < 100000; i++) {
		/* Lean to growth and to shrinking in turn, so that both ends are met. */
		if (prng_below(&r, 100) < (i / 5000 % 2 ? 45u : 55u))
			model_add(&m, &t, &r);
		else
			model_remove(&m, &t, &r);
		model_check(&m, &t, &r);
	}
	table_destruct(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_name_of_free_slot),
		cmocka_unit_test(test_exhaustion),
		cmocka_unit_test(test_few_bits),
		cmocka_unit_test(test_salt),
		cmocka_unit_test(test_iteration),
		cmocka_unit_test(test_model),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
