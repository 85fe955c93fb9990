/* SPDX-License-Identifier: BSD-2-Clause */
/* The QPs of a CQ, against a plain array. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "provider/base/number_map.h"

#include <string.h>

#define QPS 200u

static uint8_t names[QPS]; /* their addresses stand for QPs */

static struct uhcav_qp *qp(uint32_t i)
{
	return (struct uhcav_qp *)(void *)&names[i];
}

static void test_empty(void **state)
{
	struct uhcav_number_map s;
	uint32_t cursor = 0;

	(void)state;
	uhcav_number_map_construct(&s);
	assert_null(uhcav_number_map_find(&s, 5));
	assert_null(uhcav_number_map_next(&s, &cursor));
	uhcav_number_map_remove(&s, 5);
	uhcav_number_map_destruct(&s);
}

static void test_once(void **state)
{
	struct uhcav_number_map s;

	(void)state;
	uhcav_number_map_construct(&s);
	assert_int_equal(uhcav_number_map_add(&s, 9, qp(1)), 0);
	assert_int_equal(uhcav_number_map_add(&s, 9, qp(1)), 0);
	assert_int_equal(s.n, 1);
	uhcav_number_map_remove(&s, 9);
	assert_int_equal(s.n, 0);
	assert_null(uhcav_number_map_find(&s, 9));
	uhcav_number_map_destruct(&s);
}

static uint32_t count(const struct uhcav_number_map *s, const uint8_t *there)
{
	uint32_t cursor = 0, n = 0;
	struct uhcav_qp *q;

	while ((q = uhcav_number_map_next(s, &cursor))) {
		assert_true(there[(uint8_t *)q - names]);
		n++;
	}
	return n;
}

static void test_model(void **state)
{
	struct prng r = prng_start("qp_set");
	uint8_t there[QPS] = {0};
	uint32_t qpn[QPS], n = 0;
	struct uhcav_number_map s;

	(void)state;
	uhcav_number_map_construct(&s);
	for (uint32_t i = 0; i < QPS; i++)
		qpn[i] = (prng_u32(&r) & 0xffff00) | i; /* all different, clustered */
	for (unsigned step = 0; step < 20000; step++) {
		uint32_t i = prng_below(&r, QPS);
		if (there[i])
			uhcav_number_map_remove(&s, qpn[i]);
		else
			assert_int_equal(uhcav_number_map_add(&s, qpn[i], qp(i)), 0);
		n += there[i] ? -1u : 1u;
		there[i] = !there[i];
		i = prng_below(&r, QPS);
		assert_ptr_equal(uhcav_number_map_find(&s, qpn[i]), there[i] ? qp(i) : NULL);
		if (step % 100 == 0)
			assert_int_equal(count(&s, there), n);
	}
	uhcav_number_map_destruct(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
