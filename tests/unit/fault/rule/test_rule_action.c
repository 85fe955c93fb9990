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
		{"port.flap=down:1ms", FAULT_PORT_FLAP, FAULT_LAYER_TIME, FAULT_BOTH},
		{"port.speed=200gbit", FAULT_PORT_SPEED, FAULT_LAYER_TIME, FAULT_BOTH},
		{"port.mtu=1500", FAULT_PORT_MTU, FAULT_LAYER_TIME, FAULT_BOTH},
		{"port.pkey=0x8001", FAULT_PORT_PKEY, FAULT_LAYER_TIME, FAULT_BOTH},
		{"gid.change", FAULT_GID_CHANGE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"gid.empty", FAULT_GID_EMPTY, FAULT_LAYER_TIME, FAULT_BOTH},
		{"gid.add=10.1.2.3", FAULT_GID_ADD, FAULT_LAYER_TIME, FAULT_BOTH},
		{"gid.move=0:3", FAULT_GID_MOVE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.fatal", FAULT_DEV_FATAL, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.unplug=2s", FAULT_DEV_UNPLUG, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.reset", FAULT_DEV_RESET, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.hang time=1s", FAULT_DEV_HANG, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.freeze=1s", FAULT_DEV_FREEZE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"dev.exit", FAULT_DEV_EXIT, FAULT_LAYER_TIME, FAULT_BOTH},
		{"link.down=1ms link=l", FAULT_LINK_DOWN, FAULT_LAYER_TIME, FAULT_BOTH},
		{"link.flap=down:1ms link=l", FAULT_LINK_FLAP, FAULT_LAYER_TIME, FAULT_BOTH},
		{"link.rate=10gbit link=l", FAULT_LINK_RATE, FAULT_LAYER_TIME, FAULT_BOTH},
		{"link.delay=5us link=l", FAULT_LINK_DELAY, FAULT_LAYER_TIME, FAULT_BOTH},
		{"link.loss=1% link=l", FAULT_LINK_LOSS, FAULT_LAYER_TIME, FAULT_BOTH},
		{"switch.down switch=s", FAULT_SWITCH_DOWN, FAULT_LAYER_TIME, FAULT_BOTH},
		{"switch.flap=down:1ms switch=s", FAULT_SWITCH_FLAP, FAULT_LAYER_TIME, FAULT_BOTH},
		{"host.pause=1ms host=h0", FAULT_HOST_PAUSE, FAULT_LAYER_TIME, FAULT_BOTH},
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

/* What happens to ports, GID tables and devices: parts, bounds, suggestions. */
static void test_fleet(void **state)
{
	struct fault_rule r = rule_parsed("port.flap=up:1s,times:3,down:12s");

	(void)state;
	assert_int_equal(r.value.number, UINT64_C(12000000000));
	assert_int_equal(r.value.number2, UINT64_C(1000000000));
	assert_int_equal(r.value.times, 3);
	r = rule_parsed("port.flap=down:2ms");
	assert_int_equal(r.value.number2, 2000000);
	assert_int_equal(r.value.times, 1);
	rule_refused("port.flap=dwn:1s", 11, "did you mean 'down'?");
	rule_refused("port.flap=up:1s", 11, "down:TIME is missing");
	rule_refused("port.flap=down", 11, "needs a value");
	rule_refused("port.flap=down:3", 16, "is not a time");
	rule_refused("port.flap=down:1s,times:0", 25, "0 has no effect");
	rule_refused("port.speed=200", 12, "the unit is missing");
	rule_refused("port.speed=9kbit", 12, "from 100mbit to 1600gbit");
	rule_refused("port.mtu=60", 10, "below 68");
	rule_refused("port.pkey=0x8000", 11, "names no partition");
	assert_int_equal(rule_parsed("gid.empty").value.number, FAULT_GID_ALL);
	assert_int_equal(rule_parsed("gid.empty=3 time=2s").value.time, UINT64_C(2000000000));
	assert_int_equal(rule_parsed("gid.add=10.1.2.3").value.gid[12], 10);
	rule_refused("gid.add=10.1.2", 9, "is not an IP address");
	rule_refused("gid.move=3", 10, "is not INDEX:INDEX");
	rule_refused("gid.move=3:3", 12, "is there already");
	rule_refused("gid.move=0:1 time=1s", 14, "takes no parameter 'time'");
	rule_refused("dev.unplg=1s", 1, "did you mean 'dev.unplug'?");
	rule_refused("dev.hang=2h", 10, "is not a time");
	rule_refused("dev.hang=61min", 10, "longer than one hour");
	rule_refused("dev.hang time=30s", 15, "at most 25s");
}

/* Where a packet goes, and the byte that is wrong under a right checksum. */
static void test_selectors(void **state)
{
	struct fault_rule r =
		rule_parsed("corrupt=silent:70000 to=10.1.0.0/16,fd00:1::/32,10.2.3.4");

	(void)state;
	assert_true(r.select.by_byte);
	assert_int_equal(r.select.byte, 70000);
	assert_int_equal(r.select.n_to, 3);
	assert_int_equal(r.select.to_bits[0], 96 + 16);
	assert_int_equal(r.select.to_bits[1], 32);
	assert_int_equal(r.select.to_bits[2], 128);
	assert_false(rule_parsed("corrupt=silent").select.by_byte);
	rule_refused("drop to=10.1.0.0/33", 9, "is not a network");
	rule_refused("drop to=10.1/16", 9, "is not a network");
	rule_refused("drop to=", 6, "a value is missing");
	rule_refused("drop dscp=64", 11, "not within 0..63");
	rule_refused("drop sport=70000", 12, "not within 0..65535");
	rule_refused("corrupt=silnt", 9, "did you mean 'silent'?");
}

/* What happens to a modelled network, when: values, the part that must be named, moments. */
static void test_network(void **state)
{
	struct fault_rule r = rule_parsed("link.flap=down:2ms,times:3 link=leaf0/port1,h3");

	(void)state;
	assert_int_equal(fault_action_part(r.action), FAULT_PART_LINK);
	assert_string_equal(r.value.parts, "leaf0/port1,h3");
	assert_int_equal(r.value.number, 2000000);
	assert_int_equal(r.value.times, 3);
	r = rule_parsed("link.loss=0.5 link=h0 time=2ms nth=50 opcode=send dev=uhca0");
	assert_int_equal(r.layer, FAULT_LAYER_PACKET);
	assert_in_range(r.value.number, (UINT64_C(1) << 31) - 1, UINT64_C(1) << 31);
	assert_int_equal(r.value.time, 2000000);
	assert_int_equal(rule_parsed("link.loss=100% link=h0").value.number, UINT64_C(1) << 32);
	assert_int_equal(rule_parsed("link.loss=0 link=h0").value.number, 0);
	assert_int_equal(rule_parsed("link.delay=0ns link=h0").value.number, 0);
	assert_int_equal(rule_parsed("link.rate=2.5gbit link=h0").value.number,
			 UINT64_C(2500000000));
	assert_int_equal(rule_parsed("switch.down=1s switch=leaf* call=post_send").layer,
			 FAULT_LAYER_CALL);
	assert_int_equal(fault_action_part(FAULT_SWITCH_FLAP), FAULT_PART_SWITCH);
	assert_int_equal(fault_action_part(FAULT_HOST_PAUSE), FAULT_PART_HOST);
	assert_int_equal(fault_action_part(FAULT_PORT_DOWN), FAULT_PARTS);
	r = rule_parsed("drop at=leaf0/port3,leaf1/* opcode=write nth=5");
	assert_int_equal(r.layer, FAULT_LAYER_HOP);
	assert_string_equal(r.select.port, "leaf0/port3,leaf1/*");
	assert_int_equal(rule_parsed("ecn at=hop").layer, FAULT_LAYER_HOP);
	assert_int_equal(rule_parsed("link.down link=h0 at=leaf0/port3 nth=2").layer,
			 FAULT_LAYER_HOP);
	rule_refused("delay=1ms at=leaf0/port3", 11, "'at' applies to packets at a switch, but");
	rule_refused("drop at=leaf0/port3 dir=rx", 21, "'dir' applies to packets, but this rule");
	rule_refused("link.down=1ms", 1, "the link is missing: give link=NAME");
	rule_refused("link.down=1ms switch=leaf0", 15, "takes no parameter 'switch'");
	rule_refused("drop link=leaf0/port1", 6, "takes no parameter 'link'");
	rule_refused("link.rate=10 link=h0", 11, "the unit is missing");
	rule_refused("link.rate=1kbit link=h0", 11, "from 1mbit to 100000gbit");
	rule_refused("link.loss=2 link=h0", 11, "is not a probability");
	rule_refused("link.delay=2s link=h0", 12, "longer than 1s");
	rule_refused("link.delay=5 link=h0", 12, "is not a time");
	rule_refused("link.down=1ms link=h0 time=1s", 23, "takes no parameter 'time'");
	rule_refused("link.flap=dwn:1s link=h0", 11, "unknown part of a flap 'dwn'");
	rule_refused("link.dwn link=h0", 1, "did you mean 'link.down'?");
	rule_refused("link.down link=h0 dev=uhca1", 19, "'dev' needs a packet, call or");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_action), cmocka_unit_test(test_order),
		cmocka_unit_test(test_garbage),      cmocka_unit_test(test_fleet),
		cmocka_unit_test(test_selectors),    cmocka_unit_test(test_network),
	};

	return cmocka_run_group_tests_name("rule_action", tests, NULL, NULL);
}
