/* SPDX-License-Identifier: BSD-2-Clause */
/* How connections end: DREQ, DREP, and when the programs hear of it (cm.c, cm_receive.c). */
#include "tests/support/core/cm_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>

/* An end that wants to go before the RTU has come goes when it knows that the other is there. */
static void disconnects_early(void **state)
{
	static const uint8_t data = 0xb2;
	struct core_cm_param p = cm_world_param(0x222, QPT_RC, &data);

	(void)state;
	cm_world_call(QPT_RC);
	cm_world_wait(SECOND / 2);
	assert_int_equal(core_cm_established(cm_world.passive.cm, cm_world.now),
			 -EINVAL); /* it was asked only */
	assert_int_equal(core_cm_accept(cm_world.passive.cm, &p, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_REPLIED));
	assert_int_equal(core_cm_disconnect(cm_world.passive.cm, cm_world.now), 0);
	cm_world.lose_all = true; /* the RTU */
	assert_int_equal(
		core_cm_ready(cm_world.active.cm, &(struct core_cm_param){0}, cm_world.now), 0);
	cm_world_deliver();
	cm_world.lose_all = false;
	assert_false(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	assert_false(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	/* A message of the QP came: the other end must have been ready (12.9.8.5). */
	assert_int_equal(core_cm_established(cm_world.passive.cm, cm_world.now), 0);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	cm_world_end();
}

/* Who asks for the end hears of it when the other side's program has answered, and not before. */
static void disconnects(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	assert_int_equal(core_cm_disconnect(cm_world.passive.cm, cm_world.now), 0);
	cm_world_wait(5 * SECOND); /* the DREQ is repeated meanwhile */
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	assert_false(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	assert_false(cm_end_heard(&cm_world.active, CORE_CM_TIMEWAIT_EXIT));
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	assert_int_equal(cm_world.passive.status[cm_world.passive.n - 1], 0);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(5 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_TIMEWAIT_EXIT));
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_TIMEWAIT_EXIT));
	cm_world_end();
}

/* The end of the owner is an answer, too. */
static void an_end_answers(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	assert_false(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	core_cm_destroy(cm_world.passive.cm, cm_world.now);
	cm_world.passive.cm = NULL;
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	cm_world_end();
}

/* Both want to go: neither waits for the other's program. */
static void both_disconnect(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	assert_int_equal(core_cm_disconnect(cm_world.passive.cm, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	cm_world_wait(5 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_TIMEWAIT_EXIT));
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_TIMEWAIT_EXIT));
	cm_world_end();
}

/* A program that never answers: the peer gives up after its repetitions, with -ETIMEDOUT. */
static void nobody_answers_a_disconnect(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(10 * SECOND);
	assert_false(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	cm_world_wait(20 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	assert_int_equal(cm_world.active.status[1], -ETIMEDOUT);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
	cm_world_end();
}

/* Before there is a connection a disconnect changes nothing, and is no error. */
static void disconnects_nothing(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(SECOND / 2);
	assert_int_equal(core_cm_disconnect(cm_world.passive.cm, cm_world.now), 0);
	cm_world_go_on(3);
	assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
	cm_world_end();
}

/* Each message lost once: nothing is lost but time. */
static void one_message_is_lost(void **state)
{
	for (unsigned lost = 0; lost < 5; lost++) {
		if (lost > 0) {
			cm_world_finish(state);
			cm_world_start(state);
		}
		cm_world.lose = lost;
		cm_world_call(QPT_RC);
		cm_world_go_on(8);
		assert_true(cm_end_heard(&cm_world.active, CORE_CM_REPLIED));
		assert_true(cm_end_heard(&cm_world.passive, CORE_CM_ESTABLISHED));
		assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
		cm_world_wait(10 * SECOND);
		assert_true(cm_end_heard(&cm_world.passive, CORE_CM_DISCONNECTED));
		assert_int_equal(core_cm_disconnect(cm_world.passive.cm, cm_world.now), 0);
		cm_world_wait(10 * SECOND);
		assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
		cm_world_end();
	}
}

static void the_peer_vanishes(void **state)
{
	(void)state;
	cm_world_call(QPT_RC);
	cm_world_go_on(3);
	cm_world.lose_all = true;
	assert_int_equal(core_cm_disconnect(cm_world.active.cm, cm_world.now), 0);
	cm_world_wait(60 * SECOND);
	assert_true(cm_end_heard(&cm_world.active, CORE_CM_DISCONNECTED));
	assert_int_equal(cm_world.active.status[cm_world.active.n - 2], -ETIMEDOUT);
	cm_world_end();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, cm_world_start, cm_world_finish)
	const struct CMUnitTest tests[] = {
		TEST(disconnects_early),
		TEST(disconnects),
		TEST(an_end_answers),
		TEST(both_disconnect),
		TEST(nobody_answers_a_disconnect),
		TEST(disconnects_nothing),
		TEST(one_message_is_lost),
		TEST(the_peer_vanishes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
