/* SPDX-License-Identifier: BSD-2-Clause */
/* The grammar of rules: what each word means, and of every mistake its column and what is said. */
#include "tests/support/fault/rule_stage.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/fault/rule/rules.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_examples(void **state)
{
	struct fault_rule r = rule_parsed("lost-ack: drop opcode=rc.ack nth=3\n");

	(void)state;
	assert_string_equal(r.name, "lost-ack");
	assert_string_equal(r.text, "lost-ack: drop opcode=rc.ack nth=3");
	assert_int_equal(r.action, FAULT_DROP);
	assert_int_equal(r.layer, FAULT_LAYER_PACKET);
	assert_int_equal(r.select.direction, FAULT_TX);
	assert_int_equal(r.limit.nth.n, 1);
	assert_int_equal(r.limit.nth.range[0].low, 3);

	r = rule_parsed("rnr=14 opcode=send times=3");
	assert_int_equal(r.action, FAULT_RNR);
	assert_int_equal(r.value.number, 14);
	assert_int_equal(r.select.direction, FAULT_RX);
	assert_int_equal(r.limit.max_hits, 3);

	r = rule_parsed("call.fail=ENOMEM call=create_qp nth=2");
	assert_int_equal(r.layer, FAULT_LAYER_CALL);
	assert_int_equal(r.value.number, ENOMEM);

	r = rule_parsed("cqe.set=status:REM_ACCESS_ERR wc=SUCCESS nth=5");
	assert_int_equal(r.layer, FAULT_LAYER_COMPLETION);
	assert_string_equal(r.value.word, "status");
	assert_int_equal(r.value.number2, 10);
	assert_int_equal(r.select.wc_status, 1);

	r = rule_parsed("key.revoke opcode=write nth=100");
	assert_int_equal(r.layer, FAULT_LAYER_PACKET);
	assert_int_equal(r.select.direction, FAULT_RX);

	r = rule_parsed("event=PORT_ERR after=10ms");
	assert_int_equal(r.layer, FAULT_LAYER_TIME);
	assert_int_equal(r.limit.after, 10000000);
	assert_string_equal(r.value.word, "PORT_ERR");
}

/* ---- actions ---- */

static struct fault_value value_of(const char *text)
{
	return rule_parsed(text).value;
}

static void test_values_of_packet_actions(void **state)
{
	struct fault_value v;

	(void)state;
	assert_int_equal(value_of("dup").number, 1);
	v = value_of("dup=3 time=5ms");
	assert_true(v.number == 3 && v.time == 5000000);
	assert_int_equal(value_of("reorder=4").number, 4);
	assert_int_equal(value_of("reorder=4 time=1s").time, 1000000000);
	assert_int_equal(value_of("rnr=14 time=1ms").time, 1000000);
	v = value_of("delay=1.5ms jitter=250us");
	assert_true(v.number == 1500000 && v.jitter == 250000);
	assert_true(v.limit_packets == 0 && v.limit_bytes == 0);
	v = value_of("rate=1gbit limit=100");
	assert_true(v.limit_packets == 100 && v.limit_bytes == 0);
	v = value_of("delay=1ms limit=64k");
	assert_true(v.limit_packets == 0 && v.limit_bytes == 65536);
	v = value_of("pause=1ms limit=2MB");
	assert_true(v.limit_bytes == 2 << 20);
	v = value_of("rate=1gbit limit=1500b");
	assert_true(v.limit_bytes == 1500);
	assert_int_equal(value_of("rate=64kbit").number, 64000);
	assert_int_equal(value_of("rate=1.5gbit").number, 1500000000);
	assert_int_equal(value_of("rate=9600bit").number, 9600);
	v = value_of("burst=0.25/1");
	assert_true(v.number == UINT32_MAX / 4 && v.number2 == UINT32_MAX);
	assert_int_equal(value_of("pause=1min").number, 60000000000);
	assert_int_equal(value_of("truncate=1k").number, 1024);
	assert_int_equal(value_of("truncate=0").number, 0);
	assert_string_equal(value_of("corrupt=ICRC").word, "icrc");
	v = value_of("corrupt=bit:100");
	assert_string_equal(v.word, "bit");
	assert_int_equal(v.number2, 100);
	assert_true(value_of("corrupt=bit").number2 == FAULT_BY_CHANCE);
	v = value_of("corrupt=payload:3");
	assert_string_equal(v.word, "payload");
	assert_int_equal(v.number2, 3);
	assert_true(value_of("corrupt=payload").number2 == FAULT_BY_CHANCE);
}

static void test_values_of_answers(void **state)
{
	struct fault_value v;

	(void)state;
	assert_int_equal(value_of("rnr").number, 12);
	assert_int_equal(value_of("rnr=0").number, 0);
	assert_int_equal(value_of("rnr=31").number, 31);
	assert_int_equal(value_of("nak=sequence").number, 0);
	assert_int_equal(value_of("nak=invalid").number, 1);
	assert_int_equal(value_of("nak=access").number, 2);
	assert_int_equal(value_of("nak=operational").number, 3);
	assert_int_equal(value_of("nak=31").number, 31);
	assert_string_equal(value_of("forge=ack").word, "ack");
	v = value_of("forge=NAK:operational");
	assert_string_equal(v.word, "nak");
	assert_int_equal(v.number2, 3);
	v = value_of("forge=rnr:1");
	assert_string_equal(v.word, "rnr");
	assert_int_equal(v.number2, 1);
	assert_int_equal(value_of("forge=rnr").number2, 12);
	assert_int_equal(value_of("cm.reject=consumer").number, 28);
	assert_int_equal(value_of("cm.reject=stale").number, 10);
	assert_int_equal(value_of("cm.reject=8").number, 8);
	assert_int_equal(value_of("cm.mra").number, 1000000000);
	assert_int_equal(value_of("cm.mra=4s").number, 4000000000);
}

static void test_values_of_the_rest(void **state)
{
	struct fault_value v;

	(void)state;
	assert_int_equal(value_of("call.fail=einval call=*").number, EINVAL);
	assert_int_equal(value_of("call.fail=95 call=*").number, 95);
	assert_int_equal(value_of("call.fail=ENOMEM call=post_* bad_wr=2").bad_wr, 2);
	v = value_of("cqe.set=status:IBV_WC_RETRY_EXC_ERR");
	assert_string_equal(v.word, "status");
	assert_int_equal(v.number2, 12);
	assert_int_equal(value_of("cqe.set=status:77").number2, 77);
	v = value_of("cqe.set=vendor:0x88");
	assert_string_equal(v.word, "vendor");
	assert_int_equal(v.number2, 0x88);
	assert_string_equal(value_of("cqe.set=length:0").word, "length");
	assert_string_equal(value_of("cqe.set=imm:5").word, "imm");
	v = value_of("event=IBV_EVENT_GID_CHANGE");
	assert_string_equal(v.word, "GID_CHANGE");
	assert_int_equal(v.number, 18);
	assert_int_equal(value_of("key.revoke=0x1234").number, 0x1234);
	assert_int_equal(value_of("key.revoke key=0x1234").number, 0);
	assert_int_equal(value_of("port.down").number, 0);
	assert_int_equal(value_of("port.down=20ms").number, 20000000);
}

static void test_every_field(void **state)
{
	(void)state;
	for (enum fault_field f = 0; f < FAULT_FIELDS; f++) {
		char text[FAULT_TEXT_MAX];
		struct fault_value v;

		snprintf(text, sizeof(text), "set=%s:%s%d", fault_field_words[f].name,
			 fault_field_indexed(f) ? "9:" : "", 1);
		v = value_of(text);
		assert_int_equal(v.field, f);
		assert_string_equal(v.word, fault_field_words[f].name);
		assert_int_equal(v.number, fault_field_indexed(f) ? 9 : 0);
		assert_int_equal(v.number2, 1);
		assert_false(v.relative);
		assert_int_equal(fault_field_find(fault_field_words[f].name), f);
	}
	assert_int_equal(fault_field_find("bth.nothing"), FAULT_FIELDS);
	assert_true(value_of("set=bth.psn:+5").relative);
	assert_int_equal(value_of("set=bth.psn:+5").number2, 5);
	assert_true(value_of("set=bth.psn:-5").relative);
	assert_true(value_of("set=bth.psn:-5").number2 == 0 - UINT64_C(5));
	assert_true(value_of("set=payload:0:+1").relative);
}

/* ---- selectors ---- */

static struct fault_select select_of(const char *text)
{
	return rule_parsed(text).select;
}

static void check_list(const struct fault_list *l, unsigned at, uint64_t low, uint64_t high)
{
	assert_true(l->n > at);
	assert_true(l->range[at].low == low);
	assert_true(l->range[at].high == high);
}

static void test_lists(void **state)
{
	struct fault_list l = select_of("drop length=1,4..6,0x10,1k..,2m").length;

	(void)state;
	assert_int_equal(l.n, 5);
	check_list(&l, 0, 1, 1);
	check_list(&l, 1, 4, 6);
	check_list(&l, 2, 16, 16);
	check_list(&l, 3, 1024, UINT64_MAX);
	check_list(&l, 4, 2 << 20, 2 << 20);
	l = select_of("drop length>=1024").length;
	check_list(&l, 0, 1024, UINT64_MAX);
	l = select_of("drop length>1024").length;
	check_list(&l, 0, 1025, UINT64_MAX);
	l = select_of("drop length<64").length;
	check_list(&l, 0, 0, 63);
	l = select_of("drop length<=64").length;
	check_list(&l, 0, 0, 64);
	l = select_of("drop length!=64").length;
	assert_int_equal(l.n, 2);
	check_list(&l, 0, 0, 63);
	check_list(&l, 1, 65, UINT64_MAX);
	l = select_of("drop qp!=0").qp;
	assert_int_equal(l.n, 1);
	check_list(&l, 0, 1, 0xffffff);
}

static void test_lists_of_every_selector(void **state)
{
	struct fault_select s =
		select_of("drop qp=1 peer_qp=2 srq=3 key=4 address=5 offset=6 psn=7");

	(void)state;
	check_list(&s.qp, 0, 1, 1);
	check_list(&s.peer_qp, 0, 2, 2);
	check_list(&s.srq, 0, 3, 3);
	check_list(&s.key, 0, 4, 4);
	check_list(&s.address, 0, 5, 5);
	check_list(&s.offset, 0, 6, 6);
	check_list(&s.psn, 0, 7, 7);
	s = select_of("drop qp=#1,#3..#4 psn=+0,+5..7");
	assert_int_equal(s.qp.n + s.psn.n, 0);
	check_list(&s.qp_order, 0, 1, 1);
	check_list(&s.qp_order, 1, 3, 4);
	check_list(&s.psn_relative, 0, 0, 0);
	check_list(&s.psn_relative, 1, 5, 7);
	s = select_of("drop client=1 pd=2");
	check_list(&s.client, 0, 1, 1);
	check_list(&s.pd, 0, 2, 2);
	s = select_of("cqe.withhold cq=9");
	check_list(&s.cq, 0, 9, 9);
	s = select_of("drop qp>=#2");
	check_list(&s.qp_order, 0, 2, 0xffffff);
}

static void test_names(void **state)
{
	struct fault_select s = select_of("call.slow=1ms dev=uhca1 program=ib_*,rping call=post_*");

	(void)state;
	assert_string_equal(s.device, "uhca1");
	assert_string_equal(s.program, "ib_*,rping");
	assert_string_equal(s.call, "post_*");
	assert_string_equal(select_of("drop device=uhca0").device, "uhca0");
	assert_string_equal(select_of("drop program=\"my prog\"").program, "my prog");
	assert_int_equal(select_of("drop dir=rx").direction, FAULT_RX);
	assert_int_equal(select_of("rnr dir=tx").direction, FAULT_TX);
	assert_int_equal(select_of("drop dir=both").direction, FAULT_BOTH);
	assert_true(select_of("drop retry").retry);
}

static void test_peers(void **state)
{
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 127, 0, 0, 2};
	static const uint8_t v6[16] = {0xfe, 0x80, [15] = 1};
	static const uint8_t full[16] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8};
	const struct fault_select s = select_of("drop peer=127.0.0.2");
	struct fault_select several;

	(void)state;
	assert_true(s.n_peers == 1 && !s.names_peers);
	assert_memory_equal(s.peer[0], v4, 16);
	several = select_of("drop peer=127.0.0.2,uhca*,fe80::1");
	assert_true(several.n_peers == 2 && several.names_peers);
	assert_memory_equal(several.peer[1], v6, 16);
	assert_memory_equal(select_of("drop peer=::ffff:127.0.0.2").peer[0], v4, 16);
	assert_memory_equal(select_of("drop peer=fe80::1").peer[0], v6, 16);
	assert_memory_equal(select_of("drop peer=1:2:3:4:5:6:7:8").peer[0], full, 16);
	rule_refused("drop peer=127.0.0", 11, "neither an IP address");
	rule_refused("drop peer=127.0.0.256", 11, "neither an IP address");
	rule_refused("drop peer=1:2:3", 11, "neither an IP address");
	rule_refused("drop peer=1:2:3:4:5:6:7:8:9", 11, "neither an IP address");
	rule_refused("drop peer=1::2::3", 11, "neither an IP address");
	rule_refused("drop peer=uhca0,,uhca1", 17, "neither an IP address nor a device");
}

static void test_statuses(void **state)
{
	(void)state;
	assert_true(select_of("cqe.withhold wc=SUCCESS").wc_status == 1);
	assert_true(select_of("cqe.withhold status=ibv_wc_wr_flush_err").wc_status == 1 << 5);
	assert_true(select_of("cqe.withhold wc=SUCCESS,REM_OP_ERR").wc_status == (1 | 1 << 11));
	assert_true(select_of("cqe.withhold wc=ERROR").wc_status == ~UINT64_C(1));
	assert_true(select_of("cqe.withhold wc.opcode=RDMA_READ").wc_opcode == 1 << 2);
	assert_true(select_of("cqe.withhold wc_opcode=RECV").wc_opcode == UINT64_C(1) << 63);
	assert_int_equal(fault_wc_opcode_bit(128), 63);
	assert_int_equal(fault_wc_opcode_bit(129), 62);
	assert_int_equal(fault_wc_opcode_bit(69), 37);
	assert_int_equal(fault_wc_opcode_bit(9), 9);
}

static void test_cm(void **state)
{
	(void)state;
	assert_int_equal(select_of("drop cm=REQ").cm, 1 << 16);
	assert_int_equal(select_of("drop cm=req,rep,rtu,rej,mra,dreq,drep,sidr_req,sidr_rep").cm,
			 0x1ff << 16);
	assert_int_equal(select_of("drop cm=LAP,APR").cm, 3 << 25);
	assert_int_equal(select_of("cm.reject=consumer").cm, 1 << 16);
	assert_int_equal(select_of("cm.mra cm=REP").cm, 1 << 19);
	assert_int_equal(select_of("set=cm.private:0:1").cm, 0x7ff << 16);
	assert_int_equal(select_of("set=cm.private:0:1 cm=REP").cm, 1 << 19);
}

/* ---- opcode= ---- */

static bool has(const struct fault_select *s, unsigned op)
{
	return s->opcode[op / 8] >> op % 8 & 1;
}

/* Exactly these opcodes, ended by -1, and these kinds of Acknowledge packets of RC and XRC. */
static void check_opcodes(const char *value, const int *wanted, unsigned rc_kinds,
			  unsigned xrc_kinds)
{
	char text[FAULT_TEXT_MAX];
	struct fault_select s;
	unsigned n = 0, n_wanted = 0;

	snprintf(text, sizeof(text), "drop opcode=%s", value);
	s = select_of(text);
	assert_true(s.by_opcode);
	for (; wanted[n_wanted] >= 0; n_wanted++)
		if (!has(&s, (unsigned)wanted[n_wanted]))
			fail_msg("%s is without 0x%02x", value, (unsigned)wanted[n_wanted]);
	for (unsigned op = 0; op < 256; op++)
		n += has(&s, op);
	assert_int_equal(n, n_wanted);
	assert_int_equal(s.ack_kinds[0], rc_kinds);
	assert_int_equal(s.ack_kinds[1], xrc_kinds);
}

#define OPCODES_(value, rc, xrc, ...) check_opcodes(value, (const int[]){__VA_ARGS__, -1}, rc, xrc)
#define NO_OPCODES_(value, rc, xrc)   check_opcodes(value, (const int[]){-1}, rc, xrc)

static void test_opcode_classes(void **state)
{
	(void)state;
	NO_OPCODES_("ack", 1, 1);
	NO_OPCODES_("rc.ack", 1, 0);
	NO_OPCODES_("xrc.ack", 0, 1);
	NO_OPCODES_("nak", 8, 8);
	NO_OPCODES_("rc.rnr", 2, 0);
	NO_OPCODES_("rc.ack,xrc.nak", 1, 8);
	OPCODES_("rc.send", 0, 0, 0, 1, 2, 3, 4, 5, 0x16, 0x17);
	OPCODES_("uc.write", 0, 0, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b);
	OPCODES_("ud.send", 0, 0, 0x64, 0x65);
	OPCODES_("read", 0, 0, 0x0c, 0xac);
	OPCODES_("rc.read_response", 0, 0, 0x0d, 0x0e, 0x0f, 0x10);
	OPCODES_("rc.atomic", 0, 0, 0x13, 0x14, 0x1d, 0xc0, 0xc1);
	OPCODES_("xrc.atomic_ack", 0, 0, 0xb2);
	OPCODES_("flush", 0, 0, 0x1c, 0xbc);
	OPCODES_("cnp", 0, 0, 0x81);
	OPCODES_("rc.response", 0, 0, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12);
	OPCODES_("ud.request", 0, 0, 0x64, 0x65);
	OPCODES_("ud", 0, 0, 0x64, 0x65);
	OPCODES_("ud.*", 0, 0, 0x64, 0x65);
	assert_true(select_of("drop opcode=cm").to_gsi);
	assert_true(select_of("drop opcode=ud.cm").to_gsi);
	assert_false(select_of("drop opcode=ud").to_gsi);
}

static void test_opcode_names(void **state)
{
	(void)state;
	OPCODES_("RC_SEND_ONLY", 0, 0, 4);
	OPCODES_("rc_acknowledge,ud_send_only", 0, 0, 0x11, 0x64);
	OPCODES_("rc_write_only*", 0, 0, 0x0a, 0x0b);
	OPCODES_("*_read_request", 0, 0, 0x0c, 0xac);
	for (unsigned op = 0; op < 256; op++) {
		const char *name = roce_opcode_info((roce_opcode){(uint8_t)op})->name;

		if (name)
			OPCODES_(name, 0, 0, (int)op);
	}
}

/* What an action cannot do anything to is not selected, so that it does not count as a hit. */
static void test_actions_narrow_the_selection(void **state)
{
	struct fault_select s = select_of("rnr");

	(void)state;
	assert_true(s.by_opcode && has(&s, ROCE_RC_SEND_ONLY) && has(&s, ROCE_XRC_READ_REQUEST));
	assert_false(has(&s, ROCE_RC_ACKNOWLEDGE) || has(&s, ROCE_UC_SEND_ONLY));
	s = select_of("set=reth.rkey:1 opcode=rc.write");
	assert_true(has(&s, ROCE_RC_WRITE_FIRST) && !has(&s, ROCE_RC_WRITE_MIDDLE));
	s = select_of("set=aeth.msn:+1");
	assert_true(has(&s, ROCE_RC_ACKNOWLEDGE) && has(&s, ROCE_RC_ATOMIC_ACKNOWLEDGE));
	assert_false(has(&s, ROCE_RC_READ_RESPONSE_MIDDLE));
	s = select_of("set=credits:0");
	assert_true(s.ack_kinds[0] == 1 && !has(&s, ROCE_RC_ACKNOWLEDGE));
	s = select_of("corrupt=payload opcode=rc");
	assert_true(has(&s, ROCE_RC_SEND_ONLY) && !has(&s, ROCE_RC_READ_REQUEST));
	s = select_of("drop retry");
	assert_false(has(&s, ROCE_RC_ACKNOWLEDGE));
	assert_false(select_of("drop").by_opcode);
	assert_true(select_of("truncate=4 opcode=cm").to_gsi);
}

/* ---- limits ---- */

static struct fault_limit limit_of(const char *text)
{
	return rule_parsed(text).limit;
}

static void test_limits(void **state)
{
	struct fault_limit l = limit_of("drop");

	(void)state;
	assert_true(l.probability == UINT32_MAX && l.nth.n == 0 && l.max_hits == 0);
	l = limit_of("drop nth=1,4..6");
	check_list(&l.nth, 0, 1, 1);
	check_list(&l.nth, 1, 4, 6);
	l = limit_of("drop nth>=5");
	check_list(&l.nth, 0, 5, UINT64_MAX);
	l = limit_of("drop every=3 first=9 skip=2 times=2 p=0.5 stream=8");
	assert_true(l.every == 3 && l.first == 9 && l.skip == 2 && l.max_hits == 2);
	assert_true(l.probability == UINT32_MAX / 2 && l.stream == 8);
	assert_true(limit_of("drop p=25%").probability == UINT32_MAX / 4);
	assert_true(limit_of("drop p=1").probability == UINT32_MAX);
	assert_true(limit_of("drop p=0.000000001").probability > 0);
	l = limit_of("drop after=10us until=2s");
	assert_true(l.after == 10000 && l.until == 2000000000);
	l = limit_of("drop after=a-rule");
	assert_string_equal(l.after_rule, "a-rule");
	assert_true(l.after_hits == 1 && l.after == 0);
	l = limit_of("drop after=a.rule:3+5ms until=1ms");
	assert_string_equal(l.after_rule, "a.rule");
	assert_true(l.after_hits == 3 && l.after == 5000000);
	assert_string_equal(limit_of("drop while_file=/tmp/x").while_file, "/tmp/x");
	assert_string_equal(limit_of("drop while_file=\"/tmp/a b\"").while_file, "/tmp/a b");
	l = limit_of("port.down=1ms every=10ms times=3");
	assert_true(l.period == 10000000 && l.every == 0 && l.max_hits == 3);
}

static void test_when_a_device_action_fires(void **state)
{
	(void)state;
	assert_int_equal(rule_parsed("port.down").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("port.down").limit.max_hits, 1);
	assert_int_equal(rule_parsed("port.down dev=uhca1 after=1s").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("port.down after=other").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("port.down every=1s").limit.max_hits, 0);
	assert_int_equal(rule_parsed("port.down every=1s opcode=send").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("drop every=5ms").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("pause=5ms skip=3").limit.max_hits, 1);
	assert_int_equal(rule_parsed("pause=5ms p=1%").limit.max_hits, 0);
	assert_int_equal(rule_parsed("pause=5ms every=6ms").limit.max_hits, 0);
	assert_int_equal(rule_parsed("port.down nth=5").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("port.down p=1%").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("port.down opcode=write").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("port.down call=post_send").layer, FAULT_LAYER_CALL);
	assert_int_equal(rule_parsed("port.down wc=ERROR").layer, FAULT_LAYER_COMPLETION);
	assert_int_equal(rule_parsed("port.down cq=1 first=1").layer, FAULT_LAYER_CALL);
	assert_int_equal(rule_parsed("port.down address=1 at=memory").layer, FAULT_LAYER_MEMORY);
	assert_int_equal(rule_parsed("port.down at=packet").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("port.down at=completion nth=5").layer,
			 FAULT_LAYER_COMPLETION);
	assert_int_equal(rule_parsed("event=QP_FATAL qp=5").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("event=QP_FATAL opcode=send nth=1").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("event=CQ_ERR wc=SUCCESS").layer, FAULT_LAYER_COMPLETION);
	assert_int_equal(rule_parsed("event=CQ_ERR opcode=send").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("event=CQ_ERR qp=5").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("event=SRQ_LIMIT_REACHED srq=1").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("key.revoke key=5 after=1ms").layer, FAULT_LAYER_TIME);
	assert_int_equal(rule_parsed("key.revoke key=5 nth=1").layer, FAULT_LAYER_PACKET);
	assert_int_equal(rule_parsed("key.revoke opcode=read nth=1").select.direction, FAULT_RX);
	assert_int_equal(rule_parsed("qp.error opcode=read nth=1").select.direction, FAULT_TX);
}

/* ---- mistakes ---- */

static void test_form(void **state)
{
	char text[2 * FAULT_TEXT_MAX];

	(void)state;
	rule_refused("", 1, "an action is missing");
	rule_refused("   \n drop", 1, "an action is missing");
	rule_refused("a: ", 3, "an action is missing");
	rule_refused("1st: drop", 1, "must begin with a letter");
	rule_refused(": drop", 1, "must begin with a letter");
	rule_refused("a/b: drop", 2, "a name cannot contain '/'");
	rule_refused("l\xe7\x97\xbd: drop", 2, "a name cannot contain byte 0xe7");
	rule_refused("a\x7f: drop", 2, "a name cannot contain byte 0x7f");
	rule_refused("a2345678901234567890123456789012: drop", 1, "at most 31");
	rule_refused("drop\topcode=send\x01", 17, "control character");
	rule_refused("drop program=\"a b", 14, "closing quote is missing");
	rule_refused("drop program=\"a b\"c", 19, "a space is missing");
	rule_refused("drop pro\"gram=\"a", 9, "enclose a whole value");
	rule_refused("drop =3", 6, "a word is missing");
	rule_refused("drop qp=", 6, "a value is missing");
	rule_refused("drop program=\"\"", 6, "a value is missing");
	rule_refused("drop qp==3", 6, "compares nothing");
	rule_refused("drop qp!3", 6, "compares nothing");
	memset(text, ' ', sizeof(text));
	memcpy(text, "drop", 4);
	text[600] = '\0';
	rule_refused(text, FAULT_TEXT_MAX, "at most 511");
}

static void test_typos(void **state)
{
	(void)state;
	rule_refused("dorp opcode=send", 1, "unknown action 'dorp': did you mean 'drop'?");
	rule_refused("lost: drp", 7, "did you mean 'drop'?");
	rule_refused("cqe.withold", 1, "did you mean 'cqe.withhold'?");
	/* other names for it, and what is nearer to it than what is spelt alike */
	rule_refused("loss=1%", 1, "unknown action 'loss': did you mean 'drop p=0.01'?");
	rule_refused("x: latency=5ms", 4, "did you mean 'delay'?");
	rule_refused("drop=0.01", 6, "'drop' takes no value: did you mean 'drop p=0.01'?");
	rule_refused("drop=ack", 6, "'drop' takes no value");
	rule_refused("drop prob=0.1", 6, "did you mean 'p'?");
	rule_refused("drop count=3", 6, "did you mean 'times'?");
	rule_refused("xyzzy", 1, "unknown action 'xyzzy'");
	rule_refused("opcode=send drop", 1, "a rule begins with an action");
	rule_refused("drop opcod=send", 6, "unknown word 'opcod': did you mean 'opcode'?");
	rule_refused("drop  nht=3", 7, "did you mean 'nth'?");
	rule_refused("drop dup", 6, "a rule has one action");
	rule_refused("drop opcode=rc.sned", 13,
		     "unknown opcode 'rc.sned': did you mean 'rc.send'?");
	rule_refused("drop opcode=send,wirte", 18, "did you mean 'write'?");
	rule_refused("drop opcode=rc_send_onyl", 13, "did you mean 'RC_SEND_ONLY'?");
	rule_refused("drop opcode=send,", 18, "unknown opcode ''");
	rule_refused("drop cm=REQQ", 9, "did you mean 'REQ'?");
	rule_refused("cqe.withhold wc=SUCESS", 17, "did you mean 'SUCCESS'?");
	rule_refused("cqe.withhold wc.opcode=SND", 24, "did you mean 'SEND'?");
	rule_refused("cqe.set=status:REM_ACCESS_ER", 16, "did you mean 'REM_ACCESS_ERR'?");
	rule_refused("event=PORT_EROR", 7, "did you mean 'PORT_ERR'?");
	rule_refused("call.fail=ENOMEN call=*", 11, "did you mean 'ENOMEM'?");
	rule_refused("call.fail=EIO call=creat_qp", 20, "did you mean 'create_qp'?");
	rule_refused("call.fail=EIO call=reg_mr,pst_send", 27, "did you mean 'post_send'?");
	rule_refused("set=bth.spn:5", 5, "did you mean 'bth.psn'?");
	rule_refused("nak=acess", 5, "did you mean 'access'?");
	rule_refused("cm.reject=stail", 11, "did you mean 'stale'?");
	rule_refused("corrupt=irc", 9, "did you mean 'icrc'?");
	rule_refused("drop at=pakcet", 9, "did you mean 'packet'?");
	rule_refused("drop dir=up", 10, "tx, rx or both");
}

static void test_values_that_are_wrong(void **state)
{
	(void)state;
	rule_refused("drop=3", 6, "'drop' takes no value");
	rule_refused("delay", 1, "'delay' needs a value: a time");
	rule_refused("delay>5ms", 1, "'='");
	rule_refused("delay=5", 7, "not a time such as 10us");
	rule_refused("delay=5parsec", 7, "not a time");
	rule_refused("delay=0", 7, "0 has no effect");
	rule_refused("delay=99999999999s", 7, "not a time");
	rule_refused("dup=0", 5, "0 has no effect");
	rule_refused("dup=5000", 5, "exceeds 1024");
	rule_refused("dup=x", 5, "not a number");
	rule_refused("rate=0kbit", 6, "not a rate");
	rule_refused("rate=100", 6, "the unit is missing: 100bit, 100kbit, 100mbit or 100gbit");
	rule_refused("rate=5mbyte", 6, "not a rate");
	rule_refused("burst=0.5", 7, "P/Q");
	rule_refused("burst=0/1", 7, "P = 0");
	rule_refused("burst=2/1", 7, "P/Q");
	rule_refused("truncate=5000", 10, "payload");
	rule_refused("corrupt=icrc:3", 14, "takes no number");
	rule_refused("corrupt=bit:x", 13, "not a number");
	rule_refused("set=bth.psn", 12, "a value is missing: bth.psn:VALUE");
	rule_refused("set=payload:3", 14, "a value is missing: payload:N:VALUE");
	rule_refused("set=payload:x:3", 13, "not a number");
	rule_refused("set=bth.psn:0x1000000", 13, "exceeds 16777215");
	rule_refused("set=bth.psn:+0", 14, "changes nothing");
	rule_refused("rnr=32", 5, "exceeds 31");
	rule_refused("nak=32", 5, "more than 31");
	rule_refused("forge=fish", 7, "not ack, nak:CODE");
	rule_refused("forge=nak", 7, "needs a code");
	rule_refused("forge=ack:1", 11, "ack takes no code");
	rule_refused("forge=nak:fish", 11, "unknown NAK 'fish'");
	rule_refused("cm.reject=70000", 11, "more than 65535");
	rule_refused("call.fail=0 call=*", 11, "0 is not an errno value");
	rule_refused("call.fail=5000 call=*", 11, "more than 4095");
	rule_refused("cqe.set=status", 9, "FIELD:VALUE");
	rule_refused("cqe.set=color:3", 9, "not status, vendor, length or imm");
	rule_refused("cqe.set=vendor:0x100000000", 16, "exceeds");
	rule_refused("dev.freeze=2000min", 12, "longer than one hour");
	rule_refused("event=WQ_FATAL", 7, "use uhcactl event");
}

static void test_words_that_are_wrong(void **state)
{
	(void)state;
	rule_refused("drop qp", 6, "'qp' needs a value");
	rule_refused("drop retry=3", 12, "'retry' takes no value");
	rule_refused("drop opcode>=send", 6, "cannot be compared");
	rule_refused("drop qp=1 qp=2", 11, "'qp' is given twice");
	rule_refused("drop dev=a device=b", 12, "'dev' is given twice");
	rule_refused("drop every=2 every=3", 14, "is given twice");
	rule_refused("drop jitter=5ms", 6, "action 'drop' takes no parameter 'jitter'");
	rule_refused("drop limit=5", 6, "action 'drop' takes no parameter 'limit'");
	rule_refused("rate=1gbit limit=0", 18, "0 gives the queue no room");
	rule_refused("rate=1gbit limit=0k", 18, "0 gives the queue no room");
	rule_refused("rate=1gbit limit=5ms", 18,
		     "'5ms' is neither packets, such as 100, nor bytes, such as 64k or 1500b");
	rule_refused("delay=1ms time=5ms", 11, "action 'delay' takes no parameter 'time'");
	rule_refused("drop qp=x", 9, "'x' is not a number");
	rule_refused("drop qp=1,,2", 11, "'' is not a number");
	rule_refused("drop qp=0x1000000", 9, "not within 0..16777215");
	rule_refused("drop qp=5..3", 9, "end is below its start");
	rule_refused("drop qp=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", 48, "at most 16");
	rule_refused("drop qp=#0", 10, "not within 1..");
	rule_refused("drop qp=#1,2", 12, "all parts must begin with '#'");
	rule_refused("drop psn=1,+2", 12, "all parts must begin with '+'");
	rule_refused("drop length<0", 13, "nothing is < 0");
	rule_refused("drop psn>0xffffff", 10, "nothing is > 0xffffff");
	rule_refused("drop nth=0", 10, "not within 1..");
	rule_refused("drop first=0", 12, "begins at 1");
	rule_refused("drop every=0", 12, "begins at 1");
	rule_refused("drop times=x", 12, "not a number");
	rule_refused("drop every=x", 12, "neither a number nor a time");
	rule_refused("port.down every=10ns", 17, "less than 1us");
	rule_refused("drop p=0", 8, "never fires");
	rule_refused("drop p=1.5", 8, "not a probability");
	rule_refused("drop p=101%", 8, "not a probability");
	rule_refused("drop after=5", 12, "neither a time");
	rule_refused("drop after=x:0", 14, "not a number of hits");
	rule_refused("drop after=x+5", 14, "not a time");
	rule_refused("drop until=0", 12, "0 has no effect");
	rule_refused("drop until=soon", 12, "not a time");
	rule_refused("drop stream=0", 13, "not a stream number");
	rule_refused("drop while_file=here", 17, "must begin with '/'");
}

static void test_contradictions(void **state)
{
	(void)state;
	rule_refused("drop nth=3 every=2", 12, "'nth' and 'every' exclude each other");
	rule_refused("drop first=3 nth=3", 6, "'nth' and 'first' exclude each other");
	rule_refused("drop nth=3 skip=2", 12, "'nth' and 'skip' exclude each other");
	rule_refused("drop every=10 first=5", 15, "never fires");
	rule_refused("drop after=5ms until=5ms", 16, "not later than 'after'");
	rule_refused("drop status=SUCCESS", 6,
		     "'status' applies to completions, but this rule applies to packets");
	rule_refused("pause=5ms every=5ms", 17, "longer than the interval of 'every'");
	rule_refused("mem.fail opcode=send", 10, "'opcode' applies to packets");
	rule_refused("call.fail=EIO call=* psn=5", 22,
		     "'psn' applies to packets, but this rule applies to calls");
	rule_refused("cqe.withhold call=*", 14, "'call' applies to calls");
	rule_refused("port.down opcode=send wc=ERROR", 23, "this rule applies to packets");
	rule_refused("port.down opcode=send at=time", 23, "'at' applies to time only");
	rule_refused("drop at=call", 6, "this rule applies to packets");
	rule_refused("port.down at=time nth=3", 19, "this rule applies to time only");
	rule_refused("port.down times=3", 11, "needs every=TIME");
	rule_refused("rnr opcode=ack", 5, "none of these opcodes is answered");
	rule_refused("ghost opcode=uc", 7, "none of these opcodes is answered");
	rule_refused("nak=access opcode=rc.read_response", 12, "none of these opcodes is answered");
	rule_refused("forge=ack opcode=ud.send", 11, "none of these opcodes is answered");
	rule_refused("drop retry opcode=nak", 12, "ever retransmitted");
	rule_refused("set=reth.va:1 opcode=ack", 15,
		     "none of these opcodes has the part that 'set=reth.va:1' changes");
	rule_refused("set=credits:0 opcode=nak,write", 15, "none of these opcodes has");
	rule_refused("truncate=1 opcode=read", 12, "none of these opcodes has");
	rule_refused("drop cm=REQ opcode=rc", 13, "none of these opcodes is a CM message");
	rule_refused("cm.reject=consumer cm=RTU", 20, "applies to REQ and REP only");
	rule_refused("call.fail=EIO", 1, "give call=NAME");
	rule_refused("call.fail=EIO call=reg_mr bad_wr=1", 27, "needs a post call");
	rule_refused("event=QP_FATAL", 1, "the qp is missing");
	rule_refused("event=CQ_ERR after=1ms", 1, "the cq is missing");
	rule_refused("event=SRQ_ERR at=memory", 1, "the srq is missing");
	rule_refused("qp.error after=1ms", 1, "the qp is missing");
	rule_refused("key.revoke", 1, "the key is missing");
	rule_refused("qp.error qp=5..6", 13, "'qp' needs a number");
	rule_refused("qp.error qp=#1 after=5ms", 13, "'qp' needs a number");
	rule_refused("drop opcode=ud.write", 13, "ud has no write packets");
	rule_refused("mem.fail key=1", 10,
		     "'key' applies to packets, but this rule applies to memory accesses");
	rule_refused("key.revoke wc=ERROR", 1, "the key is missing");
	rule_refused("key.revoke after=1ms qp=5", 1, "the key is missing");
}

static void test_names_of_actions_and_layers(void **state)
{
	(void)state;
	assert_string_equal(fault_action_name(FAULT_CQE_SET), "cqe.set");
	assert_string_equal(fault_layer_name(FAULT_LAYER_PACKET), "packet");
	assert_string_equal(fault_layer_name(FAULT_LAYER_TIME), "time");
	assert_true(fault_action_swallows(FAULT_DROP) && fault_action_swallows(FAULT_GHOST));
	assert_false(fault_action_swallows(FAULT_FORGE) || fault_action_swallows(FAULT_DELAY));
	assert_true(fault_action_is_of_device(FAULT_EVENT));
	assert_true(fault_action_is_of_device(FAULT_DEV_EXIT));
	assert_false(fault_action_is_of_device(FAULT_MEM_FAIL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),

		cmocka_unit_test(test_values_of_packet_actions),
		cmocka_unit_test(test_values_of_answers),
		cmocka_unit_test(test_values_of_the_rest),
		cmocka_unit_test(test_every_field),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_lists_of_every_selector),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_peers),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_cm),
		cmocka_unit_test(test_opcode_classes),
		cmocka_unit_test(test_opcode_names),
		cmocka_unit_test(test_actions_narrow_the_selection),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_when_a_device_action_fires),
		cmocka_unit_test(test_form),
		cmocka_unit_test(test_typos),
		cmocka_unit_test(test_values_that_are_wrong),
		cmocka_unit_test(test_words_that_are_wrong),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_names_of_actions_and_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
