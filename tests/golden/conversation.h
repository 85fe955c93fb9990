/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One capture of Linux soft-RoCE (README.md) as a list of packets, with the two questions that a
 * replay asks of it: what does the message that starts here consist of, and what was answered.
 */
#ifndef GOLDEN_CONVERSATION_H
#define GOLDEN_CONVERSATION_H

#include "tests/support/wire/pcap.h"
#include "wire/packet.h"
#include "wire/udpip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONVERSATION_MTU     1024u /* of every capture */
#define CONVERSATION_MESSAGE 65536u

/* One captured packet; its payload points into the file's bytes. */
struct spoken {
	unsigned line; /* in the capture's .txt file, from 1 */
	uint64_t time; /* ns */
	struct roce_flow flow;
	struct roce_packet pkt;
};

enum conversation_part {
	CONVERSATION_TRAFFIC, /* all but that of QP 1 */
	CONVERSATION_CM,      /* that of QP 1 */
};

struct conversation {
	const char *name;
	struct pcap file;
	struct spoken *packet;
	unsigned n;
};

/* One message, or the answer to one request. */
struct message {
	uint32_t length;
	const struct spoken *last;
	uint8_t data[CONVERSATION_MESSAGE];
};

/* Reads tests/golden/captures/NAME.pcap; fails the running test when that does not work. */
void conversation_open(struct conversation *c, const char *name, enum conversation_part part);
void conversation_close(struct conversation *c);

/* ACK, READ response or atomic acknowledge; everything else is a request. */
bool packet_is_answer(const struct roce_packet *pkt);

static inline enum roce_operation packet_operation(const struct roce_packet *pkt)
{
	return roce_opcode_info(pkt->bth.opcode)->operation;
}

/* Both packets were sent by the same end. */
bool spoken_together(const struct spoken *a, const struct spoken *b);

/* The message that starts with packet "first", a request; fails when its end is missing. */
void conversation_message(const struct conversation *c, unsigned first, struct message *out);

/*
 * What the other end answered to packet "request", a READ or an atomic: the data, and the last
 * packet of it. Fails when the answer is not whole.
 */
void conversation_answer(const struct conversation *c, unsigned request, struct message *out);

#endif
