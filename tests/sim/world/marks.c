/* SPDX-License-Identifier: BSD-2-Clause */
/* The network that marks packets, and its log: see marks.h. */
#include "marks.h"

#include "emu/core/qp/queue_pair.h"

#include <string.h>

void marks_config(struct marks *m, const char *control)
{
	m->cfg = world_config();
	m->cfg.look.port[0].width = 1;
	m->cfg.look.port[0].speed = 1;
	m->rng = prng_start("marks");
	for (unsigned i = 0; control && cc_at(i); i++)
		if (strcmp(cc_at(i)->name, control) == 0)
			cc_settings_init(&m->cfg.congestion.control, cc_at(i));
	assert_true(!control || m->cfg.congestion.control.ops);
}

void marks_set(struct marks *m, const char *name, uint64_t value)
{
	const struct cc_param *p = m->cfg.congestion.control.ops->params;
	unsigned i = 0;

	while (p[i].name && strcmp(p[i].name, name) != 0)
		i++;
	assert_non_null(p[i].name);
	m->cfg.congestion.control.value[i] = value;
}

static enum world_verdict pass(void *arg, struct world_packet *k)
{
	struct marks *m = arg;

	assert_true(m->n < MARKS_LOG);
	m->log[m->n++] = (struct marks_packet){k->now, k->from, k->pkt, k->flow.tclass};
	if (roce_flow_ecn(&k->flow) != ROCE_NOT_ECT && prng_chance(&m->rng, m->chance[k->from]))
		roce_flow_set_ecn(&k->flow, ROCE_CE);
	return WORLD_PASS;
}

void marks_start(struct marks *m, const struct pair_options *o)
{
	struct pair_options with = *o;

	with.cfg = &m->cfg;
	pair_create(&m->p, &with);
	rules_detach(&m->p.rules);
	m->p.w->filter = pass;
	m->p.w->filter_arg = m;
}

struct qp *marks_qp(const struct side *s)
{
	const unsigned i = s == &s->pair->b;

	return device_find_qp(s->pair->w->device[i].host.dev, s->qp.qpn);
}

const struct core_counters *marks_counters(const struct side *s)
{
	return core_counters(s->pair->w->device[s == &s->pair->b].host.dev);
}

static bool is(const struct marks_packet *k, unsigned from, enum roce_operation op)
{
	return k->from == from && roce_opcode_info(k->pkt.bth.opcode)->operation == op;
}

unsigned marks_count(const struct marks *m, unsigned from, enum roce_operation op)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n; i++)
		n += is(&m->log[i], from, op);
	return n;
}

const struct marks_packet *marks_nth(const struct marks *m, unsigned from, enum roce_operation op,
				     unsigned n)
{
	for (unsigned i = 0; i < m->n; i++)
		if (is(&m->log[i], from, op) && n-- == 0)
			return &m->log[i];
	return NULL;
}

void marks_notify(struct marks *m, struct side *s)
{
	static const uint8_t reserved[ROCE_CNP_RESERVED];
	const struct qp *to = marks_qp(s);
	struct roce_flow flow = to->flow;
	struct roce_packet pkt;
	struct core_burst t;

	roce_packet_cnp(&pkt, to->qpn, 0xffff);
	pkt.payload = reserved;
	pkt.payload_len = ROCE_CNP_RESERVED;
	memcpy(flow.src, to->flow.dst, sizeof(flow.src));
	memcpy(flow.dst, to->flow.src, sizeof(flow.dst));
	core_burst_start(&t, &pkt, &flow);
	core_rx(to->dev, m->p.w->now, &t);
	s->c.host->dirty = true;
}
