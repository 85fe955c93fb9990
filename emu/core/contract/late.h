/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Before a device takes something for lost: what the shell does first, because the answer may lie
 * in a socket already, or the request for it. Part of core.h.
 */
#ifndef CORE_LATE_H
#define CORE_LATE_H

#include "emu/core/contract/burst.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device;

/*
 * Would core_tick end something at that time: a try that had no ACK, the wait after an RNR NAK,
 * the wait for an answer of connection management? The wait for what has made progress begins
 * anew.
 */
bool core_gives_up(struct device *dev, uint64_t now);

/* A round of answers; what it has is the device's. */
struct core_round {
	uint32_t urgent, ready; /* QPs that have not had their turn */
};

/*
 * A round for the QPs that have something to send now. ACKs that wait for company wait no longer.
 */
void core_round_begin(struct device *dev, struct core_round *r);

/*
 * core_tx_next of answers alone: acknowledgements and management datagrams, and of each QP one
 * burst of a READ's data. Requests keep their place. False when all QPs of the round had their
 * turn.
 */
bool core_tx_answer(struct device *dev, uint64_t now, struct core_round *r, uint8_t *buf,
		    size_t cap, struct core_burst *out);

#endif
