/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes captures with the model in them (emu/abi/packet_metadata.h) for tests of who reads them:
 * in either byte order, with any words, in memory. Two devices, uhca0 (10.0.0.1) and uhca1
 * (10.0.0.2), each with one QP, 0x11 and 0x12, that are connected.
 */
#ifndef TESTS_SUPPORT_MODEL_FILE_H
#define TESTS_SUPPORT_MODEL_FILE_H

#include "wire/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_FILE_BEGAN 1790000000000000000ull /* ns; times are told from here on */

struct model_file {
	uint8_t *bytes; /* owned; model_file_take gives it away */
	size_t used;
	size_t room;
	bool swapped; /* the other byte order than this machine's */
};

/* A section and the two interfaces. */
void model_file_begin(struct model_file *f, bool swapped);

/* Raw pieces: a block of this type with this body, which is filled up to whole words. */
void model_file_block(struct model_file *f, uint32_t type, const void *body, size_t length);

/* Who sees a packet. */
enum model_seen {
	SEEN_OUT = 1,  /* its sender */
	SEEN_IN = 2,   /* its receiver */
	SEEN_BOTH = 3, /* the arrival a microsecond later */
};

struct model_said {
	double us;     /* when */
	unsigned from; /* device 0 or 1 */
	uint8_t opcode;
	uint32_t psn;
	uint32_t length;  /* of the payload; of a READ request: asked for */
	uint8_t syndrome; /* of the AETH */
	uint32_t msn;
	enum model_seen seen;   /* 0: both */
	const char *comment;    /* of the sender's packet; NULL: none */
	const char *in_comment; /* of the receiver's */
	double late_us;         /* arrives so much later; 0: 1 */
	bool marked;            /* it arrives with an ECN mark (CE) */
	uint32_t qp[2];         /* numbers in place of 0x11 and 0x12; 0: those */
};

void model_file_say(struct model_file *f, const struct model_said *said);

/* A record of these words. */
void model_file_record(struct model_file *f, double us, const char *words);

/* The file; f is empty then. The caller frees it. */
uint8_t *model_file_take(struct model_file *f, size_t *size);

#endif
