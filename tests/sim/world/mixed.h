/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fixed stretch of traffic from a to b of a pair, one of everything, so that a named test can
 * hurt any packet of it: multi-packet SENDs, WRITEs with and without immediate data, READs and
 * both atomics, all signalled. What must come of it is recorded in the pair's expected memory.
 */
#ifndef SIM_MIXED_H
#define SIM_MIXED_H

#include "pair.h"

#define MIXED_REQUESTS 7u /* of one round */
#define MIXED_RECVS    2u

/* Posts the receives of n rounds, then the requests; at most 8 rounds of a fresh pair. */
void mixed_post(struct pair *p, unsigned rounds);

/* Waits for all completions and checks each; records what the memory must hold. */
void mixed_check(struct pair *p, unsigned rounds);

#endif
