/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a capture: what is said of packets, of trace points, of rules and keys.
 */
#include "emu/io/capture/trace_text.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/cqe.h"
#include "emu/abi/event.h"
#include "wire/packet.h"
#include "wire/syndrome.h"

#include <errno.h>
#include <string.h>

static const struct io_trace_fate nothing;

static struct core_burst burst(uint8_t first, uint8_t last, uint32_t count)
{
	struct core_burst t;

	memset(&t, 0, sizeof(t));
	t.head.bth.opcode = (roce_opcode){first};
	t.last_opcode = (roce_opcode){last};
	t.head.bth.psn = 100;
	t.count = count;
	t.segment = 1024;
	t.length = count * 1024 - 24;
	t.model = (struct core_burst_model){
		.wr_id = 0x2a, .qpn = 0x11, .total = 20000, .mtu = 1024, .has_wr = true};
	return t;
}

static void expect_packet(const struct core_burst *t, uint32_t i, const struct io_trace_fate *fate,
			  const char *text)
{
	struct io_words w;

	io_trace_packet(&w, t, i, fate);
	assert_string_equal(w.text, text);
}

static void test_requests(void **state)
{
	struct core_burst t = burst(ROCE_RC_WRITE_FIRST, ROCE_RC_WRITE_LAST, 20);

	(void)state;
	expect_packet(&t, 0, &nothing, "wr=0x2a qp=0x11 op=RDMA_WRITE part=1/20");
	expect_packet(&t, 7, &nothing, "wr=0x2a qp=0x11 op=RDMA_WRITE part=8/20");
	expect_packet(&t, 19, &nothing, "wr=0x2a qp=0x11 op=RDMA_WRITE part=20/20");
	t = burst(ROCE_RC_SEND_LAST, ROCE_RC_SEND_LAST, 1); /* alone: the offset tells */
	t.model.offset = 19 * 1024;
	t.model.tries = 2;
	expect_packet(&t, 0, &nothing, "wr=0x2a qp=0x11 op=SEND part=20/20 try=2");
	t = burst(ROCE_RC_READ_REQUEST, ROCE_RC_READ_REQUEST, 1);
	expect_packet(&t, 0, &nothing, "wr=0x2a qp=0x11 op=RDMA_READ part=1/1");
	t.model.offset = 4096; /* the rest of a READ is one request again */
	expect_packet(&t, 0, &nothing, "wr=0x2a qp=0x11 op=RDMA_READ part=1/1");
	t = burst(ROCE_UD_SEND_ONLY, ROCE_UD_SEND_ONLY, 1);
	t.model.total = 0;
	t.model.wr_id = UINT64_MAX;
	expect_packet(&t, 0, &nothing, "wr=0xffffffffffffffff qp=0x11 op=SEND part=1/1");
}

/* By the network nothing of the model comes. */
static void test_unknown(void **state)
{
	struct core_burst t = burst(ROCE_RC_FETCH_ADD, ROCE_RC_FETCH_ADD, 1);

	(void)state;
	t.model = (struct core_burst_model){0};
	expect_packet(&t, 0, &nothing, "op=FETCH_ADD");
	t = burst(ROCE_RC_ACKNOWLEDGE, ROCE_RC_ACKNOWLEDGE, 1);
	t.model = (struct core_burst_model){0};
	expect_packet(&t, 0, &nothing, "");
	t.model.qpn = 0x11;
	expect_packet(&t, 0, &nothing, "qp=0x11");
	t.head.bth.opcode = t.last_opcode = (roce_opcode){0x1f};
	expect_packet(&t, 0, &nothing, "qp=0x11");
}

static void test_fates(void **state)
{
	struct io_trace_fate fate = {.rule = 3, .rule_text = "x: drop opcode=rc.ack"};
	struct core_burst t = burst(ROCE_RC_ACKNOWLEDGE, ROCE_RC_ACKNOWLEDGE, 1);

	(void)state;
	t.model = (struct core_burst_model){.qpn = 0x11};
	fate.dropped = "rule";
	expect_packet(&t, 0, &fate, "qp=0x11 rule=3 fault=\"x: drop opcode=rc.ack\" dropped=rule");
	t.model.made = true;
	fate = (struct io_trace_fate){.rule = 3, .rule_text = "storm: rnr=14 opcode=send"};
	expect_packet(&t, 0, &fate, "qp=0x11 rule=3 fault=\"storm: rnr=14 opcode=send\" made=rnr");
	fate.rule_text = "ghost nth=1";
	expect_packet(&t, 0, &fate, "qp=0x11 rule=3 fault=\"ghost nth=1\" made=ghost");
	fate.rule_text = NULL; /* the rule is gone */
	expect_packet(&t, 0, &fate, "qp=0x11 rule=3 made=rule");
	fate = (struct io_trace_fate){.dropped = "no_qp"};
	t.model = (struct core_burst_model){0};
	expect_packet(&t, 0, &fate, "dropped=no_qp");
}

static void expect_trace(struct core_trace t, const char *text)
{
	struct io_words w;

	assert_true(io_trace_trace(&w, "uhca0", &t));
	assert_string_equal(w.text, text);
}

static void test_trace_points(void **state)
{
	struct io_words w;

	(void)state;
	expect_trace((struct core_trace){.point = CORE_TRACE_QP_STATE, .qpn = 17, .a = 3, .b = 6},
		     "state dev=uhca0 qp=0x11 from=RTS to=ERR");
	expect_trace((struct core_trace){.point = CORE_TRACE_QP_STATE, .qpn = 17, .a = 0, .b = 9},
		     "state dev=uhca0 qp=0x11 from=RESET to=9");
	expect_trace((struct core_trace){.point = CORE_TRACE_NAK, .qpn = 17, .a = 5, .b = 0x60},
		     "nak dev=uhca0 qp=0x11 psn=5 syndrome=0x60");
	expect_trace(
		(struct core_trace){
			.point = CORE_TRACE_RETRY, .qpn = 17, .a = 5, .b = 6, .c = CORE_RETRY_GAP},
		"retry dev=uhca0 qp=0x11 psn=5 why=gap left=6");
	expect_trace((struct core_trace){.point = CORE_TRACE_CQE,
					 .qpn = 17,
					 .a = UHCA_ABI_WC_RETRY_EXC_ERR,
					 .b = UHCA_ABI_WC_RDMA_READ,
					 .c = 3,
					 .cqn = 9,
					 .length = 8,
					 .wr_id = 0x2a},
		     "completion dev=uhca0 qp=0x11 cq=9 wr=0x2a status=RETRY_EXC_ERR "
		     "opcode=RDMA_READ length=8 vendor=0x3");
	for (int p = CORE_TRACE_TX; p <= CORE_TRACE_RX_DROP; p++)
		assert_false(io_trace_trace(
			&w, "uhca0", &(struct core_trace){.point = (enum core_trace_point)p}));
}

static void test_events(void **state)
{
	static const struct {
		uint32_t type, qpn;
		const char *text;
	} events[] = {
		{UHCA_ABI_EVENT_CQ_ERR, 0, "event dev=uhca0 type=CQ_ERR cq=7"},
		{UHCA_ABI_EVENT_QP_FATAL, 7, "event dev=uhca0 type=QP_FATAL qp=0x7"},
		{UHCA_ABI_EVENT_SRQ_LIMIT_REACHED, 0,
		 "event dev=uhca0 type=SRQ_LIMIT_REACHED srq=7"},
		{UHCA_ABI_EVENT_WQ_FATAL, 0, "event dev=uhca0 type=WQ_FATAL wq=7"},
		{UHCA_ABI_EVENT_PORT_ERR, 0, "event dev=uhca0 type=PORT_ERR"},
		{99, 0, "event dev=uhca0 type=99"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		expect_trace((struct core_trace){.point = CORE_TRACE_EVENT,
						 .qpn = events[i].qpn,
						 .a = events[i].type,
						 .b = 7},
			     events[i].text);
}

/* Every status and every completion opcode has its name. */
static void test_names(void **state)
{
	struct core_trace t = {.point = CORE_TRACE_CQE};
	struct io_words w;

	(void)state;
	for (uint32_t s = 0; s <= UHCA_ABI_WC_GENERAL_ERR; s++)
		assert_non_null(io_trace_status(s));
	assert_null(io_trace_status(UHCA_ABI_WC_GENERAL_ERR + 1));
	t.b = UHCA_ABI_WC_RECV_RDMA_WITH_IMM;
	assert_true(io_trace_trace(&w, "uhca0", &t));
	assert_non_null(strstr(w.text, "opcode=RECV_RDMA_WITH_IMM"));
	t.b = 1000;
	assert_true(io_trace_trace(&w, "uhca0", &t));
	assert_non_null(strstr(w.text, "opcode=1000"));
	assert_true(io_trace_is_error_state(6));
	assert_false(io_trace_is_error_state(3));
}

static void test_rules(void **state)
{
	static struct fault_entry e = {.number = 3, .matched = 5, .hits = 2};
	struct roce_packet pkt = {.bth = {.opcode = {ROCE_RC_ACKNOWLEDGE}, .psn = 77}};
	struct fault_subject s = {
		.layer = FAULT_LAYER_PACKET, .device = "uhca1", .qpn = 0x20, .pkt = &pkt};
	struct fault_hit hit = {.entry = &e, .subject = &s};
	struct io_words w;

	(void)state;
	io_trace_hit(&w, &hit);
	assert_string_equal(w.text, "hit dev=uhca1 rule=3 hits=2 match=5 layer=packet qp=0x20 "
				    "psn=77 what=RC_ACKNOWLEDGE");
	s = (struct fault_subject){
		.layer = FAULT_LAYER_CALL, .device = "uhca1", .call = "create_qp"};
	io_trace_hit(&w, &hit);
	assert_string_equal(w.text,
			    "hit dev=uhca1 rule=3 hits=2 match=5 layer=call what=create_qp");
	strcpy(e.rule.name, "x");
	strcpy(e.rule.text, "x: drop nth=3");
	io_trace_rule(&w, &e, "added");
	assert_string_equal(w.text, "rule number=3 name=x text=\"x: drop nth=3\" what=added");
}

static void test_regions(void **state)
{
	struct core_walk walk = {.iova = 0x1000, .length = 8192, .page_shift = 12, .n_pages = 2};
	struct io_words w;

	(void)state;
	io_trace_region(&w, "uhca0", 0, 0x1234, &walk);
	assert_string_equal(w.text,
			    "region dev=uhca0 key=0x1234 address=0x1000 length=8192 pages=4096");
	walk.window = true;
	walk.window_offset = 0x100;
	walk.window_length = 16;
	walk.n_pages = 0;
	io_trace_region(&w, "uhca0", 5, 0x1235, &walk);
	assert_string_equal(w.text, "region dev=uhca0 qp=0x5 key=0x1235 address=0x1100 length=16");
	io_trace_note(&w, NULL, "so it is");
	assert_string_equal(w.text, "note text=\"so it is\"");
}

/* What a program left behind, by kinds of which there were any. */
static void test_leak(void **state)
{
	const uint32_t count[CORE_OBJECT_TYPES] = {[CORE_OBJECT_PD] = 2, [CORE_OBJECT_QP] = 1};
	struct io_words w;

	(void)state;
	io_trace_leak(&w, "uhca1", "fio", count);
	assert_non_null(strstr(w.text, "leak dev=uhca1 program=fio "));
	assert_non_null(strstr(w.text, "pd=2"));
	assert_non_null(strstr(w.text, "qp=1"));
	assert_null(strstr(w.text, "=0"));
}

/* A call that a rule failed or slowed, and a device that ends. */
static void test_calls(void **state)
{
	struct io_words w;

	(void)state;
	io_trace_call(&w, "uhca0", "create_qp", ENOMEM, 7);
	assert_string_equal(w.text, "call dev=uhca0 verb=create_qp status=ENOMEM client=7");
	io_trace_call(&w, "uhca0", "reg_mr", 0, 7);
	assert_string_equal(w.text, "call dev=uhca0 verb=reg_mr status=slow client=7");
	io_trace_call(&w, "uhca0", "reg_mr", 4000, 7);
	assert_string_equal(w.text, "call dev=uhca0 verb=reg_mr status=unknown client=7");
	io_trace_fatal(&w, "uhca1", 3);
	assert_string_equal(w.text, "event dev=uhca1 type=DEVICE_FATAL clients=3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_fates),    cmocka_unit_test(test_trace_points),
		cmocka_unit_test(test_events),   cmocka_unit_test(test_names),
		cmocka_unit_test(test_rules),    cmocka_unit_test(test_regions),
		cmocka_unit_test(test_leak),     cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
