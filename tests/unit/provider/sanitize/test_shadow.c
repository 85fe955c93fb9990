/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shadow of a queue: what is entered is outstanding until a completion or a reset says that it
 * is not, whatever the ring's index has come to; receives leave in any order.
 */
#include "provider/sanitize/shadow.h"

#include "provider/queues/queues.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>

static struct uhcav_cq cq;

static struct uhcav_shadow *queue(bool is_send)
{
	const struct uhcav_shadow as = {.is_send = is_send, .max_wr = 8, .cq = &cq};
	struct uhcav_shadow *s = uhcav_shadow_create(&as);

	assert_non_null(s);
	return s;
}

static void enter(struct uhcav_shadow *s, uint64_t wr_id, uint32_t index)
{
	const struct uhcav_request r = {.wr_id = wr_id,
					.index = index,
					.signaled = true,
					.direction = UHCAV_LOCAL_READ,
					.n_pieces = 1,
					.pieces = calloc(1, sizeof(struct uhcav_piece))};

	assert_true(uhcav_shadow_enter(s, &r));
}

static void free_all(struct uhcav_request *r, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		uhcav_request_free(&r[i]);
}

static void test_in_order(void **state)
{
	struct uhcav_shadow *s = queue(true);
	struct uhcav_request out[64];
	uint32_t index = UINT32_MAX - 50; /* it wraps */

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		enter(s, i, index + i);
	assert_int_equal(s->n, 100);
	assert_int_equal(cq.expected, 100);
	assert_int_equal(uhcav_shadow_complete(s, index + 60, out, 40), 40);
	assert_int_equal(out[39].wr_id, 39);
	free_all(out, 40);
	assert_int_equal(uhcav_shadow_complete(s, index + 60, out, 40), 20);
	assert_int_equal(out[19].wr_id, 59);
	free_all(out, 20);
	assert_int_equal(uhcav_shadow_complete(s, index + 60, out, 40), 0);
	assert_int_equal(cq.expected, 40);
	uhcav_shadow_destroy(s);
	assert_int_equal(cq.expected, 0);
}

static void test_take_back(void **state)
{
	struct uhcav_shadow *s = queue(true);
	struct uhcav_request out[4];

	(void)state;
	for (uint32_t i = 0; i < 3; i++)
		enter(s, i, i);
	uhcav_shadow_take_back(s, 2);
	assert_int_equal(s->n, 1);
	enter(s, 9, 1);
	assert_int_equal(uhcav_shadow_complete(s, 2, out, 4), 2);
	assert_int_equal(out[1].wr_id, 9);
	free_all(out, 2);
	uhcav_shadow_clear(NULL);
	uhcav_shadow_destroy(s);
	uhcav_shadow_destroy(NULL);
	assert_int_equal(cq.expected, 0);
}

static void test_any_order(void **state)
{
	struct uhcav_shadow *s = queue(false);
	struct uhcav_request out;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		enter(s, i % 3, i); /* 0 1 2 0 */
	assert_int_equal(uhcav_shadow_complete_one(s, 2, &out), 1);
	uhcav_request_free(&out);
	assert_int_equal(uhcav_shadow_complete_one(s, 2, &out), 0);
	assert_int_equal(uhcav_shadow_complete_one(s, 0, &out), 1);
	assert_int_equal(out.index, 0); /* the older one */
	uhcav_request_free(&out);
	assert_int_equal(cq.expected, 2);
	assert_int_equal(uhcav_shadow_complete_one(s, 1, &out), 1);
	uhcav_request_free(&out);
	assert_int_equal(s->n, 1);
	assert_int_equal(uhcav_shadow_complete_one(s, 0, &out), 1);
	assert_int_equal(out.index, 3);
	uhcav_request_free(&out);
	assert_int_equal(s->n, 0);
	uhcav_shadow_destroy(s);
	assert_int_equal(cq.expected, 0);
}

static void count(struct uhcav_shadow *s, void *arg)
{
	(void)s;
	++*(unsigned *)arg;
}

static void test_each(void **state)
{
	struct uhcav_shadow *a = queue(true), *b = queue(false);
	unsigned n = 0;

	(void)state;
	uhcav_shadow_each(count, &n);
	assert_int_equal(n, 2);
	uhcav_shadow_destroy(a);
	n = 0;
	uhcav_shadow_each(count, &n);
	assert_int_equal(n, 1);
	uhcav_shadow_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_order),
		cmocka_unit_test(test_take_back),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
