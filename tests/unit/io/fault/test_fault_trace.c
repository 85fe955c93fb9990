/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace of hits in memory: lines in their order, the oldest hits forgotten and counted, what
 * tells of rules kept for ever.
 */
#include "emu/io/fault/fault_trace.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <string.h>

static void test_order(void **state)
{
	struct io_fault_trace t = {.ring = NULL};
	const struct io_fault_line *l;

	(void)state;
	assert_null(io_fault_trace_from(&t, 0));
	io_fault_trace_add(&t, "rule 1", false);
	io_fault_trace_add(&t, "hit 1", true);
	l = io_fault_trace_from(&t, 0);
	assert_string_equal(l->text, "rule 1");
	assert_false(l->is_hit);
	l = io_fault_trace_from(&t, l->number + 1);
	assert_string_equal(l->text, "hit 1");
	assert_true(l->is_hit);
	assert_null(io_fault_trace_from(&t, l->number + 1));
	assert_null(io_fault_trace_from(&t, UINT64_MAX));
	assert_int_equal(t.lost, 0);
	io_fault_trace_destroy(&t);
	assert_null(io_fault_trace_from(&t, 0));
}

/* Rules among very many hits: all of them are still there, in front of the hits that are left. */
static void test_overflow(void **state)
{
	const unsigned rules = 200, hits = 1000; /* after each rule */
	struct io_fault_trace t = {.ring = NULL};
	const struct io_fault_line *l;
	unsigned seen_rules = 0, seen_hits = 0;
	uint64_t at = 0;
	char text[32];

	(void)state;
	for (unsigned r = 0; r < rules; r++) {
		snprintf(text, sizeof(text), "rule %u", r);
		io_fault_trace_add(&t, text, false);
		for (unsigned h = 0; h < hits; h++)
			io_fault_trace_add(&t, "hit", true);
	}
	while ((l = io_fault_trace_from(&t, at))) {
		assert_true(l->number >= at);
		at = l->number + 1;
		if (l->is_hit) {
			seen_hits++;
			continue;
		}
		snprintf(text, sizeof(text), "rule %u", seen_rules++);
		assert_string_equal(l->text, text);
	}
	assert_int_equal(seen_rules, rules);
	assert_int_equal(at, t.count);
	assert_int_equal(seen_hits + t.lost, rules * hits);
	assert_in_range(seen_hits, IO_FAULT_TRACE_MAX - rules, IO_FAULT_TRACE_MAX);
	io_fault_trace_destroy(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
