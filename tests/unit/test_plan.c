/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan: which subjects its rules hit, in which order, how often; and that chance is the same
 * each time.
 */
#include "../support/cmocka_all.h"

#include "plan.h"

#include <errno.h>
#include <string.h>

static const struct fault_plan_ops no_ops = {NULL, NULL};

static void add(struct fault_plan *p, const char *text)
{
	struct fault_error e;

	if (fault_plan_add(p, text, 0, &e) < 0)
		fail_msg("%s: column %u: %s", text, e.column, e.text);
}

/* How many rules hit the packet. */
static unsigned show(struct fault_plan *p, uint8_t opcode, uint64_t now)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct roce_packet pkt;
	struct fault_subject s;

	memset(&pkt, 0, sizeof(pkt));
	memset(&s, 0, sizeof(s));
	pkt.bth.opcode.v = opcode;
	s.layer = FAULT_LAYER_PACKET;
	s.device = "uhca0";
	s.qpn = 0x11;
	s.pkt = &pkt;
	return fault_plan_decide(p, &s, now, hit);
}

static void test_nth(void **state)
{
	struct fault_plan *p = fault_plan_create(1, &no_ops, NULL);

	(void)state;
	add(p, "drop opcode=rc.ack nth=3");
	assert_true(fault_plan_watches(p, FAULT_LAYER_PACKET));
	for (unsigned i = 1; i <= 5; i++) {
		assert_int_equal(show(p, ROCE_RC_SEND_ONLY, 0), 0);
		assert_int_equal(show(p, ROCE_RC_ACKNOWLEDGE, 0), i == 3);
	}
	assert_false(fault_plan_watches(p, FAULT_LAYER_PACKET));
	fault_plan_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
