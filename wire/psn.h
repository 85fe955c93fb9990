/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packet sequence numbers: 24-bit serial arithmetic (IBTA vol. 1, 9.7.1, C9-49..51). Values are
 * kept in [0, 2^24); every sum goes through psn_add. A PSN is "after" another when it is less
 * than half the space ahead of it.
 */
#ifndef ROCE_PSN_H
#define ROCE_PSN_H

#include <stdbool.h>
#include <stdint.h>

#define ROCE_PSN_MASK 0xffffffu

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & ROCE_PSN_MASK;
}

/* Signed distance from b to a: positive when a is after b; in [-2^23, 2^23). */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

/* True when psn is one of the n numbers that start at first. */
static inline bool psn_in_window(uint32_t psn, uint32_t first, uint32_t n)
{
	return ((psn - first) & ROCE_PSN_MASK) < n;
}

#endif
