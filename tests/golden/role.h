/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device of ours in the place of one of the two ends of a captured conversation. Its address,
 * PSNs, buffers and work requests are those of the end that it replaces; what the other end said
 * arrives as it was captured, but for QP numbers and R_Keys, which a device chooses itself. All
 * that our device says is compared with what soft-RoCE said in its place.
 */
#ifndef GOLDEN_ROLE_H
#define GOLDEN_ROLE_H

#include "conversation.h"
#include "differences.h"

enum role_end {
	ROLE_CLIENT, /* who speaks first */
	ROLE_SERVER,
};

enum role_pace {
	ROLE_EAGER, /* packet by packet: our device answers each before the next comes */
	ROLE_BURST, /* what came without a packet of ours between comes as bursts, answered late */
	ROLE_NOISY, /* as eager, and what comes has all bits set that a receiver ignores */
	/*
	 * As eager, on reliable connections, with the network's tricks. What soft-RoCE answers to
	 * them is no part of the captures; it was seen in other runs (docs/reference/wire.md).
	 */
	ROLE_TWICE, /* each request that has an answer comes again: it is answered alike */
	ROLE_GAP,   /* of each MIDDLE the next packet comes first, twice: one NAK, then silence */
};

/* What was compared, and what was different. */
struct role_tally {
	unsigned requests; /* packets of ours */
	unsigned answers;
	unsigned sends, receives; /* completions */
	unsigned naks, repeated;  /* what ROLE_GAP and ROLE_TWICE provoked */
	struct difference_count differences;
};

/*
 * Soft-RoCE has up to 128 packets and all its READs under way: so much payload and overhead. With
 * it no captured request waits for our send window, as some would with the default.
 */
#define ROLE_WINDOW (256u << 10)

/*
 * Plays the whole conversation and adds to the tally. Fails the running test when we say anything
 * else, too early, too late or not at all; when a completion is missing or no success; when a byte
 * of memory is not as it should be at the end. window: core_config.window_bytes; 0: the default.
 */
void role_play(const struct conversation *c, enum role_end end, enum role_pace pace,
	       uint32_t window, struct role_tally *tally);

#endif
