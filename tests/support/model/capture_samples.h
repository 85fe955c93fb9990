/* SPDX-License-Identifier: BSD-2-Clause */
/* Small models with one thing that goes wrong, for tests of who tells them. */
#ifndef TESTS_SUPPORT_MODEL_CAPTURE_SAMPLES_H
#define TESTS_SUPPORT_MODEL_CAPTURE_SAMPLES_H

#include "emu/model/capture/model.h"

enum sample {
	SAMPLE_LOST_ACK,       /* a WRITE of two packets, its ACK lost, sent again */
	SAMPLE_RNR,            /* two RNR NAKs, then there is a receive request */
	SAMPLE_RNR_EXCEEDED,   /* as often as rnr_retry says, and the QP goes to ERR */
	SAMPLE_LOST_RESPONSE,  /* a READ whose first response packet is lost: an implied NAK */
	SAMPLE_ATOMIC_COPY,    /* a FETCH ADD that the network doubles, executed once */
	SAMPLE_REMOTE_ACCESS,  /* a WRITE to a key that is none */
	SAMPLE_RETRY_EXCEEDED, /* no answer at all */
	SAMPLE_OVERTAKEN,      /* the second SEND arrives first */
	SAMPLE_LONG,           /* a WRITE of many packets */
	SAMPLE_ONE_WR, /* no answer, after a READ and a SEND of that identifier which went well */
	SAMPLES
};

/* Makes one, in memory; model_free. */
void capture_sample(struct model *s, enum sample which);

/* The same as a file's bytes, which the caller frees. */
uint8_t *capture_sample_bytes(enum sample which, size_t *size);

#endif
