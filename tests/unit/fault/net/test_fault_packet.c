/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fields of packets and what becomes of a packet that was changed: what a receiver would read, or
 * malformed; and a broken ICRC breaks nothing else that it should not.
 */
#include "emu/fault/net/packet_change.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/cm_msg.h"
#include "wire/syndrome.h"

#include <string.h>

static uint8_t payload[256];

static void make(struct fault_packet *p, uint8_t opcode, uint32_t length)
{
	memset(p, 0, sizeof *p);
	for (unsigned i = 0; i < sizeof payload; i++)
		payload[i] = (uint8_t)i;
	p->pkt.bth = (struct roce_bth){.opcode.v = opcode,
				       .pkey = 0xffff,
				       .dest_qp = 5,
				       .psn = 100,
				       .pad = roce_pad(length)};
	p->pkt.payload = length ? payload : NULL;
	p->pkt.payload_len = length;
}

static enum fault_change change(struct fault_packet *p, const char *field, uint64_t value)
{
	struct fault_setting s;

	assert_true(fault_setting_parse(field, value, &s));
	return fault_packet_change(p, &s);
}

/* Each field of each opcode that has it: it is changed, and a second look finds it so. */
static void test_fields(void **state)
{
	(void)state;
	for (unsigned op = 0; op < 256; op++) {
		unsigned changed = 0;

		if (!roce_opcode_known((roce_opcode){(uint8_t)op}))
			continue;
		for (unsigned f = 1; f < FAULT_FIELD_PAYLOAD; f++) {
			struct fault_setting s = {.field = (enum fault_field)f, .value = 1};
			struct fault_packet p;
			enum fault_change c;

			make(&p, (uint8_t)op, 0);
			c = fault_packet_change(&p, &s);
			if (f == FAULT_FIELD_BTH_VERSION) {
				assert_int_equal(c, FAULT_MALFORMED);
				continue;
			}
			assert_int_not_equal(c, FAULT_MALFORMED);
			changed += c == FAULT_CHANGED;
			s.relative = true;
			assert_int_equal(fault_packet_change(&p, &s), c);
		}
		assert_in_range(changed, 8, 14);
	}
}

static void test_values(void **state)
{
	struct fault_packet p;

	(void)state;
	make(&p, ROCE_RC_WRITE_ONLY, 40);
	assert_int_equal(change(&p, "reth.va", UINT64_MAX), FAULT_CHANGED);
	assert_int_equal(p.pkt.reth.va, UINT64_MAX);
	assert_int_equal(change(&p, "bth.psn", 0x1ffffff), FAULT_CHANGED);
	assert_int_equal(p.pkt.bth.psn, 0xffffff);
	assert_int_equal(change(&p, "payload:39", 0x77), FAULT_CHANGED);
	assert_int_equal(p.pkt.payload[39], 0x77);
	assert_int_equal(p.pkt.payload[38], 38);
	assert_int_equal(payload[39], 39); /* not ours */
	assert_int_equal(change(&p, "payload:40", 0), FAULT_UNCHANGED);
	assert_int_equal(change(&p, "aeth.msn", 0), FAULT_UNCHANGED);
	assert_int_equal(change(&p, "cm.private:0", 0), FAULT_UNCHANGED);
	assert_false(p.model.bad_icrc);
}

static void test_relative(void **state)
{
	struct fault_setting s = {
		.field = FAULT_FIELD_BTH_PSN, .value = 0 - UINT64_C(101), .relative = true};
	struct fault_packet p;

	(void)state;
	make(&p, ROCE_RC_SEND_ONLY, 4);
	assert_int_equal(fault_packet_change(&p, &s), FAULT_CHANGED);
	assert_int_equal(p.pkt.bth.psn, 0xffffff);
	s = (struct fault_setting){FAULT_FIELD_PAYLOAD, 3, 255, true};
	assert_int_equal(fault_packet_change(&p, &s), FAULT_CHANGED);
	assert_int_equal(p.pkt.payload[3], 2);
}

/* Credits are those of an ACK; of a NAK they would make another thing. */
static void test_credits(void **state)
{
	struct fault_packet p;

	(void)state;
	make(&p, ROCE_RC_ACKNOWLEDGE, 0);
	p.pkt.aeth.syndrome = roce_syndrome(ROCE_ACK, 9);
	assert_int_equal(change(&p, "credits", 0), FAULT_CHANGED);
	assert_int_equal(p.pkt.aeth.syndrome, roce_syndrome(ROCE_ACK, 0));
	p.pkt.aeth.syndrome = roce_syndrome(ROCE_NAK, 1);
	assert_int_equal(change(&p, "credits", 0), FAULT_UNCHANGED);
	assert_int_equal(p.pkt.aeth.syndrome, roce_syndrome(ROCE_NAK, 1));
}

/* Another opcode has other headers: they are zero, or the packet is none. */
static void test_opcodes(void **state)
{
	(void)state;
	for (unsigned to = 0; to < 256; to++) {
		const struct roce_opcode_info *info = roce_opcode_info((roce_opcode){(uint8_t)to});
		struct fault_packet p;
		bool fits = info->name && info->headers & ROCE_HDR_PAYLOAD;

		make(&p, ROCE_RC_SEND_ONLY, 40);
		assert_int_equal(change(&p, "bth.opcode", to),
				 fits ? FAULT_CHANGED : FAULT_MALFORMED);
		assert_int_equal(p.pkt.bth.opcode.v, fits ? to : ROCE_RC_SEND_ONLY);
		assert_int_equal(p.pkt.payload_len, 40);
		assert_memory_equal(p.pkt.payload, payload, 40);
	}
}

static void test_truncate(void **state)
{
	struct fault_packet p;

	(void)state;
	make(&p, ROCE_RC_SEND_ONLY, 40);
	assert_int_equal(fault_packet_truncate(&p, 40), FAULT_UNCHANGED);
	assert_int_equal(fault_packet_truncate(&p, 37), FAULT_CHANGED);
	assert_int_equal(p.pkt.payload_len, 37);
	assert_int_equal(p.pkt.bth.pad, 3);
	assert_int_equal(fault_packet_truncate(&p, 0), FAULT_CHANGED);
	assert_int_equal(p.pkt.payload_len, 0);
	assert_int_equal(p.pkt.bth.pad, 0);
}

/* Every bit of a packet: exactly that bit is another one, where the packet can still be read. */
static void test_bits(void **state)
{
	uint8_t before[ROCE_MAX_PACKET_LENGTH], after[ROCE_MAX_PACKET_LENGTH];
	struct fault_packet p;
	unsigned readable = 0;

	(void)state;
	make(&p, ROCE_RC_WRITE_ONLY, 20);
	assert_int_equal(fault_packet_bits(&p), (12 + 16 + 20) * 8);
	for (unsigned bit = 0; bit < (12 + 16 + 20) * 8; bit++) {
		size_t n, m;

		make(&p, ROCE_RC_WRITE_ONLY, 20);
		n = roce_packet_emit(&p.pkt, before, sizeof before);
		fault_packet_flip_bit(&p, bit);
		assert_true(p.model.bad_icrc);
		m = roce_packet_emit(&p.pkt, after, sizeof after);
		assert_int_equal(n, m);
		if (memcmp(before, after, n) == 0)
			continue; /* nobody could read it */
		before[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
		assert_memory_equal(before, after, n);
		readable++;
	}
	assert_in_range(readable, 370, 384);
	make(&p, ROCE_RC_READ_REQUEST, 0);
	fault_packet_flip_payload(&p, 5);
	assert_true(p.model.bad_icrc);
	make(&p, ROCE_RC_SEND_ONLY, 20);
	fault_packet_flip_payload(&p, 25);
	assert_int_equal(p.pkt.payload[5], 5 ^ 0x80);
}

static void test_private_data(void **state)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_REP}, again;
	struct fault_packet p;

	(void)state;
	make(&p, ROCE_UD_SEND_ONLY, 256);
	msg.rep.private_data[195] = 7;
	assert_true(roce_cm_emit(&msg, payload));
	p.pkt.bth.dest_qp = ROCE_GSI_QPN;
	assert_int_equal(change(&p, "cm.private:195", 0x5a), FAULT_CHANGED);
	assert_true(roce_cm_parse(p.pkt.payload, &again));
	msg.rep.private_data[195] = 0x5a;
	assert_memory_equal(&msg, &again, sizeof msg);
	assert_int_equal(change(&p, "cm.private:196", 1), FAULT_UNCHANGED);
}

static void test_text(void **state)
{
	struct fault_setting s;

	(void)state;
	assert_true(fault_setting_parse("payload:12", 3, &s));
	assert_int_equal(s.field, FAULT_FIELD_PAYLOAD);
	assert_int_equal(s.index, 12);
	assert_int_equal(s.value, 3);
	assert_false(fault_setting_parse("payload:", 3, &s));
	assert_false(fault_setting_parse("payload:1x", 3, &s));
	assert_false(fault_setting_parse("payload:99999999999999999999999", 3, &s));
	assert_false(fault_setting_parse("", 3, &s));
	assert_false(fault_setting_parse("bth", 3, &s));
	assert_false(fault_setting_parse(
		"a-name-that-is-longer-than-any-field-could-ever-be-in-this-table-of-fields", 3,
		&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),   cmocka_unit_test(test_values),
		cmocka_unit_test(test_relative), cmocka_unit_test(test_credits),
		cmocka_unit_test(test_opcodes),  cmocka_unit_test(test_truncate),
		cmocka_unit_test(test_bits),     cmocka_unit_test(test_private_data),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests_name("fault_packet", tests, NULL, NULL);
}
