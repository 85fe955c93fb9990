/* SPDX-License-Identifier: BSD-2-Clause */
/* The RDMA IP CM header in both address families, and the service ids of IP ports. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/cma_hdr.h"

#include <string.h>

static struct prng rng;

static void test_v4_bytes(void **state)
{
	const struct roce_cma_hdr hdr = {
		.ip_version = 4,
		.sport = 0x1234,
		.src = {[10] = 0xff, 0xff, 10, 77, 0, 11},
		.dst = {[10] = 0xff, 0xff, 10, 77, 0, 12},
	};
	const uint8_t expected[ROCE_CMA_HDR_LENGTH] = {
		0x00, 0x40, 0x12, 0x34, [16] = 10, 77, 0, 11, [32] = 10, 77, 0, 12,
	};
	uint8_t p[ROCE_CMA_HDR_LENGTH];

	(void)state;
	memset(p, 0xee, sizeof(p));
	roce_cma_hdr_emit(&hdr, p);
	assert_memory_equal(p, expected, sizeof(p));
}

static void test_v6_bytes(void **state)
{
	const struct roce_cma_hdr hdr = {
		.ip_version = 6, .sport = 1, .src = {0xfe, 0x80, [15] = 1}, .dst = {[15] = 1}};
	const uint8_t expected[ROCE_CMA_HDR_LENGTH] = {
		0x00, 0x60, 0x00, 0x01, [4] = 0xfe, 0x80, [19] = 1, [35] = 1,
	};
	uint8_t p[ROCE_CMA_HDR_LENGTH];

	(void)state;
	memset(p, 0xee, sizeof(p));
	roce_cma_hdr_emit(&hdr, p);
	assert_memory_equal(p, expected, sizeof(p));
}

/* Mapped addresses in a version 6 header too: they keep their version. */
static void test_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < 1000; i++) {
		const bool mapped = i & 1;
		struct roce_flow f;
		struct roce_cma_hdr in;
		struct roce_cma_hdr out;
		uint8_t p[ROCE_CMA_HDR_LENGTH];

		gen_flow(&rng, mapped, &f);
		memset(&in, 0, sizeof(in));
		memset(&out, 0, sizeof(out));
		in.ip_version = mapped && (i & 2) ? 4 : 6;
		in.sport = f.sport;
		memcpy(in.src, f.src, 16);
		memcpy(in.dst, f.dst, 16);
		roce_cma_hdr_emit(&in, p);
		assert_true(roce_cma_hdr_parse(p, &out));
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

static void test_refused(void **state)
{
	uint8_t p[ROCE_CMA_HDR_LENGTH] = {0};
	struct roce_cma_hdr hdr;

	(void)state;
	for (unsigned v = 0; v < 256; v++) {
		p[1] = (uint8_t)v;
		assert_int_equal(roce_cma_hdr_parse(p, &hdr), v >> 4 == 4 || v >> 4 == 6);
	}
	p[1] = 0x40;
	for (unsigned v = 1; v < 256; v++) {
		p[0] = (uint8_t)v;
		assert_false(roce_cma_hdr_parse(p, &hdr));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v4_bytes),
		cmocka_unit_test(test_v6_bytes),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
	};

	rng = prng_start("cma_hdr");
	return cmocka_run_group_tests_name("cma_hdr", tests, NULL, NULL);
}
