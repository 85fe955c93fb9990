/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures block by block: both formats and byte orders, times, and every way of being broken. */
#include "emu/abi/packet_metadata.h"
#include "emu/model/read/pcapng.h"
#include "tests/support/model/model_file.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/opcode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Interface, packet, record in one file. */
static uint8_t *make(bool swapped, size_t *size)
{
	struct model_file f;

	model_file_begin(&f, swapped);
	model_file_say(&f, &(struct model_said){.us = 5,
						.opcode = ROCE_RC_SEND_ONLY,
						.length = 10,
						.comment = "wr=0x2a qp=0x11",
						.seen = SEEN_OUT});
	model_file_record(&f, 7, "note dev=uhca0 text=hello");
	return model_file_take(&f, size);
}

static void check_whole(const uint8_t *bytes, size_t size)
{
	struct pcapng_block b;
	struct pcapng f;

	assert_int_equal(pcapng_open(&f, bytes, size), 0);
	assert_int_equal(pcapng_next(&f, &b), 1);
	assert_int_equal(b.kind, PCAPNG_PACKET);
	assert_int_equal(b.ns, MODEL_FILE_BEGAN + 5000);
	assert_int_equal(b.direction, PCAPNG_OUTBOUND);
	assert_int_equal(b.interface, 0);
	assert_int_equal(b.length, 15);
	assert_memory_equal(b.text, "wr=0x2a qp=0x11", 15);
	assert_int_equal(b.captured, b.original);
	assert_int_equal(pcapng_next(&f, &b), 1);
	assert_int_equal(b.kind, PCAPNG_RECORD);
	assert_int_equal(b.ns, MODEL_FILE_BEGAN + 7000);
	assert_int_equal(b.length, 25);
	assert_int_equal(pcapng_next(&f, &b), 0);
	assert_string_equal(f.interface[1].name, "uhca1");
	assert_int_equal(f.n_interfaces, 2);
	pcapng_close(&f);
}

static void test_byte_orders(void **state)
{
	(void)state;
	for (unsigned swapped = 0; swapped < 2; swapped++) {
		size_t size;
		uint8_t *bytes = make(swapped, &size);

		check_whole(bytes, size);
		free(bytes);
	}
}

/* Two files one behind the other are one; sections may differ in byte order. */
static void test_sections(void **state)
{
	size_t a_size, b_size;
	uint8_t *a = make(false, &a_size);
	uint8_t *b = make(true, &b_size);
	uint8_t *both = malloc(a_size + b_size);
	struct pcapng_block block;
	struct pcapng f;

	(void)state;
	memcpy(both, a, a_size);
	memcpy(both + a_size, b, b_size);
	assert_int_equal(pcapng_open(&f, both, a_size + b_size), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pcapng_next(&f, &block), 1);
	assert_int_equal(pcapng_next(&f, &block), 0);
	assert_int_equal(f.n_interfaces, 4);
	pcapng_close(&f);
	free(a);
	free(b);
	free(both);
}

/* Where the file is cut, what stands before is there, and the error has the place. */
static void test_cut_anywhere(void **state)
{
	size_t size;
	uint8_t *bytes = make(false, &size);

	(void)state;
	for (size_t n = 0; n < size; n++) {
		uint8_t *cut = malloc(n + 1);
		struct pcapng_block b;
		struct pcapng f;
		unsigned blocks = 0;
		int rc;

		memcpy(cut, bytes, n);
		rc = pcapng_open(&f, cut, n);
		assert_true(rc == 0 || (rc == -EINVAL && n < 4));
		while (rc == 0 && (rc = pcapng_next(&f, &b)) == 1) {
			blocks++;
			rc = 0;
		}
		assert_true(blocks < 2);
		if (rc == -EINVAL)
			assert_memory_equal(f.error, "byte ", 5);
		pcapng_close(&f);
		free(cut);
	}
	free(bytes);
}

/* Opens the bytes, reads all; the error must have the words. */
static void expect_broken(const uint8_t *bytes, size_t size, const char *words)
{
	uint8_t *copy = malloc(size + 1);
	struct pcapng_block b;
	struct pcapng f;
	int rc;

	memcpy(copy, bytes, size);
	rc = pcapng_open(&f, copy, size);
	while (rc == 0 && (rc = pcapng_next(&f, &b)) == 1)
		rc = 0;
	assert_int_equal(rc, -EINVAL);
	if (!strstr(f.error, words))
		fail_msg("'%s' is not in '%s'", words, f.error);
	pcapng_close(&f);
	free(copy);
}

static void test_broken_blocks(void **state)
{
	static const uint8_t packet_elsewhere[20] = {9};
	static const uint8_t long_packet[20] = {[12] = 200};
	static const uint8_t long_option[24] = {[20] = 1, [22] = 99};
	static const uint8_t half_option[28] = {[20] = 7};
	static const struct {
		uint32_t type;
		const void *body;
		size_t length;
		const char *words;
	} wrong[] = {
		{6, packet_elsewhere, 20, "interface 9"},
		{6, long_packet, 20, "a packet of 200 bytes"},
		{6, long_packet, 16, "a packet block of 16 bytes"},
		{6, long_option, 24, "an option of 99 bytes"},
		{1, half_option, 4, "an interface of 4 bytes"},
		{3, half_option, 0, "a packet block of 0 bytes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct model_file f;
		size_t size;
		uint8_t *bytes;

		model_file_begin(&f, false);
		model_file_block(&f, wrong[i].type, wrong[i].body, wrong[i].length);
		bytes = model_file_take(&f, &size);
		expect_broken(bytes, size, wrong[i].words);
		free(bytes);
	}
}

static void test_broken_lengths(void **state)
{
	size_t size;
	uint8_t *bytes = make(false, &size);

	(void)state;
	bytes[4] = 13;
	expect_broken(bytes, size, "byte 0: a block cannot have 13 bytes");
	memcpy(bytes + 4, &(uint32_t){0xfffffffc}, 4);
	expect_broken(bytes, size, "the file ends within a block");
	memcpy(bytes + 4, &(uint32_t){28}, 4);
	bytes[24] = 32;
	expect_broken(bytes, size, "two lengths differ: 28 and 32");
	bytes[24] = 28;
	bytes[12] = 9;
	expect_broken(bytes, size, "byte 12: version 9");
	bytes[8] = 0;
	expect_broken(bytes, size, "byte 8: a section of unknown byte order");
	expect_broken(bytes, 0, "the file is empty");
	expect_broken((const uint8_t *)"not a capture at all", 20, "not a capture");
	free(bytes);
}

/* Records of others, and blocks of kinds that nobody knows here, are stepped over. */
static void test_unknown_blocks(void **state)
{
	static const uint8_t other[16] = {1, 2, 3, 4};
	struct pcapng_block b;
	struct model_file s;
	struct pcapng f;
	uint8_t *bytes;
	size_t size;

	(void)state;
	model_file_begin(&s, false);
	model_file_block(&s, UHCA_MODEL_BLOCK, other, sizeof(other));
	model_file_block(&s, UHCA_MODEL_BLOCK, other, 3);
	model_file_block(&s, 0x4711, other, sizeof(other));
	model_file_record(&s, 1, "note");
	bytes = model_file_take(&s, &size);
	assert_int_equal(pcapng_open(&f, bytes, size), 0);
	assert_int_equal(pcapng_next(&f, &b), 1);
	assert_int_equal(b.length, 4);
	assert_int_equal(pcapng_next(&f, &b), 0);
	pcapng_close(&f);
	free(bytes);
}

/* An interface with this resolution and offset of its times, and a packet at "units". */
static uint64_t time_with(uint8_t resolution, int64_t offset, uint64_t units)
{
	struct {
		uint16_t link, zero;
		uint32_t snap;
		uint16_t code, length;
		uint8_t value[4];
		uint16_t code2, length2;
		int64_t offset;
	} __attribute__((packed)) interface = {
		1, 0, 0, 9, 1, {resolution}, 14, 8, offset,
	};
	uint32_t packet[5] = {2, (uint32_t)(units >> 32), (uint32_t)units};
	struct pcapng_block b;
	struct model_file s;
	struct pcapng f;
	uint8_t *bytes;
	size_t size;
	uint64_t ns;

	model_file_begin(&s, false);
	model_file_block(&s, 1, &interface, sizeof(interface));
	model_file_block(&s, 6, packet, sizeof(packet));
	bytes = model_file_take(&s, &size);
	assert_int_equal(pcapng_open(&f, bytes, size), 0);
	assert_int_equal(pcapng_next(&f, &b), 1);
	ns = b.ns;
	pcapng_close(&f);
	free(bytes);
	return ns;
}

static void test_times(void **state)
{
	(void)state;
	assert_int_equal(time_with(6, 0, 1000001), 1000001000);
	assert_int_equal(time_with(9, 0, 123), 123);
	assert_int_equal(time_with(3, 2, 1500), 3500000000);
	assert_int_equal(time_with(12, 0, 1999), 1);
	assert_int_equal(time_with(0, 0, 3), 3000000000);
	assert_int_equal(time_with(0x80 | 1, 0, 3), 1500000000);
	assert_int_equal(time_with(0x80 | 32, 0, 3ull << 31), 1500000000);
	/* Nonsense is no time, and harms nobody. */
	assert_int_equal(time_with(200, 0, 3), 0);
	assert_int_equal(time_with(0x80 | 127, 0, 3), 0);
	assert_int_equal(time_with(0, 0, UINT64_MAX), 0);
}

static void test_classic(void **state)
{
	struct {
		uint32_t magic, version, zone, figures, snap, link;
		uint32_t seconds, part, captured, original;
		uint8_t frame[4];
	} file = {0xa1b2c3d4, 0, 0, 0, 65535, 101, 2, 7, 4, 60, {1, 2, 3, 4}};
	struct pcapng_block b;
	struct pcapng f;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		file.magic = i & 1 ? 0xa1b23c4d : 0xa1b2c3d4;
		if (i == 2)
			for (unsigned k = 0; k < 10; k++)
				((uint32_t *)&file)[k] = __builtin_bswap32(((uint32_t *)&file)[k]);
		if (i == 3)
			file.magic = __builtin_bswap32(file.magic);
		assert_int_equal(pcapng_open(&f, &file, sizeof(file)), 0);
		assert_int_equal(pcapng_next(&f, &b), 1);
		assert_int_equal(b.ns, i & 1 ? 2000000007 : 2000007000);
		assert_int_equal(b.captured, 4);
		assert_int_equal(b.original, 60);
		assert_int_equal(b.frame[3], 4);
		assert_int_equal(f.interface[b.interface].link, PCAPNG_LINK_RAW);
		assert_int_equal(pcapng_next(&f, &b), 0);
		pcapng_close(&f);
	}
	expect_broken((uint8_t *)&file, sizeof(file) - 1, "byte 24: the file ends within a packet");
	expect_broken((uint8_t *)&file, 30, "byte 24: the file ends within a packet's header");
	expect_broken((uint8_t *)&file, 23, "byte 0: the file ends within its header");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_byte_orders),    cmocka_unit_test(test_sections),
		cmocka_unit_test(test_cut_anywhere),   cmocka_unit_test(test_broken_blocks),
		cmocka_unit_test(test_broken_lengths), cmocka_unit_test(test_unknown_blocks),
		cmocka_unit_test(test_times),          cmocka_unit_test(test_classic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
