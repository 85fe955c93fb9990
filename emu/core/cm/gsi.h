/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * General services interface: QP1, which no program owns (IBTA vol. 1, 13.5.3; annex A17 for
 * RoCEv2). Takes management datagrams in and sends them; only the class of communication
 * management is served.
 */
#ifndef CORE_GSI_H
#define CORE_GSI_H

#include "emu/core/base/base.h"
#include "emu/core/contract/verbs.h"
#include "wire/mad.h"

/* Messages that wait to be sent; what comes beyond is lost, as on a network. */
#define GSI_MAX 8192u

struct gsi {
	struct list queue;
	uint32_t waiting;
	uint32_t psn;
	uint8_t current[ROCE_MAD_LENGTH]; /* of the burst that was handed out last */
};

void gsi_construct(struct gsi *g);
void gsi_destruct(struct gsi *g);

/* Queues a MAD; only the addresses and the traffic class of the flow count. */
void gsi_send(struct device *dev, const struct roce_flow *flow, const uint8_t mad[ROCE_MAD_LENGTH]);

/* The next MAD as a burst, valid until the next call. False when there is none. */
bool gsi_transmit(struct gsi *g, struct core_burst *out);

/* A packet for QP1 has come. */
void gsi_receive(struct device *dev, const struct core_burst *t);

#endif
