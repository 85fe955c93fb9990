/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables behind the five low bits of an AETH syndrome: RNR NAK timer (table 45), end-to-end
 * credits (table 46), NAK codes (table 47), and their names for people.
 */
#include "syndrome.h"

/* In steps of 10 microseconds, as table 45 gives hundredths of a millisecond. */
static const uint16_t rnr_timer[32] = {
	0, /* 655.36 ms, which does not fit: see below */
	1,    2,    3,    4,    6,     8,     12,    16,    24,    32,   48,
	64,   96,   128,  192,  256,   384,   512,   768,   1024,  1536, 2048,
	3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

static const uint16_t credits[31] = {
	0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
	48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
};

uint64_t roce_rnr_timer_ns(uint8_t code)
{
	const uint64_t steps = rnr_timer[code & 0x1f];

	return (steps ? steps : 65536) * 10000;
}

uint32_t roce_credits_decode(uint8_t code)
{
	code &= 0x1f;
	return code == ROCE_CREDITS_UNLIMITED ? UINT32_MAX : credits[code];
}

uint8_t roce_credits_encode(uint32_t n)
{
	uint8_t low = 0;
	uint8_t high = sizeof(credits) / sizeof(credits[0]);

	/* credits[low] <= n always holds; the table grows strictly. */
	while (high - low > 1) {
		const uint8_t mid = (uint8_t)((low + high) / 2);

		if (credits[mid] <= n)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static const char *nak_name(uint8_t code)
{
	static const char *const names[] = {
		[ROCE_NAK_PSN_SEQUENCE] = "NAK PSN sequence error",
		[ROCE_NAK_INVALID_REQUEST] = "NAK invalid request",
		[ROCE_NAK_REMOTE_ACCESS] = "NAK remote access error",
		[ROCE_NAK_REMOTE_OPERATIONAL] = "NAK remote operational error",
		[ROCE_NAK_INVALID_RD_REQUEST] = "NAK invalid RD request",
	};

	return code < sizeof(names) / sizeof(names[0]) ? names[code] : "NAK reserved code";
}

const char *roce_syndrome_name(uint8_t syndrome)
{
	switch (roce_syndrome_kind(syndrome)) {
	case ROCE_ACK:
		return "ACK";
	case ROCE_RNR_NAK:
		return "RNR NAK";
	case ROCE_ACK_RESERVED:
		return "reserved syndrome";
	case ROCE_NAK:
		return nak_name(roce_syndrome_value(syndrome));
	}
	return "reserved syndrome";
}
