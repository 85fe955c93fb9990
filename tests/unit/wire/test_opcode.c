/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The opcode table against a second one, written from IBTA table 38 and the annexes column by
 * column, not by service as opcode.def is; and the reverse search against the table.
 */
#include "tests/support/wire/cmocka_all.h"

#include "wire/opcode.h"

#include <stdio.h>
#include <string.h>

/* What stands behind the BTH, in order: one letter a header, '+' for a payload. */
struct expectation {
	uint8_t value;
	const char *name;
	const char *chain;
};

/* R RETH, A AETH, D DETH, C AtomicETH, K AtomicAckETH, I ImmDt, V IETH, X XRCETH, F FETH. */
static const struct expectation rc[] = {
	{0x00, "RC_SEND_FIRST", "+"},
	{0x01, "RC_SEND_MIDDLE", "+"},
	{0x02, "RC_SEND_LAST", "+"},
	{0x03, "RC_SEND_LAST_IMM", "I+"},
	{0x04, "RC_SEND_ONLY", "+"},
	{0x05, "RC_SEND_ONLY_IMM", "I+"},
	{0x06, "RC_WRITE_FIRST", "R+"},
	{0x07, "RC_WRITE_MIDDLE", "+"},
	{0x08, "RC_WRITE_LAST", "+"},
	{0x09, "RC_WRITE_LAST_IMM", "I+"},
	{0x0a, "RC_WRITE_ONLY", "R+"},
	{0x0b, "RC_WRITE_ONLY_IMM", "RI+"},
	{0x0c, "RC_READ_REQUEST", "R"},
	{0x0d, "RC_READ_RESPONSE_FIRST", "A+"},
	{0x0e, "RC_READ_RESPONSE_MIDDLE", "+"},
	{0x0f, "RC_READ_RESPONSE_LAST", "A+"},
	{0x10, "RC_READ_RESPONSE_ONLY", "A+"},
	{0x11, "RC_ACKNOWLEDGE", "A"},
	{0x12, "RC_ATOMIC_ACKNOWLEDGE", "AK"},
	{0x13, "RC_COMPARE_SWAP", "C"},
	{0x14, "RC_FETCH_ADD", "C"},
	{0x16, "RC_SEND_LAST_INV", "V+"},
	{0x17, "RC_SEND_ONLY_INV", "V+"},
	{0x1c, "RC_FLUSH", "FR"},
	{0x1d, "RC_ATOMIC_WRITE", "R+"},
};

static const struct expectation uc_and_ud[] = {
	{0x20, "UC_SEND_FIRST", "+"},
	{0x21, "UC_SEND_MIDDLE", "+"},
	{0x22, "UC_SEND_LAST", "+"},
	{0x23, "UC_SEND_LAST_IMM", "I+"},
	{0x24, "UC_SEND_ONLY", "+"},
	{0x25, "UC_SEND_ONLY_IMM", "I+"},
	{0x26, "UC_WRITE_FIRST", "R+"},
	{0x27, "UC_WRITE_MIDDLE", "+"},
	{0x28, "UC_WRITE_LAST", "+"},
	{0x29, "UC_WRITE_LAST_IMM", "I+"},
	{0x2a, "UC_WRITE_ONLY", "R+"},
	{0x2b, "UC_WRITE_ONLY_IMM", "RI+"},
	{0x64, "UD_SEND_ONLY", "D+"},
	{0x65, "UD_SEND_ONLY_IMM", "DI+"},
	{0x81, "CNP", "+"},
};

static const struct expectation xrc[] = {
	{0xa0, "XRC_SEND_FIRST", "X+"},          {0xa1, "XRC_SEND_MIDDLE", "X+"},
	{0xa2, "XRC_SEND_LAST", "X+"},           {0xa3, "XRC_SEND_LAST_IMM", "XI+"},
	{0xa4, "XRC_SEND_ONLY", "X+"},           {0xa5, "XRC_SEND_ONLY_IMM", "XI+"},
	{0xa6, "XRC_WRITE_FIRST", "XR+"},        {0xa7, "XRC_WRITE_MIDDLE", "X+"},
	{0xa8, "XRC_WRITE_LAST", "X+"},          {0xa9, "XRC_WRITE_LAST_IMM", "XI+"},
	{0xaa, "XRC_WRITE_ONLY", "XR+"},         {0xab, "XRC_WRITE_ONLY_IMM", "XRI+"},
	{0xac, "XRC_READ_REQUEST", "XR"},        {0xad, "XRC_READ_RESPONSE_FIRST", "A+"},
	{0xae, "XRC_READ_RESPONSE_MIDDLE", "+"}, {0xaf, "XRC_READ_RESPONSE_LAST", "A+"},
	{0xb0, "XRC_READ_RESPONSE_ONLY", "A+"},  {0xb1, "XRC_ACKNOWLEDGE", "A"},
	{0xb2, "XRC_ATOMIC_ACKNOWLEDGE", "AK"},  {0xb3, "XRC_COMPARE_SWAP", "XC"},
	{0xb4, "XRC_FETCH_ADD", "XC"},           {0xb6, "XRC_SEND_LAST_INV", "XV+"},
	{0xb7, "XRC_SEND_ONLY_INV", "XV+"},      {0xbc, "XRC_FLUSH", "XFR"},
	{0xbd, "XRC_ATOMIC_WRITE", "XR+"},
};

/* Manufacturer specific (9.2.1): the service does not follow from the upper bits. */
static const struct expectation ours[] = {
	{0xc0, "RC_MASKED_COMPARE_SWAP", "R+"},
	{0xc1, "RC_MASKED_FETCH_ADD", "R+"},
};

static const struct {
	char letter;
	uint32_t bit;
	size_t length;
} letters[] = {
	{'X', ROCE_HDR_XRCETH, 4},       {'D', ROCE_HDR_DETH, 8},       {'F', ROCE_HDR_FETH, 4},
	{'R', ROCE_HDR_RETH, 16},        {'C', ROCE_HDR_ATOMICETH, 28}, {'A', ROCE_HDR_AETH, 4},
	{'K', ROCE_HDR_ATOMICACKETH, 8}, {'I', ROCE_HDR_IMMDT, 4},      {'V', ROCE_HDR_IETH, 4},
	{'+', ROCE_HDR_PAYLOAD, 0},
};

/* The chain's mask and length; also proves that its order is the order of enum roce_header. */
static void decode_chain(const char *chain, uint32_t *headers, size_t *length)
{
	size_t at = 0;

	*headers = 0;
	*length = 12;
	for (; *chain; chain++) {
		while (at < sizeof(letters) / sizeof(letters[0]) && letters[at].letter != *chain)
			at++;
		assert_true(at < sizeof(letters) / sizeof(letters[0]));
		*headers |= letters[at].bit;
		*length += letters[at].length;
	}
}

static size_t check_table(const struct expectation *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct roce_opcode_info *info = roce_opcode_info((roce_opcode){e[i].value});
		uint32_t headers;
		size_t length;

		decode_chain(e[i].chain, &headers, &length);
		assert_non_null(info->name);
		assert_string_equal(info->name, e[i].name);
		assert_int_equal(info->headers, headers);
		assert_int_equal(info->header_length, length);
		assert_int_equal(info->service, e[i].value >= 0xc0 ? ROCE_SVC_RC : e[i].value >> 5);
	}
	return n;
}

static void test_independent_table(void **state)
{
	(void)state;
	size_t known = 0;
	size_t expected = check_table(rc, sizeof(rc) / sizeof(rc[0]));

	expected += check_table(uc_and_ud, sizeof(uc_and_ud) / sizeof(uc_and_ud[0]));
	expected += check_table(xrc, sizeof(xrc) / sizeof(xrc[0]));
	expected += check_table(ours, sizeof(ours) / sizeof(ours[0]));
	for (unsigned v = 0; v < 256; v++)
		known += roce_opcode_known((roce_opcode){(uint8_t)v});
	assert_int_equal(known, expected);
}

static void test_unknown_opcodes(void **state)
{
	static const uint8_t none[] = {0x15, 0x18, 0x1b, 0x1e, 0x1f, 0x2c, 0x3f, 0x40, 0x60,
				       0x63, 0x66, 0x80, 0x82, 0xb5, 0xb8, 0xbe, 0xc2, 0xff};

	(void)state;
	for (size_t i = 0; i < sizeof(none); i++) {
		const roce_opcode op = {none[i]};

		assert_false(roce_opcode_known(op));
		assert_int_equal(roce_opcode_info(op)->headers, 0);
		assert_int_equal(roce_opcode_info(op)->header_length, 0);
	}
}

/* The position follows from the name, the operation from the low bits of the opcode. */
static void test_position_and_operation(void **state)
{
	static const enum roce_operation low5[32] = {
		[0x06] = ROCE_OP_WRITE,        [0x07] = ROCE_OP_WRITE,
		[0x08] = ROCE_OP_WRITE,        [0x09] = ROCE_OP_WRITE,
		[0x0a] = ROCE_OP_WRITE,        [0x0b] = ROCE_OP_WRITE,
		[0x0c] = ROCE_OP_READ_REQ,     [0x0d] = ROCE_OP_READ_RESP,
		[0x0e] = ROCE_OP_READ_RESP,    [0x0f] = ROCE_OP_READ_RESP,
		[0x10] = ROCE_OP_READ_RESP,    [0x11] = ROCE_OP_ACK,
		[0x12] = ROCE_OP_ATOMIC_ACK,   [0x13] = ROCE_OP_CMP_SWAP,
		[0x14] = ROCE_OP_FETCH_ADD,    [0x1c] = ROCE_OP_FLUSH,
		[0x1d] = ROCE_OP_ATOMIC_WRITE,
	};

	(void)state;
	for (unsigned v = 0; v < 256; v++) {
		const roce_opcode op = {(uint8_t)v};
		const struct roce_opcode_info *info = roce_opcode_info(op);

		if (!info->name)
			continue;
		const bool first = strstr(info->name, "_FIRST") != NULL;
		const bool middle = strstr(info->name, "_MIDDLE") != NULL;
		const bool last = strstr(info->name, "_LAST") != NULL;

		assert_int_equal(info->position, first    ? ROCE_POS_FIRST
						 : middle ? ROCE_POS_MIDDLE
						 : last   ? ROCE_POS_LAST
							  : ROCE_POS_ONLY);
		assert_int_equal(roce_opcode_is_first(op), !middle && !last);
		assert_int_equal(roce_opcode_is_last(op), !first && !middle);
		assert_int_equal(info->operation, v == ROCE_CNP ? ROCE_OP_CNP
						  : v == 0xc0   ? ROCE_OP_MASKED_CMP_SWAP
						  : v == 0xc1   ? ROCE_OP_MASKED_FETCH_ADD
								: low5[v & 0x1f]);
	}
}

/* Every meaning finds the opcode that has it, and each opcode is found by exactly one meaning. */
static void test_find_is_the_inverse(void **state)
{
	unsigned hits[256] = {0};

	(void)state;
	for (unsigned i = 0; i < 6 * ROCE_OP_COUNT * ROCE_POS_COUNT * 4; i++) {
		const enum roce_service service = i / (ROCE_OP_COUNT * ROCE_POS_COUNT * 4);
		const enum roce_operation operation = i / (ROCE_POS_COUNT * 4) % ROCE_OP_COUNT;
		const enum roce_position position = i / 4 % ROCE_POS_COUNT;
		const bool imm = i & 1;
		const bool inv = i & 2;
		roce_opcode op = {0xff};

		if (!roce_opcode_find(service, operation, position, imm, inv, &op)) {
			assert_int_equal(op.v, 0xff);
			continue;
		}
		const struct roce_opcode_info *info = roce_opcode_info(op);

		hits[op.v]++;
		assert_non_null(info->name);
		assert_int_equal(info->service, service);
		assert_int_equal(info->operation, operation);
		assert_int_equal(info->position, position);
		assert_int_equal(imm, (info->headers & ROCE_HDR_IMMDT) != 0);
		assert_int_equal(inv, (info->headers & ROCE_HDR_IETH) != 0);
	}
	for (unsigned v = 0; v < 256; v++)
		assert_int_equal(hits[v], roce_opcode_known((roce_opcode){(uint8_t)v}));
}

static void test_find_refuses(void **state)
{
	roce_opcode op = {0};

	(void)state;
	assert_false(roce_opcode_find(ROCE_SVC_UC, ROCE_OP_READ_REQ, ROCE_POS_ONLY, 0, 0, &op));
	assert_false(roce_opcode_find(ROCE_SVC_UD, ROCE_OP_SEND, ROCE_POS_FIRST, 0, 0, &op));
	assert_false(roce_opcode_find(ROCE_SVC_RC, ROCE_OP_SEND, ROCE_POS_ONLY, 1, 1, &op));
	assert_false(roce_opcode_find(ROCE_SVC_RC, ROCE_OP_SEND, ROCE_POS_FIRST, 1, 0, &op));
	assert_false(
		roce_opcode_find((enum roce_service)7, ROCE_OP_SEND, ROCE_POS_ONLY, 0, 0, &op));
	assert_false(roce_opcode_find(ROCE_SVC_RC, ROCE_OP_COUNT, ROCE_POS_ONLY, 0, 0, &op));
	assert_false(roce_opcode_find(ROCE_SVC_RC, ROCE_OP_SEND, ROCE_POS_COUNT, 0, 0, &op));
	assert_true(roce_opcode_find(ROCE_SVC_RC, ROCE_OP_SEND, ROCE_POS_FIRST, 0, 0, &op));
	assert_true(roce_opcode_equal(op, (roce_opcode){ROCE_RC_SEND_FIRST}));
	assert_false(roce_opcode_equal(op, (roce_opcode){ROCE_RC_SEND_MIDDLE}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_independent_table),
		cmocka_unit_test(test_unknown_opcodes),
		cmocka_unit_test(test_position_and_operation),
		cmocka_unit_test(test_find_is_the_inverse),
		cmocka_unit_test(test_find_refuses),
	};

	return cmocka_run_group_tests_name("opcode", tests, NULL, NULL);
}
