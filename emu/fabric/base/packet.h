/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet of the model, and the store that packets come from. The model looks at size,
 * hosts, flow, class and ECN field; the rest is its sender's. A store grows by as much as it has
 * when it is empty, so that a run that has found its depth allocates no more.
 */
#ifndef FABRIC_PACKET_H
#define FABRIC_PACKET_H

#include <stdint.h>

#define FABRIC_CLASSES 8u

enum fabric_ecn { FABRIC_NOT_ECT = 0, FABRIC_ECT = 2, FABRIC_CE = 3 }; /* RFC 3168 */

struct fabric_packet {
	struct fabric_packet *next; /* of the queue, link or store in which it is */
	uint64_t next_at;           /* on a link: when the next one has arrived */
	uint32_t bytes;             /* Ethernet header to FCS */
	uint32_t src;               /* hosts */
	uint32_t dst;
	uint32_t flow;      /* what the hash of ECMP sees of the five-tuple */
	uint32_t from_port; /* in a switch: where it came in */
	uint8_t class;
	uint8_t ecn;
	/* The sender's. */
	uint8_t kind;
	uint8_t flags;
	uint16_t length;
	uint32_t qp;
	uint32_t psn;
	uint32_t other;
	uint64_t stamp;
};

struct fabric_store {
	struct fabric_packet *free;
	struct fabric_chunk *chunks;
	uint32_t total; /* packets that there are, in use or not */
};

void fabric_store_init(struct fabric_store *s);
void fabric_store_fini(struct fabric_store *s);

/* Adds packets to an empty store. 0 or -ENOMEM. */
int fabric_store_grow(struct fabric_store *s);

/* A packet with any content; NULL: no memory. */
static inline struct fabric_packet *fabric_store_get(struct fabric_store *s)
{
	struct fabric_packet *p;

	if (!s->free && fabric_store_grow(s) < 0)
		return 0;
	p = s->free;
	s->free = p->next;
	return p;
}

static inline void fabric_store_put(struct fabric_store *s, struct fabric_packet *p)
{
	p->next = s->free;
	s->free = p;
}

#endif
