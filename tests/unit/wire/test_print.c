/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts of flows, packets and CM messages; truncation at every
 * length; no text beyond the promised maximum.
 */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/print_cm.h"
#include "tests/support/wire/wire_gen.h"

#include <stdio.h>
#include <string.h>

static struct prng rng;

static void test_flows(void **state)
{
	struct roce_flow f = {.src = {[10] = 0xff, 0xff, 10, 0, 0, 1},
			      .dst = {[10] = 0xff, 0xff, 10, 0, 0, 2},
			      .sport = 49152,
			      .dport = 4791};
	char text[ROCE_PRINT_LENGTH];

	(void)state;
	print_flow(&f, text, sizeof(text));
	assert_string_equal(text, "10.0.0.1:49152 > 10.0.0.2:4791");
	memset(f.src, 0, 16);
	f.src[0] = 0xfe;
	f.src[1] = 0x80;
	f.src[15] = 1;
	memset(f.dst, 0, 16);
	f.tclass = 2;
	f.flow_label = 0x123;
	print_flow(&f, text, sizeof(text));
	assert_string_equal(text, "[fe80::1]:49152 > [::]:4791 tclass=0x02 label=0x00123");
}

static void assert_packet(const struct roce_packet *pkt, const char *expected)
{
	char text[ROCE_PRINT_LENGTH];

	assert_int_equal(roce_print_packet(pkt, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void test_packets(void **state)
{
	struct roce_packet p = {
		.bth = {.dest_qp = 0x11, .psn = 4711, .pkey = 0xffff},
		.reth = {.va = 0x7f0012345678, .rkey = 0x1234, .length = 65536},
		.aeth = {.syndrome = 0x1f, .msn = 3},
		.deth = {.qkey = 0x80010000, .src_qp = 1},
		.atomiceth = {.va = 8, .rkey = 9, .swap_add = UINT64_MAX, .compare = 0},
		.feth = {.placement = 2, .selectivity = 1},
		.atomic_ack = 0xabc,
		.immdt = 0xdeadbeef,
		.ieth = 0x77,
		.xrcsrq = 0x99,
		.payload_len = 64,
	};

	(void)state;
	p.bth.opcode.v = ROCE_RC_SEND_ONLY;
	assert_packet(&p, "RC_SEND_ONLY qp=0x000011 psn=4711 len=64");
	p.bth.opcode.v = ROCE_RC_WRITE_ONLY_IMM;
	p.bth.solicited = p.bth.migreq = p.bth.fecn = p.bth.becn = p.bth.ackreq = true;
	p.bth.pkey = 0x7fff;
	assert_packet(&p, "RC_WRITE_ONLY_IMM qp=0x000011 psn=4711 se migreq fecn becn ackreq "
			  "pkey=0x7fff va=0x7f0012345678 rkey=0x00001234 dlen=65536 "
			  "imm=0xdeadbeef len=64");
	p.bth = (struct roce_bth){.pkey = 0xffff};
	p.bth.opcode.v = ROCE_XRC_FETCH_ADD;
	assert_packet(&p, "XRC_FETCH_ADD qp=0x000000 psn=0 xrcsrq=0x000099 va=0x8 "
			  "rkey=0x00000009 swap_add=0xffffffffffffffff compare=0x0");
	p.bth.opcode.v = ROCE_UD_SEND_ONLY;
	assert_packet(&p, "UD_SEND_ONLY qp=0x000000 psn=0 qkey=0x80010000 srcqp=0x000001 len=64");
	p.bth.opcode.v = ROCE_RC_FLUSH;
	assert_packet(&p, "RC_FLUSH qp=0x000000 psn=0 placement=2 selectivity=1 "
			  "va=0x7f0012345678 rkey=0x00001234 dlen=65536");
	p.bth.opcode.v = ROCE_RC_SEND_ONLY_INV;
	assert_packet(&p, "RC_SEND_ONLY_INV qp=0x000000 psn=0 inv=0x00000077 len=64");
	p.bth.opcode.v = ROCE_RC_MASKED_COMPARE_SWAP;
	assert_packet(&p, "RC_MASKED_COMPARE_SWAP qp=0x000000 psn=0 va=0x7f0012345678 "
			  "rkey=0x00001234 dlen=65536 len=64");
	p.bth.opcode.v = ROCE_RC_MASKED_FETCH_ADD;
	assert_packet(&p, "RC_MASKED_FETCH_ADD qp=0x000000 psn=0 va=0x7f0012345678 "
			  "rkey=0x00001234 dlen=65536 len=64");
	p.bth.opcode.v = 0xff;
	assert_packet(&p, "opcode=0xff qp=0x000000 psn=0");
}

static void test_acknowledges(void **state)
{
	struct roce_packet p = {.bth = {.pkey = 0xffff}, .aeth = {.msn = 3}};

	(void)state;
	p.bth.opcode.v = ROCE_RC_ACKNOWLEDGE;
	p.aeth.syndrome = 0x1f;
	assert_packet(&p, "RC_ACKNOWLEDGE qp=0x000000 psn=0 [ACK] msn=3");
	p.aeth.syndrome = 0x05;
	assert_packet(&p, "RC_ACKNOWLEDGE qp=0x000000 psn=0 [ACK credits=6] msn=3");
	p.aeth.syndrome = 0x2c;
	assert_packet(&p, "RC_ACKNOWLEDGE qp=0x000000 psn=0 [RNR NAK us=640] msn=3");
	p.aeth.syndrome = 0x62;
	assert_packet(&p,
		      "RC_ACKNOWLEDGE qp=0x000000 psn=0 [NAK remote access error code=2] msn=3");
	p.bth.opcode.v = ROCE_RC_ATOMIC_ACKNOWLEDGE;
	p.aeth.syndrome = 0;
	p.atomic_ack = 17;
	assert_packet(&p, "RC_ATOMIC_ACKNOWLEDGE qp=0x000000 psn=0 [ACK credits=0] msn=3 "
			  "original=0x11");
}

static void assert_cm(const struct roce_cm_msg *msg, const char *expected)
{
	char text[ROCE_PRINT_LENGTH];

	assert_int_equal(print_cm(msg, text, sizeof(text)), strlen(expected));
	assert_string_equal(text, expected);
}

static void test_cm(void **state)
{
	struct roce_cm_msg m = {.tid = 1, .attr = ROCE_CM_MRA};

	(void)state;
	m.mra.message_mraed = ROCE_CM_ANSWERED_REP;
	m.mra.service_timeout = 19;
	assert_cm(&m, "CM MRA tid=0x0000000000000001 local=0x00000000 remote=0x00000000 mraed=1 "
		      "timeout=19");
	m = (struct roce_cm_msg){.tid = 1, .attr = ROCE_CM_REJ};
	m.rej.reason = ROCE_CM_REJ_CONSUMER;
	assert_cm(&m, "CM REJ tid=0x0000000000000001 local=0x00000000 remote=0x00000000 "
		      "rejected=0 reason=28");
	m = (struct roce_cm_msg){.tid = 1, .attr = ROCE_CM_RTU};
	m.rtu.local_comm_id = 2;
	m.rtu.remote_comm_id = 3;
	assert_cm(&m, "CM RTU tid=0x0000000000000001 local=0x00000002 remote=0x00000003");
	m.attr = ROCE_CM_DREP;
	assert_cm(&m, "CM DREP tid=0x0000000000000001 local=0x00000002 remote=0x00000003");
	m = (struct roce_cm_msg){.tid = 1, .attr = ROCE_CM_DREQ};
	m.dreq.remote_qpn = 0x11;
	assert_cm(&m, "CM DREQ tid=0x0000000000000001 local=0x00000000 remote=0x00000000 "
		      "remote_qp=0x000011");
	m = (struct roce_cm_msg){.tid = 1, .attr = (enum roce_cm_attr)0x99};
	assert_cm(&m, "CM attribute 0x0099");
}

static void test_truncation(void **state)
{
	const char *whole = "RC_ACKNOWLEDGE qp=0x000000 psn=0 [ACK] msn=3";
	struct roce_packet p = {.bth = {.pkey = 0xffff}, .aeth = {.syndrome = 0x1f, .msn = 3}};

	(void)state;
	p.bth.opcode.v = ROCE_RC_ACKNOWLEDGE;
	assert_int_equal(roce_print_packet(&p, NULL, 0), strlen(whole));
	for (size_t cap = 1; cap < strlen(whole) + 5; cap++) {
		char text[64];
		char expected[64];

		memset(text, 0x5a, sizeof(text));
		assert_int_equal(roce_print_packet(&p, text, cap), strlen(whole));
		snprintf(expected, cap, "%s", whole);
		assert_string_equal(text, expected);
		assert_int_equal(text[cap], 0x5a);
	}
}

/* The longest line that any opcode and any CM message can give fits in ROCE_PRINT_LENGTH. */
static void test_longest(void **state)
{
	char text[ROCE_PRINT_LENGTH];
	struct roce_packet pkt;
	struct roce_cm_msg msg;
	struct roce_flow flow;

	(void)state;
	memset(&flow, 0xff, sizeof(flow));
	assert_in_range(print_flow(&flow, text, sizeof(text)), 1, sizeof(text) - 1);
	for (unsigned v = 0; v < 256; v++) {
		memset(&pkt, 0xff, sizeof(pkt));
		gen_bth(&rng, &pkt.bth);
		pkt.bth.solicited = pkt.bth.migreq = pkt.bth.fecn = pkt.bth.becn = true;
		pkt.bth.opcode.v = (uint8_t)v;
		assert_in_range(roce_print_packet(&pkt, text, sizeof(text)), 1, sizeof(text) - 1);
	}
	for (unsigned attr = 0x10; attr <= 0x19; attr++) {
		uint8_t mad[ROCE_MAD_LENGTH];

		memset(mad, 0xff, sizeof(mad));
		memcpy(mad, ((uint8_t[]){1, 7, 2, 3}), 4);
		mad[16] = 0;
		mad[17] = (uint8_t)attr;
		if (!roce_cm_parse(mad, &msg))
			msg.attr = (enum roce_cm_attr)attr;
		assert_in_range(print_cm(&msg, text, sizeof(text)), 1, sizeof(text) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flows),        cmocka_unit_test(test_packets),
		cmocka_unit_test(test_acknowledges), cmocka_unit_test(test_cm),
		cmocka_unit_test(test_truncation),   cmocka_unit_test(test_longest),
	};

	rng = prng_start("print");
	return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
