/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a QP keeps for its receiving side: the message that is arriving, and what is to be
 * answered. Data only; who works with it is the receive module.
 */
#ifndef CORE_RECEIVE_SIDE_H
#define CORE_RECEIVE_SIDE_H

#include "emu/core/queues/queues.h"
#include "replay.h"

#include <stdbool.h>
#include <stdint.h>

/* The message that is arriving. */
enum responder_message {
	MESSAGE_NONE,
	MESSAGE_SEND,
	MESSAGE_WRITE,
	MESSAGE_DROPPING, /* UC: waiting for the next FIRST or ONLY */
};

struct responder {
	uint32_t epsn; /* next expected */
	uint32_t msn;
	enum responder_message message;
	bool have_wr; /* wr is taken and not completed */
	struct recv_wr wr;
	uint32_t received;   /* bytes of the message so far */
	uint64_t write_addr; /* WRITE: next byte */
	uint32_t write_rkey;
	uint32_t write_left;
	uint32_t write_length; /* of the whole WRITE */
	bool nak_sent;         /* a NAK is out for epsn: silence until it comes (9.7.5.2.8) */
	bool gave_up;          /* failed without a NAK: what came before is still answered */
	struct replay replay;  /* READs and atomics: being answered, and kept for duplicates */
	bool ack_pending;
	bool ack_stands_back; /* a request that is ready goes before it */
	uint32_t ack_psn;
	uint8_t ack_syndrome;
};

#endif
