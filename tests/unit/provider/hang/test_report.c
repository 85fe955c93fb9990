/* SPDX-License-Identifier: BSD-2-Clause */
/* A hang is told of what stands still at that moment, whatever was seen some time before. */
#include "provider/diagnostic/check.h"
#include "provider/hang/report.h"
#include "tests/support/provider/watched_cq.h"
#include "tests/support/wire/cmocka_all.h"

#include <sys/syscall.h>
#include <unistd.h>

static struct uhcav_hang_threads all; /* this one, which polls */

static int set_up(void **state)
{
	uhcav_check_enable(1ull << UHCA_CHECK_POLL_NOTHING | 1ull << UHCA_CHECK_PEER_WAITS);
	all.n = 1;
	all.all = true;
	all.at[0] = (struct uhcav_hang_thread){.tid = (pid_t)syscall(SYS_gettid), .polls = true};
	watched_cq_setup(state);
	uhcav_hang_look(1);
	return 0;
}

/* Nobody collects here: the finding goes to stderr. */
static void test_stuck(void **state)
{
	(void)state;
	assert_true(uhcav_hang_report_dry(&all, &all.at[0]));
}

static void test_completion_came(void **state)
{
	struct watched_cq *w = *state;

	w->entry.sequence = 1;
	assert_false(uhcav_hang_report_dry(&all, &all.at[0]));
	assert_false(uhcav_hang_report_stuck(&all, &all.at[0]));
}

static void test_thread_went_on(void **state)
{
	(void)state;
	all.at[0].polls = false;
	all.at[0].key = 1; /* of a call that it is not in */
	assert_false(uhcav_hang_report_dry(&all, &all.at[0]));
	assert_false(uhcav_hang_report_stuck(&all, &all.at[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_stuck, set_up),
		cmocka_unit_test_setup(test_completion_came, set_up),
		cmocka_unit_test_setup(test_thread_went_on, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
