/* SPDX-License-Identifier: BSD-2-Clause */
/* Step mode: the wire stands still, and a person lets packets go, drops and changes them. */
#include "tests/support/fault/net_stage.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/syndrome.h"

#include <errno.h>
#include <stdlib.h>

static int setup(void **state)
{
	struct stage *s = malloc(sizeof *s);

	assert_non_null(s);
	stage_open(s);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	stage_close(*state);
	free(*state);
	return 0;
}

#define ROOM 64

static unsigned waiting(struct stage *s, struct fault_waiting w[ROOM])
{
	return fault_net_waiting(s->net, w, ROOM);
}

/*
 * All wait, one by one, with what there is to know of them; then all go in their order, what was on
 * its way in before what was on its way out.
 */
static void test_freeze(void **state)
{
	struct stage *s = *state;
	struct fault_waiting w[ROOM];

	fault_net_freeze(s->net, true, s->now);
	assert_true(fault_net_frozen(s->net));
	assert_true(fault_net_active(s->net));
	stage_give(s, FAULT_TX, stage_write(s, 5, STAGE_PSN));
	s->now += 10;
	stage_give(s, FAULT_RX, stage_ack(s, 7));
	assert_int_equal(s->n, 0);
	assert_int_equal(waiting(s, w), 6);
	assert_int_equal(fault_net_waiting(s->net, w, 3), 3);
	assert_int_equal(waiting(s, w), 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(w[i].burst->count, 1);
		assert_int_equal(w[i].burst->head.bth.psn, i < 5 ? STAGE_PSN + i : 7);
		assert_int_equal(w[i].direction, i < 5 ? FAULT_TX : FAULT_RX);
		assert_int_equal(w[i].since, i < 5 ? 1000 : 1010);
		assert_true(i == 0 || w[i].number > w[i - 1].number);
	}
	fault_net_freeze(s->net, false, s->now);
	assert_false(fault_net_frozen(s->net));
	assert_false(fault_net_active(s->net));
	assert_int_equal(s->n, 6);
	for (unsigned i = 0; i < 6; i++)
		stage_expect(s, i, STAGE_PASSED, i > 0 ? STAGE_PSN + i - 1 : 7);
}

static void test_one_by_one(void **state)
{
	struct stage *s = *state;
	struct fault_waiting w[ROOM];

	fault_net_freeze(s->net, true, s->now);
	stage_give(s, FAULT_TX, stage_write(s, 4, STAGE_PSN));
	waiting(s, w);
	assert_int_equal(fault_net_release(s->net, w[2].number, s->now), 0);
	stage_expect(s, 0, STAGE_PASSED, STAGE_PSN + 2);
	assert_int_equal(s->event[0].check, stage_sum(s, 2));
	assert_int_equal(fault_net_release(s->net, w[2].number, s->now), -ENOENT);
	assert_int_equal(fault_net_drop(s->net, w[0].number, s->now), 0);
	assert_int_equal(stage_expect(s, 1, STAGE_DROPPED, STAGE_PSN)->model.rule, 0);
	assert_int_equal(fault_net_drop(s->net, w[0].number, s->now), -ENOENT);
	assert_int_equal(waiting(s, w), 2);
	assert_int_equal(w[0].burst->head.bth.psn, STAGE_PSN + 1);
	assert_int_equal(w[1].burst->head.bth.psn, STAGE_PSN + 3);
}

static void test_change(void **state)
{
	struct stage *s = *state;
	struct fault_waiting w[ROOM];
	uint32_t number;

	fault_net_freeze(s->net, true, s->now);
	stage_give(s, FAULT_TX, stage_send(s, STAGE_PSN));
	waiting(s, w);
	number = w[0].number;
	assert_int_equal(fault_net_change(s->net, number, "bth.psn", 4711), 0);
	assert_int_equal(fault_net_change(s->net, number, "payload:99", 0xab), 0);
	assert_int_equal(fault_net_change(s->net, number, "payload:100", 1), -EINVAL);
	assert_int_equal(fault_net_change(s->net, number, "payload", 1), -EINVAL);
	assert_int_equal(fault_net_change(s->net, number, "bth.psn:3", 1), -EINVAL);
	assert_int_equal(fault_net_change(s->net, number, "reth.va", 1), -EINVAL);
	assert_int_equal(fault_net_change(s->net, number, "nonsense", 1), -EINVAL);
	assert_int_equal(fault_net_change(s->net, number, "bth.version", 1), -EINVAL);
	assert_int_equal(fault_net_change(s->net, number + 1, "bth.psn", 1), -ENOENT);
	assert_int_equal(waiting(s, w), 1);
	assert_int_equal(((const uint8_t *)w[0].burst->iov[0].iov_base)[99], 0xab);
	assert_int_equal(((const uint8_t *)w[0].burst->iov[0].iov_base)[98], s->payload[98]);
	assert_int_equal(fault_net_release(s->net, number, s->now), 0);
	stage_expect(s, 0, STAGE_PASSED, 4711);
}

/* A rule holds one back while the others go. */
static void test_hold(void **state)
{
	struct stage *s = *state;
	struct fault_waiting w[ROOM];

	stage_rule(s, "hold nth=2");
	stage_give(s, FAULT_TX, stage_write(s, 4, STAGE_PSN));
	assert_int_equal(s->n, 3);
	assert_int_equal(waiting(s, w), 1);
	assert_int_equal(w[0].burst->model.rule, 1);
	assert_false(fault_net_frozen(s->net));
	assert_int_equal(fault_net_release(s->net, w[0].number, s->now), 0);
	stage_expect(s, 3, STAGE_PASSED, STAGE_PSN + 1);
}

/* Rules go on working: what they drop does not wait, what they delay waits afterwards. */
static void test_with_rules(void **state)
{
	struct stage *s = *state;
	struct fault_waiting w[ROOM];

	stage_rule(s, "drop nth=1");
	stage_rule(s, "delay=10us nth=1"); /* it does not see what the first took away */
	stage_rule(s, "rnr=1 nth=2 dir=tx");
	fault_net_freeze(s->net, true, s->now);
	stage_give(s, FAULT_TX, stage_write(s, 4, STAGE_PSN));
	stage_expect(s, 0, STAGE_DROPPED, STAGE_PSN);
	/* 1: delayed; 2: refused, its answer waits; 3 went the same way as what was refused */
	assert_int_equal(waiting(s, w), 1);
	assert_int_equal(w[0].direction, FAULT_RX);
	assert_int_equal(roce_syndrome_kind(w[0].burst->head.aeth.syndrome), ROCE_RNR_NAK);
	s->now += 10000;
	fault_net_tick(s->net, s->now);
	assert_int_equal(waiting(s, w), 2);
	s->n = 0;
	fault_net_freeze(s->net, false, s->now);
	stage_expect(s, 0, STAGE_MADE, STAGE_PSN + 2);
	stage_expect(s, 1, STAGE_PASSED, STAGE_PSN + 2);
	stage_expect(s, 2, STAGE_PASSED, STAGE_PSN + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_freeze), TEST(test_one_by_one), TEST(test_change),
		TEST(test_hold),   TEST(test_with_rules),
	};

	return cmocka_run_group_tests_name("fault_step", tests, NULL, NULL);
}
