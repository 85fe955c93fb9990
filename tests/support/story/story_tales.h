/* SPDX-License-Identifier: BSD-2-Clause */
/* Small stories with one thing that goes wrong, for tests of who tells them. */
#ifndef TESTS_SUPPORT_STORY_TALES_H
#define TESTS_SUPPORT_STORY_TALES_H

#include "emu/story/tale/story.h"

enum tale {
	TALE_LOST_ACK,       /* a WRITE of two packets, its ACK lost, sent again */
	TALE_RNR,            /* two RNR NAKs, then there is a receive request */
	TALE_RNR_EXCEEDED,   /* as often as rnr_retry says, and the QP goes to ERR */
	TALE_LOST_RESPONSE,  /* a READ whose first response packet is lost: an implied NAK */
	TALE_ATOMIC_COPY,    /* a FETCH ADD that the network doubles, executed once */
	TALE_REMOTE_ACCESS,  /* a WRITE to a key that is none */
	TALE_RETRY_EXCEEDED, /* no answer at all */
	TALE_OVERTAKEN,      /* the second SEND arrives first */
	TALE_LONG,           /* a WRITE of many packets */
	TALE_ONE_WR, /* no answer, after a READ and a SEND of that identifier which went well */
	TALES
};

/* Makes one, in memory; story_free. */
void story_tale(struct story *s, enum tale which);

/* The same as a file's bytes, which the caller frees. */
uint8_t *story_tale_bytes(enum tale which, size_t *size);

#endif
