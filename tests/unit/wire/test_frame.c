/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet frames: layers and fields of frames made by hand, and of every truncation of them. */
#include "tests/support/wire/cmocka_all.h"

#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

/* Ethernet with a VLAN tag, IPv4 (type of service 5, don't fragment), UDP to 4789, VXLAN. */
static const uint8_t vxlan[] = {
	1,    2, 3, 4, 5,    6,    7,    8,  9,  10, 11, 12, 0x81, 0, 0xac, 0x0c, 0x08, 0x00,
	0x45, 5, 0, 0, 0,    0,    0x40, 0,  63, 17, 0,  0,  1,    1, 1,    1,    2,    2,
	2,    2, 4, 1, 0x12, 0xb5, 0,    16, 0,  0,  8,  0,  0,    0, 0x76, 0xad, 0xf1, 0,
};

/* Ethernet, IPv6 (traffic class 0xa5, label 0x12345), GRE with checksum and key. */
static const uint8_t gre[14 + 40 + 12] = {
	[0] = 2, [12] = 0x86, 0xdd, 0x6a,        0x51,        0x23,        0x45,        0,
	0,       47,          9,    [22] = 0xa0, [37] = 0xa9, [38] = 0xb0, [53] = 0xb9, [54] = 0xa0,
	0,       0x08,        0x00, [62] = 0x11, 0x22,        0x33,        0x44,
};

static const uint8_t *fields(const struct roce_frame *f, enum roce_frame_layer layer, unsigned n)
{
	static uint8_t out[ROCE_FRAME_FIELDS];

	assert_int_equal(roce_frame_fields(f, layer, out), n);
	return out;
}

static void test_vxlan(void **state)
{
	struct roce_frame f;

	(void)state;
	assert_true(roce_frame_parse(vxlan, sizeof(vxlan), &f));
	assert_true(roce_frame_is_multicast(&f));
	assert_true(f.vlan && f.ipv4 && f.udp && f.vxlan && !f.tcp && !f.ipv6 && !f.gre);
	assert_memory_equal(fields(&f, ROCE_FRAME_ETH, 16),
			    ((uint8_t[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0, 0xac, 0x0c}),
			    16);
	assert_memory_equal(fields(&f, ROCE_FRAME_IPV4, 8), "\1\1\1\1\2\2\2\2", 8);
	assert_memory_equal(fields(&f, ROCE_FRAME_IPV4_EXT, 12), "\1\1\1\1\2\2\2\2\x11\5\x3f\2",
			    12);
	assert_memory_equal(fields(&f, ROCE_FRAME_UDP, 4), "\x12\xb5\4\1", 4);
	assert_memory_equal(fields(&f, ROCE_FRAME_VXLAN, 4), "\0\x76\xad\xf1", 4);
	fields(&f, ROCE_FRAME_TCP, 0);
	fields(&f, ROCE_FRAME_IPV6, 0);
	fields(&f, ROCE_FRAME_GRE, 0);
}

static void test_gre(void **state)
{
	struct roce_frame f;
	const uint8_t *p;

	(void)state;
	assert_true(roce_frame_parse(gre, sizeof(gre), &f));
	assert_false(roce_frame_is_multicast(&f));
	assert_true(f.ipv6 && f.gre && f.gre_key && !f.vlan && !f.ipv4);
	p = fields(&f, ROCE_FRAME_IPV6, 39);
	assert_int_equal(p[0], 0xa0);
	assert_int_equal(p[31], 0xb9);
	assert_memory_equal(p + 32, "\0\1\x23\x45\x2f\xa5\x09", 7);
	assert_memory_equal(fields(&f, ROCE_FRAME_GRE, 8), "\xa0\0\x08\0\x11\x22\x33\x44", 8);
}

/* Blocks of the exact size, so that a read beyond is seen; layers vanish and never come back. */
static void check_truncations(const uint8_t *bytes, size_t size)
{
	unsigned before = 0;

	for (size_t n = 0; n <= size; n++) {
		uint8_t *copy = test_malloc(n ? n : 1), out[ROCE_FRAME_FIELDS];
		unsigned layers = 0;
		struct roce_frame f;

		memcpy(copy, bytes, n);
		assert_int_equal(roce_frame_parse(copy, n, &f), n >= ROCE_FRAME_MIN);
		for (int i = 0; f.eth && i < ROCE_FRAME_LAYERS; i++)
			layers += roce_frame_fields(&f, (enum roce_frame_layer)i, out) != 0;
		assert_true(layers >= before);
		before = layers;
		test_free(copy);
	}
}

static void test_truncated(void **state)
{
	(void)state;
	check_truncations(vxlan, sizeof(vxlan));
	check_truncations(gre, sizeof(gre));
}

static void test_nonsense(void **state)
{
	uint8_t bytes[sizeof(vxlan)];
	struct roce_frame f;

	(void)state;
	memcpy(bytes, vxlan, sizeof(bytes));
	bytes[18] = 0x4f; /* longer options than there are bytes */
	assert_true(roce_frame_parse(bytes, 50, &f));
	assert_null(f.ipv4);
	bytes[18] = 0x44; /* shorter than a header */
	assert_true(roce_frame_parse(bytes, sizeof(bytes), &f));
	assert_null(f.ipv4);
	bytes[18] = 0x45;
	bytes[25] = 1; /* not the first fragment */
	assert_true(roce_frame_parse(bytes, sizeof(bytes), &f));
	assert_non_null(f.ipv4);
	assert_null(f.udp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vxlan),
		cmocka_unit_test(test_gre),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_nonsense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
