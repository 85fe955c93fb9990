/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of differences from soft-RoCE that are allowed, with reasons. */
#include "differences.h"

#include "tests/support/wire/cmocka_all.h"
#include "wire/print.h"
#include "wire/syndrome.h"

#include <stdio.h>
#include <string.h>

#define GSI_QPN 1

const struct difference_row difference_table[DIFFERENCE_COUNT] = {
	[DIFFERENCE_MIGREQ] = {"MigReq is 1, soft-RoCE's 0",
			       "17.2.8: 1 is the migrated state, the only one without an alternate "
			       "path; adapters send 1, soft-RoCE looks at neither"},
	[DIFFERENCE_CREDITS] = {"an ACK announces credits, soft-RoCE's syndrome is 0x1f",
				"9.7.7.2: a responder with a receive queue of its own has credits "
				"to give; soft-RoCE takes 0x00 to 0x1f alike"},
	[DIFFERENCE_ACKREQ] = {"AckReq within a long message, where the send window ends",
			       "9.7.5.1.2: a requester may ask at any packet, and waits for the "
			       "answer before it sends on; soft-RoCE has a longer window"},
	[DIFFERENCE_MAD_ACKREQ] = {"a management datagram asks for no ACK, soft-RoCE's does",
				   "9.8.3: nothing acknowledges a datagram; nobody answers the "
				   "bit"},
	[DIFFERENCE_COALESCED] = {"fewer ACKs for a burst of requests",
				  "9.7.5.1.2: one ACK says all that the ones before it said"},
};

static void level_migreq(struct roce_packet *ours, const struct roce_packet *theirs,
			 struct difference_count *count)
{
	if (!ours->bth.migreq || theirs->bth.migreq)
		return;
	ours->bth.migreq = false;
	count->n[DIFFERENCE_MIGREQ]++;
}

static void level_credits(struct roce_packet *ours, const struct roce_packet *theirs,
			  struct difference_count *count)
{
	if (!(roce_opcode_info(theirs->bth.opcode)->headers & ROCE_HDR_AETH) ||
	    theirs->aeth.syndrome != roce_syndrome(ROCE_ACK, ROCE_CREDITS_UNLIMITED) ||
	    roce_syndrome_kind(ours->aeth.syndrome) != ROCE_ACK ||
	    ours->aeth.syndrome == theirs->aeth.syndrome)
		return;
	ours->aeth.syndrome = theirs->aeth.syndrome;
	count->n[DIFFERENCE_CREDITS]++;
}

static void level_ackreq(struct roce_packet *ours, const struct roce_packet *theirs,
			 struct difference_count *count)
{
	enum roce_operation op = roce_opcode_info(theirs->bth.opcode)->operation;
	bool whole = roce_opcode_is_last(theirs->bth.opcode);

	if (theirs->bth.dest_qp == GSI_QPN && !ours->bth.ackreq && theirs->bth.ackreq)
		count->n[DIFFERENCE_MAD_ACKREQ]++;
	else if ((op == ROCE_OP_SEND || op == ROCE_OP_WRITE) && !whole && ours->bth.ackreq &&
		 !theirs->bth.ackreq)
		count->n[DIFFERENCE_ACKREQ]++;
	else
		return;
	ours->bth.ackreq = theirs->bth.ackreq;
}

void difference_check(const char *where, const struct roce_packet *ours,
		      const struct roce_packet *theirs, struct difference_count *count)
{
	uint8_t a[ROCE_MAX_PACKET_LENGTH], b[ROCE_MAX_PACKET_LENGTH];
	struct roce_packet level = *ours;
	size_t n = roce_packet_emit(theirs, b, sizeof(b)), at = 0;

	level_migreq(&level, theirs, count);
	level_credits(&level, theirs, count);
	level_ackreq(&level, theirs, count);
	assert_int_not_equal(n, 0);
	if (roce_packet_emit(&level, a, sizeof(a)) == n && memcmp(a, b, n) == 0)
		return;
	while (at < n && a[at] == b[at])
		at++;
	char text[2][ROCE_PRINT_LENGTH];
	roce_print_packet(ours, text[0], sizeof(text[0]));
	roce_print_packet(theirs, text[1], sizeof(text[1]));
	fail_msg("%s: differs from byte %zu\n  ours %s\n  rxe  %s", where, at, text[0], text[1]);
}
