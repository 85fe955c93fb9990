/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receives of a random workload in memory that the peer may reach, too: what it sends is read,
 * added to and written over by its later requests, and by others when it has seen its completion,
 * before and after the receive is polled. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_INBOX_H
#define SIM_WORKLOAD_INBOX_H

#include "model.h"

struct workload;
struct workload_end;

/* Memory of the end's peer, for receives of what the end sends. */
struct workload_inbox {
	struct vmr mr;    /* with all remote rights; length 0: there is none */
	struct vmr local; /* the same memory by a key without any */
	uint64_t used;    /* bytes given out */
	struct {
		struct model_recvs *of;
		unsigned index;
		enum { INBOX_NOTHING, INBOX_STORES, INBOX_READS } use;
	} now; /* what the request that is being made works on */
};

void workload_inbox_make(struct workload *l, struct workload_end *e);

/* Room for a receive of the end's peer. */
bool workload_inbox_take(struct workload *l, struct workload_end *e, uint32_t room,
			 struct vmr *from);

/* A place among the receives of the end's peer for a request of the end; may shorten it. */
bool workload_inbox_target(struct workload *l, struct workload_end *e, struct vsend *wr,
			   uint32_t *length, struct model_place *there);

/* Bytes of a receive of the end's own to be sent, which it has not polled perhaps. */
bool workload_inbox_source(struct workload *l, struct workload_end *e, uint32_t length,
			   struct vmr *from);

/* The request is posted, or not. */
void workload_inbox_used(struct workload_end *e, bool posted);

#endif
