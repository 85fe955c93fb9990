/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where our packets may differ from those of soft-RoCE in the same place of a conversation, and
 * why: the complete table. Everything else is compared byte for byte.
 */
#ifndef GOLDEN_DIFFERENCES_H
#define GOLDEN_DIFFERENCES_H

#include "wire/packet.h"

enum difference {
	DIFFERENCE_MIGREQ,
	DIFFERENCE_CREDITS,
	DIFFERENCE_ACKREQ,
	DIFFERENCE_MAD_ACKREQ,
	DIFFERENCE_COALESCED, /* counted by who feeds the packets: an ACK that a later one says */
	DIFFERENCE_COUNT
};

struct difference_row {
	const char *what;
	const char *why;
};

extern const struct difference_row difference_table[DIFFERENCE_COUNT];

/* How often each was met. */
struct difference_count {
	unsigned n[DIFFERENCE_COUNT];
};

/*
 * Compares what stands between the UDP header and the ICRC. A difference of the table is counted,
 * any other fails the running test; where tells which packet it was.
 */
void difference_check(const char *where, const struct roce_packet *ours,
		      const struct roce_packet *theirs, struct difference_count *count);

#endif
