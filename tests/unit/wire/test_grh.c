/* SPDX-License-Identifier: BSD-2-Clause */
/* The GRH area: IPv4 behind zeros, IPv6 from the start, and back to the addresses. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/grh.h"

#include <string.h>

static struct prng rng;

static void test_v4(void **state)
{
	const uint8_t zero[20] = {0};

	(void)state;
	for (int i = 0; i < 500; i++) {
		uint8_t udpip[48];
		uint8_t grh[ROCE_GRH_LENGTH];
		struct roce_flow in;
		struct roce_flow out;

		gen_flow(&rng, true, &in);
		const size_t payload = prng_below(&rng, 4096);

		memset(grh, 0xee, sizeof(grh));
		roce_grh_emit(&in, payload, grh);
		roce_udpip_emit(&in, 0, payload, udpip);
		assert_memory_equal(grh, zero, 20);
		assert_memory_equal(grh + 20, udpip, 20);
		assert_int_equal(roce_ipv4_checksum(grh + 20), 0);
		assert_true(roce_grh_parse(grh, &out));
		in.sport = in.dport = 0;
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

static void test_v6(void **state)
{
	(void)state;
	for (int i = 0; i < 500; i++) {
		uint8_t udpip[48];
		uint8_t grh[ROCE_GRH_LENGTH];
		struct roce_flow in;
		struct roce_flow out;

		gen_flow(&rng, false, &in);
		const size_t payload = prng_below(&rng, 4096);

		roce_grh_emit(&in, payload, grh);
		roce_udpip_emit(&in, 0, payload, udpip);
		assert_memory_equal(grh, udpip, 40);
		assert_true(roce_grh_parse(grh, &out));
		in.sport = in.dport = 0;
		assert_memory_equal(&in, &out, sizeof(in));
	}
}

/* The first 20 bytes in front of an IPv4 header are undefined: others may not send zeros. */
static void test_v4_behind_garbage(void **state)
{
	uint8_t grh[ROCE_GRH_LENGTH];
	struct roce_flow in;
	struct roce_flow out;

	(void)state;
	gen_flow(&rng, true, &in);
	roce_grh_emit(&in, 64, grh);
	prng_fill(&rng, grh, 20);
	grh[0] = 0x45;
	assert_true(roce_grh_parse(grh, &out));
	assert_memory_equal(in.src, out.src, 16);
	assert_memory_equal(in.dst, out.dst, 16);
}

static void test_refused(void **state)
{
	uint8_t grh[ROCE_GRH_LENGTH] = {0};
	struct roce_flow f;

	(void)state;
	assert_false(roce_grh_parse(grh, &f));
	gen_flow(&rng, true, &f);
	roce_grh_emit(&f, 64, grh);
	grh[39] ^= 1; /* header checksum no longer right */
	assert_false(roce_grh_parse(grh, &f));
	grh[39] ^= 1;
	assert_true(roce_grh_parse(grh, &f));
	grh[20] = 0x46;
	assert_false(roce_grh_parse(grh, &f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v4),
		cmocka_unit_test(test_v6),
		cmocka_unit_test(test_v4_behind_garbage),
		cmocka_unit_test(test_refused),
	};

	rng = prng_start("grh");
	return cmocka_run_group_tests_name("grh", tests, NULL, NULL);
}
