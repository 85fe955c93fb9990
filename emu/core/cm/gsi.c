/* SPDX-License-Identifier: BSD-2-Clause */
/* See gsi.h. What is not a whole MAD with the right key is dropped (IBTA vol. 1, 13.5.3.3). */
#include "gsi.h"

#include "cm.h"
#include "emu/core/base/base.h"
#include "wire/psn.h"

#include <stdlib.h>
#include <string.h>

#define HOP_LIMIT 64

struct gsi_mad {
	struct list link;
	struct roce_flow flow;
	uint8_t mad[ROCE_MAD_LENGTH];
};

void gsi_construct(struct gsi *g)
{
	memset(g, 0, sizeof(*g));
	list_init(&g->queue);
}

static struct gsi_mad *mad_dequeue(struct gsi *g)
{
	struct gsi_mad *m = list_entry(g->queue.next, struct gsi_mad, link);
	list_remove(&m->link);
	g->waiting--;
	return m;
}

void gsi_destruct(struct gsi *g)
{
	while (!list_empty(&g->queue))
		free(mad_dequeue(g));
}

void gsi_send(struct device *dev, const struct roce_flow *flow, const uint8_t mad[ROCE_MAD_LENGTH])
{
	struct gsi *g = dev->gsi;
	struct gsi_mad *m = g->waiting < GSI_MAX ? malloc(sizeof(*m)) : NULL;
	if (!m)
		return; /* the sender repeats it */
	m->flow = (struct roce_flow){.tclass = flow->tclass, .hop_limit = HOP_LIMIT};
	memcpy(m->flow.src, flow->src, sizeof(flow->src));
	memcpy(m->flow.dst, flow->dst, sizeof(flow->dst));
	m->flow.sport = source_port_datagram(ROCE_GSI_QPN);
	m->flow.dport = ROCE_UDP_PORT;
	memcpy(m->mad, mad, ROCE_MAD_LENGTH);
	list_append(&g->queue, &m->link);
	g->waiting++;
}

bool gsi_transmit(struct gsi *g, struct core_burst *t)
{
	if (list_empty(&g->queue))
		return false;
	struct gsi_mad *m = mad_dequeue(g);
	memset(&t->head, 0, sizeof(t->head));
	t->head.bth.opcode.v = ROCE_UD_SEND_ONLY;
	t->head.bth.migreq = true;
	t->head.bth.pkey = 0xffff;
	t->head.bth.dest_qp = ROCE_GSI_QPN;
	t->head.bth.psn = g->psn;
	t->head.deth = (struct roce_deth){.qkey = ROCE_GSI_QKEY, .src_qp = ROCE_GSI_QPN};
	t->flow = m->flow;
	t->last_opcode = t->head.bth.opcode;
	t->last_ackreq = t->last_solicited = t->from_network = false;
	t->count = 1;
	t->segment = t->length = ROCE_MAD_LENGTH;
	memcpy(g->current, m->mad, ROCE_MAD_LENGTH);
	t->n_iov = 1;
	t->iov[0] = (struct iovec){g->current, ROCE_MAD_LENGTH};
	g->psn = psn_add(g->psn, 1);
	free(m);
	return true;
}

static bool acceptable(struct device *dev, const struct core_burst *t)
{
	enum core_drop why;

	if (t->head.bth.opcode.v != ROCE_UD_SEND_ONLY)
		why = CORE_DROP_SERVICE;
	else if ((t->head.bth.pkey & 0x7fffu) != 0x7fffu)
		why = CORE_DROP_PKEY;
	else if (t->head.deth.qkey != ROCE_GSI_QKEY)
		why = CORE_DROP_QKEY;
	else if (t->count != 1 || t->length != ROCE_MAD_LENGTH)
		why = CORE_DROP_LENGTH;
	else if (device_find_gid(dev, t->flow.dst) < 0)
		why = CORE_DROP_ADDRESS;
	else
		return true;
	device_drop(dev, ROCE_GSI_QPN, t, why);
	return false;
}

void gsi_receive(struct device *dev, const struct core_burst *t)
{
	uint8_t mad[ROCE_MAD_LENGTH];
	struct roce_cm_msg msg;
	size_t done = 0;

	if (!acceptable(dev, t))
		return;
	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(mad + done, t->iov[i].iov_base, t->iov[i].iov_len);
		done += t->iov[i].iov_len;
	}
	if (roce_cm_parse(mad, &msg))
		cm_receive(dev, &t->flow, &msg);
	else
		device_drop(dev, ROCE_GSI_QPN, t, CORE_DROP_SERVICE);
}
