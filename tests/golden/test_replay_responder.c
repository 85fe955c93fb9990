/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our device as the server of each captured conversation of soft-RoCE: what the client said arrives
 * again, and what we answer is what soft-RoCE answered, but for the table of differences.
 */
#include "role.h"
#include "tests/support/wire/cmocka_all.h"

/* Packets and completions of this end in each capture. */
static const struct row {
	const char *name;
	unsigned requests, answers, sends, receives;
} rows[] = {
	{"rc_send", 25, 5, 5, 5},       {"rc_send_v6", 10, 5, 5, 5},
	{"rc_send_bw64", 0, 50, 0, 50}, {"rc_write", 0, 5, 0, 0},
	{"rc_write_64k", 0, 5, 0, 0},   {"rc_read", 0, 20, 0, 0},
	{"rc_read_64k", 0, 320, 0, 0},  {"rc_atomic_fadd", 0, 5, 0, 0},
	{"rc_atomic_cas", 0, 5, 0, 0},  {"uc_send", 15, 0, 5, 5},
	{"ud_send", 5, 0, 5, 5},        {"cm_rping", 12, 6, 12, 6},
	{"cm_udaddy", 3, 0, 3, 3},
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void add(struct difference_count *sum, const struct difference_count *one)
{
	for (unsigned i = 0; i < DIFFERENCE_COUNT; i++)
		sum->n[i] += one->n[i];
}

static struct role_tally play(const char *name, enum role_pace pace)
{
	struct role_tally tally = {0};
	struct conversation c;

	conversation_open(&c, name, CONVERSATION_TRAFFIC);
	role_play(&c, ROLE_SERVER, pace, ROLE_WINDOW, &tally);
	conversation_close(&c);
	return tally;
}

static struct difference_count play_all(enum role_pace pace)
{
	struct difference_count sum = {0};

	for (size_t i = 0; i < ROWS; i++) {
		struct role_tally tally = play(rows[i].name, pace);

		assert_int_equal(tally.requests, rows[i].requests);
		assert_int_equal(tally.answers + tally.differences.n[DIFFERENCE_COALESCED],
				 rows[i].answers);
		assert_int_equal(tally.sends, rows[i].sends);
		assert_int_equal(tally.receives, rows[i].receives);
		add(&sum, &tally.differences);
	}
	return sum;
}

/* Each packet is answered before the next comes: every ACK of soft-RoCE is one of ours. */
static void test_one_by_one(void **state)
{
	struct difference_count met = play_all(ROLE_EAGER);

	(void)state;
	assert_int_equal(met.n[DIFFERENCE_COALESCED], 0);
	assert_int_not_equal(met.n[DIFFERENCE_MIGREQ], 0);
	assert_int_not_equal(met.n[DIFFERENCE_CREDITS], 0);
	assert_int_equal(met.n[DIFFERENCE_MAD_ACKREQ], 0);
}

/* Bits that mean nothing to a receiver, or nothing in this place, change nothing. */
static void test_ignored_bits(void **state)
{
	(void)state;
	play_all(ROLE_NOISY);
}

/* A request that comes again has its effect once, and the same answer again. */
static void test_duplicates(void **state)
{
	(void)state;
	assert_int_equal(play("rc_send", ROLE_TWICE).repeated, 5);
	assert_int_equal(play("rc_send_v6", ROLE_TWICE).repeated, 5);
	assert_int_equal(play("rc_write", ROLE_TWICE).repeated, 5);
	assert_int_equal(play("rc_read", ROLE_TWICE).repeated, 5);
	assert_int_equal(play("rc_atomic_fadd", ROLE_TWICE).repeated, 5);
	assert_int_equal(play("rc_atomic_cas", ROLE_TWICE).repeated, 5);
}

/* A packet that is missing is asked for once, whatever else comes before it. */
static void test_gaps(void **state)
{
	(void)state;
	assert_int_equal(play("rc_send", ROLE_GAP).naks, 15);
	assert_int_equal(play("rc_write", ROLE_GAP).naks, 10);
	assert_int_equal(play("rc_write_64k", ROLE_GAP).naks, 310);
}

/* Bursts as they were captured, as bursts: some ACKs are not needed, the others are the same. */
static void test_bursts(void **state)
{
	struct difference_count met = play_all(ROLE_BURST);

	(void)state;
	assert_int_not_equal(met.n[DIFFERENCE_COALESCED], 0);
	assert_int_equal(met.n[DIFFERENCE_MAD_ACKREQ], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_by_one), cmocka_unit_test(test_ignored_bits),
		cmocka_unit_test(test_bursts),     cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_gaps),
	};

	return cmocka_run_group_tests_name("replay_responder", tests, NULL, NULL);
}
