/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended reliable connections of a random workload: an end that sends, an end that receives, and
 * at each node of the receiver's device an SRQ that any request may name, whichever client made the
 * receiving QP. Internal to workload*.c.
 */
#ifndef SIM_WORKLOAD_XRC_H
#define SIM_WORKLOAD_XRC_H

#include "model.h"

struct workload;
struct workload_end;

/* What a node has when it receives in a domain. */
struct workload_xrc {
	uint32_t xrcd; /* 0: nothing */
	struct vsrq srq;
	struct model_recvs *recvs;
};

/* A sending and a receiving end, not connected. */
void workload_xrc_make(struct workload *l, struct workload_end *send, struct workload_end *recv);

/* Draws the node that the request works at. */
void workload_xrc_target(struct workload *l, struct workload_end *e, struct vsend *wr,
			 struct model_more *more);

/* Receives for one of the SRQs that messages to the receiving end may name, or its limit. */
void workload_xrc_recvs(struct workload *l, struct workload_end *e, uint32_t n);

/* A message to an SRQ that there is not. */
void workload_xrc_poison(struct workload *l, struct workload_end *e);

#endif
