/* SPDX-License-Identifier: BSD-2-Clause */
/* The controls that cc.c lists, and arithmetic that they share. */
#ifndef CORE_CC_CONTROLS_H
#define CORE_CC_CONTROLS_H

#include "cc.h"

#define CC_US UINT64_C(1000)
#define CC_MB UINT64_C(1000000) /* bit/s of 1 Mb/s, and bytes of 1 MB */

extern const struct cc_ops cc_none, cc_window, cc_dcqcn, cc_dcqcn_hpcc, cc_dcqcn_mlx5, cc_swift,
	cc_timely, cc_dctcp;

/* a x b / c, where the product has more than 64 bits. */
static inline uint64_t cc_scale(uint64_t a, uint64_t b, uint64_t c)
{
	return (uint64_t)((unsigned __int128)a * b / c);
}

/* a x ratio, of 2^-32. */
static inline uint64_t cc_part(uint64_t a, uint64_t ratio)
{
	return (uint64_t)(((unsigned __int128)a * ratio) >> 32);
}

static inline uint64_t cc_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t cc_most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ratio^n, of 2^-32. */
uint64_t cc_power(uint64_t ratio, uint64_t n);

/* The root, rounded down. */
uint64_t cc_root(uint64_t v);

#endif
