/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ICRC against a bit-by-bit CRC and a pseudo header built here from the packet's own IP and
 * UDP bytes; what it covers and what not, bit by bit; recovery of each IPv4 identification.
 */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include "wire/icrc.h"
#include "wire/packet.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define MAX_DATAGRAM (48 + ROCE_MAX_PACKET_LENGTH)

static struct prng rng;

/* A whole datagram: IP, UDP, packet, ICRC. */
struct datagram {
	uint8_t bytes[MAX_DATAGRAM];
	size_t udpip_len;
	size_t len; /* of BTH .. ICRC */
	struct roce_flow flow;
	uint16_t ident;
};

static uint8_t *packet_of(struct datagram *d)
{
	return d->bytes + d->udpip_len;
}

/* CRC-32 of Ethernet, least significant bit first, one bit at a time. */
static uint32_t bitwise_crc(const uint8_t *p, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len * 8; i++) {
		const uint32_t bit = p[i / 8] >> i % 8 & 1;

		crc = (crc ^ bit) & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
	}
	return ~crc;
}

/* The ICRC from the datagram's bytes alone, as annex A17 words it. */
static uint32_t reference_icrc(const struct datagram *d)
{
	static uint8_t covered[8 + MAX_DATAGRAM];
	uint8_t *ip = covered + 8;
	uint8_t *udp = ip + d->udpip_len - 8;
	const size_t len = 8 + d->udpip_len + d->len - 4;

	memset(covered, 0xff, 8);
	memcpy(ip, d->bytes, d->udpip_len + d->len - 4);
	if (ip[0] >> 4 == 4) {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	} else {
		ip[0] = 0x6f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	}
	udp[6] = udp[7] = 0xff;
	udp[8 + 4] = 0xff;
	return bitwise_crc(covered, len);
}

static void store_reference(struct datagram *d)
{
	const uint32_t icrc = reference_icrc(d);
	uint8_t *p = packet_of(d) + d->len - 4;

	p[0] = (uint8_t)icrc;
	p[1] = (uint8_t)(icrc >> 8);
	p[2] = (uint8_t)(icrc >> 16);
	p[3] = (uint8_t)(icrc >> 24);
}

static roce_opcode random_opcode(void)
{
	roce_opcode op;

	do
		op.v = (uint8_t)prng_bits(&rng, 8);
	while (!roce_opcode_known(op));
	return op;
}

/* A random packet of a random opcode with the reference ICRC. */
static void make_datagram(bool v4, struct datagram *d)
{
	struct roce_packet pkt;

	memset(d, 0, sizeof(*d));
	gen_flow(&rng, v4, &d->flow);
	gen_packet(&rng, random_opcode(), &pkt);
	d->ident = v4 ? (uint16_t)prng_bits(&rng, 16) : 0;
	d->udpip_len = v4 ? 28 : 48;
	d->len = roce_packet_emit(&pkt, packet_of(d), ROCE_MAX_PACKET_LENGTH) + 4;
	assert_true(d->len > 4);
	assert_int_equal(roce_udpip_emit(&d->flow, d->ident, d->len, d->bytes), d->udpip_len);
	store_reference(d);
}

static void test_crc_check_value(void **state)
{
	(void)state;
	/* The published check value of CRC-32 (and so of the reference used here). */
	assert_int_equal(bitwise_crc((const uint8_t *)"123456789", 9), 0xcbf43926);
	assert_int_equal(roce_icrc_update(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
	assert_int_equal(roce_icrc_update(17, NULL, 0), 17);
}

static void test_against_reference(void **state)
{
	static struct datagram d;

	(void)state;
	for (int i = 0; i < 300; i++) {
		make_datagram(i & 1, &d);
		assert_true(roce_icrc_check(&d.flow, d.ident, packet_of(&d), d.len));
		const uint32_t other = 1u << prng_below(&rng, 32);

		packet_of(&d)[d.len - 1 - other % 4] ^= (uint8_t)(1 + other % 255);
		assert_false(roce_icrc_check(&d.flow, d.ident, packet_of(&d), d.len));
	}
}

/* begin over any split of the packet, then updates over any further splits, then store. */
static void test_pieces(void **state)
{
	static struct datagram d;

	(void)state;
	for (int i = 0; i < 300; i++) {
		make_datagram(i & 1, &d);
		const uint8_t *p = packet_of(&d);
		const size_t covered = d.len - 4;
		const size_t a = 12 + prng_below(&rng, (uint32_t)(covered - 12) + 1);
		const size_t b = a + prng_below(&rng, (uint32_t)(covered - a) + 1);
		uint32_t icrc = roce_icrc_begin(&d.flow, d.ident, d.len, p, a);
		uint8_t stored[4];

		icrc = roce_icrc_update(icrc, p + a, b - a);
		icrc = roce_icrc_update(icrc, p + b, covered - b);
		roce_icrc_store(icrc, stored);
		assert_memory_equal(stored, p + covered, 4);
	}
}

/* Fields that a router changes do not matter, all other fields of IP and UDP do. */
static void test_variant_fields(void **state)
{
	static struct datagram d;

	(void)state;
	for (int v4 = 0; v4 < 2; v4++) {
		make_datagram(v4, &d);
		uint8_t *p = packet_of(&d);
		struct roce_flow f = d.flow;

		f.tclass ^= 0xff;
		f.hop_limit ^= 0x55;
		f.flow_label ^= 0xfffff;
		p[4] ^= 0xff;
		assert_true(roce_icrc_check(&f, d.ident, p, d.len));
		f.sport ^= 1;
		assert_false(roce_icrc_check(&f, d.ident, p, d.len));
		f.sport ^= 1;
		f.dport ^= 0x8000;
		assert_false(roce_icrc_check(&f, d.ident, p, d.len));
		f.dport ^= 0x8000;
		f.src[15] ^= 1;
		assert_false(roce_icrc_check(&f, d.ident, p, d.len));
		f.src[15] ^= 1;
		f.dst[12] ^= 0x80;
		assert_false(roce_icrc_check(&f, d.ident, p, d.len));
		assert_int_equal(roce_icrc_check(&d.flow, d.ident ^ 1, p, d.len), !v4);
	}
}

/* Every single bit from BTH to ICRC is covered, but the eight of byte 4. */
static void test_every_bit_is_covered(void **state)
{
	static struct datagram d;

	(void)state;
	make_datagram(true, &d);
	uint8_t *p = packet_of(&d);

	for (size_t i = 0; i < d.len * 8; i++) {
		p[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_int_equal(roce_icrc_check(&d.flow, d.ident, p, d.len), i / 8 == 4);
		p[i / 8] ^= (uint8_t)(1u << i % 8);
	}
}

static void test_solve_every_ident(void **state)
{
	static struct datagram d;

	(void)state;
	make_datagram(true, &d);
	for (unsigned ident = 0; ident < 65536; ident++) {
		uint8_t *p = packet_of(&d);
		uint16_t found = (uint16_t)~ident;

		roce_icrc_store(roce_icrc_begin(&d.flow, (uint16_t)ident, d.len, p, d.len - 4),
				p + d.len - 4);
		assert_true(roce_icrc_solve_ident(&d.flow, p, d.len, &found));
		assert_int_equal(found, ident);
	}
}

/* Every length a packet can have, random identification. */
static void test_solve_every_length(void **state)
{
	static uint8_t bytes[ROCE_MAX_PACKET_LENGTH];
	struct roce_flow f;

	(void)state;
	gen_flow(&rng, true, &f);
	prng_fill(&rng, bytes, sizeof(bytes));
	for (size_t len = 16; len <= sizeof(bytes); len++) {
		const uint16_t ident = (uint16_t)prng_bits(&rng, 16);
		uint8_t kept[4];
		uint16_t found;

		memcpy(kept, bytes + len - 4, 4);
		roce_icrc_store(roce_icrc_begin(&f, ident, len, bytes, len - 4), bytes + len - 4);
		assert_true(roce_icrc_solve_ident(&f, bytes, len, &found));
		assert_int_equal(found, ident);
		memcpy(bytes + len - 4, kept, 4);
	}
}

/* Damage is noticed but for one case in 65536: of 20000 damaged packets hardly one passes. */
static void test_solve_notices_damage(void **state)
{
	static struct datagram d;
	unsigned passed = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		make_datagram(true, &d);
		uint8_t *p = packet_of(&d);

		for (int j = 0; j < 100; j++) {
			const size_t bit = prng_below(&rng, (uint32_t)d.len * 8);
			uint16_t ident;

			p[bit / 8] ^= (uint8_t)(1u << bit % 8);
			passed += bit / 8 != 4 && roce_icrc_solve_ident(&d.flow, p, d.len, &ident);
			p[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
	}
	assert_in_range(passed, 0, 12);
}

static void test_solve_v6(void **state)
{
	static struct datagram d;
	uint16_t ident = 99;

	(void)state;
	make_datagram(false, &d);
	uint8_t *p = packet_of(&d);

	assert_true(roce_icrc_solve_ident(&d.flow, p, d.len, &ident));
	assert_int_equal(ident, 0);
	p[0] ^= 1;
	assert_false(roce_icrc_solve_ident(&d.flow, p, d.len, &ident));
}

static void test_too_short(void **state)
{
	const uint8_t bytes[16] = {0};
	struct roce_flow f;
	uint16_t ident;

	(void)state;
	gen_flow(&rng, true, &f);
	for (size_t len = 0; len < 16; len++) {
		assert_false(roce_icrc_check(&f, 0, bytes, len));
		assert_false(roce_icrc_solve_ident(&f, bytes, len, &ident));
	}
}

/* ---- what is left in the processor ---- */

#ifdef __x86_64__
#define XGETBV_1   (1u << 2) /* CPUID.(0DH,1):EAX: XGETBV tells which states are in use */
#define UPPER_HALF (1u << 2) /* of the vector registers, in XINUSE */

__attribute__((target("avx,xsave"))) static bool uppers_in_use(void)
{
	return __builtin_ia32_xgetbv(1) & UPPER_HALF;
}

__attribute__((target("avx"))) static void set_uppers(bool in_use)
{
	__builtin_ia32_vzeroupper();
	if (in_use)
		__asm__ volatile("vcmpps $15, %%ymm1, %%ymm1, %%ymm1" ::: "xmm1");
}

static bool can_see_uppers(void)
{
	unsigned a, b, c, d;
	bool before;

	if (!__builtin_cpu_supports("avx") || !__get_cpuid_count(0xd, 1, &a, &b, &c, &d) ||
	    !(a & XGETBV_1))
		return false;
	set_uppers(false);
	before = uppers_in_use();
	set_uppers(true);
	return !before && uppers_in_use();
}

/* Code behind it that knows SSE only does not wait for them. */
static void test_leaves_no_uppers(void **state)
{
	static const uint8_t payload[ROCE_MAX_MTU];
	const struct roce_flow flow = {.sport = 1};
	uint32_t icrc;

	(void)state;
	if (!can_see_uppers())
		skip();
	for (size_t len = 16; len <= sizeof(payload); len *= 2) {
		set_uppers(false);
		icrc = roce_icrc_update(len, payload, len);
		assert_false(uppers_in_use());
		icrc ^= roce_icrc_begin(&flow, 0, len + 4, payload, len);
		assert_false(uppers_in_use());
		assert_int_not_equal(icrc, 0);
	}
}
#else
static void test_leaves_no_uppers(void **state)
{
	(void)state;
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc_check_value),
		cmocka_unit_test(test_against_reference),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_variant_fields),
		cmocka_unit_test(test_every_bit_is_covered),
		cmocka_unit_test(test_solve_every_ident),
		cmocka_unit_test(test_solve_every_length),
		cmocka_unit_test(test_solve_notices_damage),
		cmocka_unit_test(test_solve_v6),
		cmocka_unit_test(test_leaves_no_uppers),
		cmocka_unit_test(test_too_short),
	};

	rng = prng_start("icrc");
	return cmocka_run_group_tests_name("icrc", tests, NULL, NULL);
}
