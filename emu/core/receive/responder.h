/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The responder half of a QP: checks each request train stage by stage, executes it, and queues
 * what is to be answered (IBTA vol. 1, 9.7.4 to 9.7.5 for RC, 9.8.2 UC, 9.8.3 UD).
 */
#ifndef CORE_RESPONDER_H
#define CORE_RESPONDER_H

#include "emu/core/qp/replay.h"
#include "emu/core/queues/recv_queue.h"

#include <stdbool.h>
#include <stddef.h>
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

struct qp;
struct core_train;

void responder_reset(struct qp *qp);

/* INIT to RTR: the expected PSN from the QP's attributes. */
void responder_start(struct qp *qp);

/* A train of requests for a connected QP (RC, UC). */
void responder_receive(struct qp *qp, const struct core_train *t);

/* A datagram (UD). In responder_ud.c. */
void responder_receive_ud(struct qp *qp, const struct core_train *t);

/* Builds the next answer: READ response, atomic acknowledge, ACK or NAK. In answer.c. */
bool responder_transmit(struct qp *qp, uint8_t *buf, size_t cap, struct core_train *out);

#endif
