/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of two runs in which the same happened are the same text, whatever the numbers were. */
#include "emu/ctl/live/trace_stable.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static void check(const char *const *lines, const char *const *wanted)
{
	json_t *all = json_array(), *stable;
	size_t n = 0;

	for (; *lines; lines++)
		json_array_append_new(all, json_string(*lines));
	stable = trace_stable(all);
	for (; wanted[n]; n++)
		assert_string_equal(json_string_value(json_array_get(stable, n)), wanted[n]);
	assert_int_equal(json_array_size(stable), n);
	json_decref(all);
	json_decref(stable);
}

static void test_numbers(void **state)
{
	const char *const first[] = {
		"plan time=9 seed=77",
		"rule time=9 number=1 what=added text=\"a: drop qp=0x5 psn=3\"",
		"rule time=9 number=2 what=added text=ecn",
		"hit time=10 rule=2 hits=1 match=1 layer=packet what=ecn dev=uhca0 dir=tx qp=0xab "
		"psn=5 op=RC_SEND_ONLY retry=1",
		"hit time=11 rule=1 hits=1 match=1 layer=packet what=drop dev=uhca1 dir=rx qp=0xab",
		"hit time=12 rule=2 hits=2 match=2 layer=packet what=ecn dev=uhca0 dir=tx qp=0xab",
		"hit time=13 rule=1 hits=2 match=7 layer=completion what=x program=a\\ b client=3 "
		"qp=0xcd cq=0x2 status=SUCCESS",
		NULL,
	};
	const char *const wanted[] = {
		"plan",
		"rule number=1 what=added text=\"a: drop qp=0x5 psn=3\"",
		"hit rule=1 hits=1 match=1 layer=packet what=drop dev=uhca1 dir=rx qp=#1",
		"hit rule=1 hits=2 match=7 layer=completion what=x program=a\\ b qp=#2 cq=#1 "
		"status=SUCCESS",
		"rule number=2 what=added text=ecn",
		"hit rule=2 hits=1 match=1 layer=packet what=ecn dev=uhca0 dir=tx qp=#3 "
		"op=RC_SEND_ONLY retry=1",
		"hit rule=2 hits=2 match=2 layer=packet what=ecn dev=uhca0 dir=tx qp=#3",
		NULL,
	};

	(void)state;
	check(first, wanted);
}

static void test_nothing(void **state)
{
	const char *const none[] = {NULL};
	const char *const odd[] = {"", "hit", "hit rule=x text=\"no end", NULL};
	const char *const wanted[] = {"", "hit", "hit rule=x text=\"no end", NULL};

	(void)state;
	check(none, none);
	check(odd, wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests_name("trace_stable", tests, NULL, NULL);
}
