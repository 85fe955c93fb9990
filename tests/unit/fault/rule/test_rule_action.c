/* SPDX-License-Identifier: BSD-2-Clause */
/* The actions: each is there, looks at its moment, and what only some of them have. */
#include "tests/support/fault/rule_stage.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cqe.h"
#include "emu/fault/rule/rule.h"

#include <errno.h>
#include <string.h>

static void test_every_action(void **state)
{
	static const struct {
		const char *text;
		enum fault_action action;
		enum fault_layer layer;
		enum fault_direction direction;
	} all[] = {
		{"drop", FAULT_DROP, FAULT_LAYER_PACKET, FAULT_TX},
		{"dup", FAULT_DUPLICATE, FAULT_LAYER_PACKET, FAULT_TX},
		{"reorder=2", FAULT_REORDER, FAULT_LAYER_PACKET, FAULT_TX},
		{"delay=1ms", FAULT_DELAY, FAULT_LAYER_PACKET, FAULT_TX},
		{"rate=10mbit", FAULT_RATE, FAULT_LAYER_PACKET, FAULT_TX},
		{"burst=1%/50%", FAULT_BURST, FAULT_LAYER_PACKET, FAULT_TX},
		{"pause=5ms", FAULT_PAUSE, FAULT_LAYER_PACKET, FAULT_TX},
		{"corrupt=icrc", FAULT_CORRUPT, FAULT_LAYER_PACKET, FAULT_TX},
		{"set=bth.psn:7", FAULT_SET, FAULT_LAYER_PACKET, FAULT_TX},
		{"truncate=10", FAULT_TRUNCATE, FAULT_LAYER_PACKET, FAULT_TX},
		{"ecn", FAULT_ECN, FAULT_LAYER_PACKET, FAULT_TX},
		{"hold", FAULT_HOLD, FAULT_LAYER_PACKET, FAULT_TX},
		{"rnr", FAULT_RNR, FAULT_LAYER_PACKET, FAULT_RX},
		{"nak=access", FAULT_NAK, FAULT_LAYER_PACKET, FAULT_RX},
		{"ghost", FAULT_GHOST, FAULT_LAYER_PACKET, FAULT_RX},
		{"cnp", FAULT_CNP, FAULT_LAYER_PACKET, FAULT_RX},
		{"forge=ack", FAULT_FORGE, FAULT_LAYER_PACKET, FAULT_RX},
		{"cm.reject=consumer", FAULT_CM_REJECT, FAULT_LAYER_PACKET, FAULT_RX},
		{"cm.mra", FAULT_CM_MRA, FAULT_LAYER_PACKET, FAULT_RX},
		{"call.fail=EIO call=*", FAULT_CALL_FAIL, FAULT_LAYER_CALL, FAULT_BOTH},
		{"call.slow=1s call=*", FAULT_CALL_SLOW, FAULT_LAYER_CALL, FAULT_BOTH},
		{"cqe.set=imm:1", FAULT_CQE_SET, FAULT_LAYER_COMPLETION, FAULT_BOTH},
		{"cqe.delay=1ms", FAULT_CQE_DELAY, FAULT_LAYER_COMPLETION, FAULT_BOTH},
		{"cqe.withhold", FAULT_CQE_WITHHOLD, FAULT_LAYER_COMPLETION, FAULT_BOTH},
		{"cqe.overrun", FAULT_CQE_OVERRUN, FAULT_LAYER_COMPLETION, FAULT_BOTH},
		{"cqe.announce=1ms", FAULT_CQE_ANNOUNCE, FAULT_LAYER_COMPLETION, FAULT_BOTH},
		{"cqe.garbage", FAULT_CQE_GARBAGE, FAULT_LAYER_COMPLETION, FAULT_BOTH},
		{"mem.fail", FAULT_MEM_FAIL, FAULT_LAYER_MEMORY, FAULT_BOTH},
		{"event=PORT_ERR", FAULT_EVENT, FAULT_LAYER_TIME, FAULT_BOTH},
		{"qp.error qp=0x11", FAULT_QP_ERROR, FAULT_LAYER_TIME, FAULT_BOTH},
		{"key.revoke=7", FAULT_KEY_REVOKE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"key.reuse", FAULT_KEY_REUSE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"key.split", FAULT_KEY_SPLIT, FAULT_LAYER_TIME, FAULT_BOTH},
		{"port.down=1ms", FAULT_PORT_DOWN, FAULT_LAYER_TIME, FAULT_BOTH},
		{"gid.change", FAULT_GID_CHANGE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.fatal", FAULT_DEV_FATAL, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.freeze=1s", FAULT_DEV_FREEZE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.exit", FAULT_DEV_EXIT, FAULT_LAYER_TIME, FAULT_BOTH},
		{"count call=*", FAULT_COUNT, FAULT_LAYER_CALL, FAULT_BOTH},
	};

	(void)state;
	assert_int_equal(sizeof(all) / sizeof(all[0]), FAULT_ACTIONS);
	for (unsigned i = 0; i < FAULT_ACTIONS; i++) {
		const struct fault_rule r = rule_parsed(all[i].text);
		const char *name = fault_action_name((enum fault_action)i);

		assert_int_equal(all[i].action, i);
		assert_int_equal(r.action, i);
		assert_int_equal(r.layer, all[i].layer);
		assert_int_equal(r.select.direction, all[i].direction);
		assert_memory_equal(all[i].text, name, strlen(name));
	}
}

/* What waits behind a late completion. */
static void test_order(void **state)
{
	(void)state;
	assert_false(rule_parsed("cqe.delay=1ms").value.by_queue);
	assert_false(rule_parsed("cqe.delay=1ms order=cq").value.by_queue);
	assert_true(rule_parsed("cqe.delay=1ms order=queue").value.by_queue);
	assert_true(rule_parsed("cqe.announce=1ms jitter=2ms order=queue").value.by_queue);
	rule_refused("cqe.delay=1ms order=qp", 21, "'qp' is not cq or queue");
	rule_refused("delay=1ms order=queue", 11, "order");
}

/* All of a success is defined. */
static void test_garbage(void **state)
{
	const uint64_t success = UINT64_C(1) << UHCA_ABI_WC_SUCCESS;

	(void)state;
	assert_int_equal(rule_parsed("cqe.garbage").select.wc_status & success, 0);
	assert_int_equal(rule_parsed("cqe.garbage wc=WR_FLUSH_ERR").select.wc_status,
			 UINT64_C(1) << UHCA_ABI_WC_WR_FLUSH_ERR);
	rule_refused("cqe.garbage wc=SUCCESS", 13,
		     "a successful completion has no undefined fields");
	rule_refused("cqe.garbage=1", 13, "takes no value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_action),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests_name("rule_action", tests, NULL, NULL);
}
