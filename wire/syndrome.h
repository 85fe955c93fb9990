/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AETH syndromes (IBTA vol. 1, 9.7.5.1, tables 45 to 47): bits 6..5 tell ACK, RNR NAK or NAK,
 * bits 4..0 hold the credit count, the RNR timer or the NAK code.
 */
#ifndef ROCE_SYNDROME_H
#define ROCE_SYNDROME_H

#include <stdint.h>

enum roce_ack_kind {
	ROCE_ACK = 0,
	ROCE_RNR_NAK = 1,
	ROCE_ACK_RESERVED = 2,
	ROCE_NAK = 3,
};

enum roce_nak_code {
	ROCE_NAK_PSN_SEQUENCE = 0,
	ROCE_NAK_INVALID_REQUEST = 1,
	ROCE_NAK_REMOTE_ACCESS = 2,
	ROCE_NAK_REMOTE_OPERATIONAL = 3,
	ROCE_NAK_INVALID_RD_REQUEST = 4,
};

/* Credit code that says "no end-to-end credits here": send as you like. */
#define ROCE_CREDITS_UNLIMITED 0x1fu

static inline uint8_t roce_syndrome(enum roce_ack_kind kind, uint8_t low5)
{
	return (uint8_t)((unsigned)kind << 5 | (low5 & 0x1fu));
}

static inline enum roce_ack_kind roce_syndrome_kind(uint8_t syndrome)
{
	return (enum roce_ack_kind)(syndrome >> 5 & 3);
}

static inline uint8_t roce_syndrome_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

/* Nanoseconds of an RNR timer code 0..31 (table 45: 0 is 655.36 ms, 1 is 0.01 ms, ...). */
uint64_t roce_rnr_timer_ns(uint8_t code);

/* Number of receive work requests that credit code 0..30 grants (table 46); 31 gives UINT32_MAX. */
uint32_t roce_credits_decode(uint8_t code);

/* The largest credit code that grants no more than n (table 46). */
uint8_t roce_credits_encode(uint32_t n);

/* "ACK", "RNR NAK", "NAK remote access error", ...: static text, never NULL. */
const char *roce_syndrome_name(uint8_t syndrome);

#endif
