/* SPDX-License-Identifier: BSD-2-Clause */
/* See random.h. The binary logarithm is found bit by bit: squaring doubles it. */
#include "random.h"

#define ONE    (UINT64_C(1) << 32)
#define LOG_2  UINT64_C(2977044472) /* ln 2 in 2^-32 */
#define DIGITS 32

uint64_t fabric_minus_log(uint64_t x)
{
	uint64_t halvings = 0, fraction = 0;

	while (x < ONE) {
		x <<= 1;
		halvings++;
	}
	/* x is in [1, 2): its binary logarithm has the digits that its squares bring to light. */
	for (int i = 0; i < DIGITS; i++) {
		x = (uint64_t)(((unsigned __int128)x * x) >> 32);
		fraction <<= 1;
		if (x >= 2 * ONE) {
			x >>= 1;
			fraction |= 1;
		}
	}
	return (uint64_t)(((unsigned __int128)((halvings << 32) - fraction) * LOG_2) >> 32);
}

uint64_t fabric_random_gap(uint64_t *state, uint64_t mean)
{
	const uint64_t x = (fabric_random(state) >> 32) + 1;

	return (uint64_t)(((unsigned __int128)mean * fabric_minus_log(x)) >> 32);
}
