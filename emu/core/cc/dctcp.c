/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DCTCP (Alizadeh et al., SIGCOMM 2010; RFC 8257), beginning with a window of one bandwidth-delay
 * product in place of a slow start. It needs a receiver that echoes marks.
 */
#include "controls.h"

enum { G, CWND_MAX };

#define PACKET (UINT64_C(1) << 16)

static const struct cc_param params[] = {
	{"g", CC_RATIO, CC_RATIO_ONE / 16, 1, CC_RATIO_ONE, "weight of a round trip in alpha"},
	{"max", CC_COUNT, 1000, 1, 65536, "packets of the largest window"},
	{0}};

static void settle(struct cc_flow *f)
{
	struct cc_dctcp *d = &f->s.dctcp;

	d->cwnd = cc_least(cc_most(d->cwnd, PACKET), f->settings->value[CWND_MAX] * PACKET);
	f->window = (d->cwnd * f->packet) >> 16;
}

static void start(struct cc_flow *f, uint64_t now)
{
	(void)now;
	f->s.dctcp =
		(struct cc_dctcp){.cwnd = (cc_bdp(f) << 16) / f->packet, .alpha = CC_RATIO_ONE};
	settle(f);
}

static void end_round(struct cc_flow *f)
{
	struct cc_dctcp *d = &f->s.dctcp;
	const uint64_t g = f->settings->value[G];

	d->alpha = cc_part(d->alpha, CC_RATIO_ONE - g) +
		   cc_part(g, ((uint64_t)d->marked << 32) / d->packets);
	d->cwnd = d->marked ? d->cwnd - cc_part(d->cwnd, d->alpha / 2) : d->cwnd + PACKET;
	d->packets = d->marked = 0;
}

static void on_ack(struct cc_flow *f, const struct cc_ack *a, uint64_t now)
{
	struct cc_dctcp *d = &f->s.dctcp;

	(void)now;
	d->packets += a->packets;
	d->marked += a->marked;
	if (a->through <= d->round_end || !d->packets)
		return;
	end_round(f);
	d->round_end = a->sent;
	settle(f);
}

static void on_loss(struct cc_flow *f, uint64_t now)
{
	(void)now;
	f->s.dctcp.cwnd /= 2;
	settle(f);
}

const struct cc_ops cc_dctcp = {.name = "dctcp",
				.help = "DCTCP: a window cut by the part of marked packets",
				.params = params,
				.echo = true,
				.start = start,
				.on_ack = on_ack,
				.on_loss = on_loss};
