/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is said of a rule that never fired.
 */
#include "emu/ctl/scenario/never_fired.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static void expect(const char *facts, const char *says)
{
	json_t *rule = json_loads(facts, 0, NULL);
	char text[256];

	assert_non_null(rule);
	assert_string_equal(ctl_never_fired(rule, text, sizeof(text)), says);
	json_decref(rule);
}

static void test_words(void **state)
{
	(void)state;
	expect("{\"layer\":\"packet\",\"looked\":0,\"seen\":0,\"words\":[]}",
	       "it never fired: 0 packets were checked");
	expect("{\"layer\":\"packet\",\"looked\":1,\"seen\":0,\"words\":"
	       "[{\"name\":\"qp\",\"matched\":0}]}",
	       "it never fired: 1 packet was checked; qp matched 0");
	expect("{\"layer\":\"call\",\"looked\":9,\"seen\":2,\"matched\":2,\"words\":"
	       "[{\"name\":\"call\",\"matched\":4},{\"name\":\"program\",\"matched\":3}]}",
	       "it never fired: 9 calls were checked; call matched 4, program matched 3, all of "
	       "them 2; its limits (nth, p ...) excluded all of them");
	expect("{\"layer\":\"completion\",\"looked\":9,\"seen\":9,\"matched\":0,\"words\":[]}",
	       "it never fired: 9 completions were checked; none arrived while it was active");
	expect("{\"layer\":\"time\"}", "it never fired: its time did not come");
}

/* A buffer that is too short is not overrun. */
static void test_short(void **state)
{
	json_t *rule = json_loads("{\"layer\":\"memory\",\"looked\":77777777}", 0, NULL);
	char text[20];

	(void)state;
	assert_string_equal(ctl_never_fired(rule, text, sizeof(text)), "it never fired: 777");
	json_decref(rule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
