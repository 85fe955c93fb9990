/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ACKs, NAKs and timeouts at the sender. Connections that wait for an ACK are in one list of their
 * host, in the order of their last progress: all have the same timeout, so its head is due first.
 */
#include "engine.h"

/* ---- the list of those that wait ---- */

static void unlink_watched(struct sim_host *h, struct sim_connection *c)
{
	if (c->older)
		c->older->newer = c->newer;
	else
		h->oldest = c->newer;
	if (c->newer)
		c->newer->older = c->older;
	else
		h->newest = c->older;
	c->watched = false;
}

static void watch(struct sim *s, struct sim_connection *c, uint64_t now)
{
	struct sim_host *h = host_of(s, c);

	if (c->watched)
		unlink_watched(h, c);
	c->watched = true;
	c->progress = now;
	c->newer = NULL;
	c->older = h->newest;
	if (h->newest) {
		h->newest->newer = c;
	} else {
		h->oldest = c;
		fabric_timer(s->fabric, c->src * HOST_TIMERS + HOST_TIMEOUT, now + s->settings.rto);
	}
	h->newest = c;
}

/* The first packet in flight begins the timeout. */
void acknowledge_watch(struct sim *s, struct sim_connection *c, uint64_t now)
{
	if (!c->watched)
		watch(s, c, now);
}

/* ---- losses ---- */

/* All packets in flight of which no ACK is known are sent again. */
static void go_back(struct sim *s, struct sim_connection *c, bool timeout)
{
	switch (s->settings.retransmit) {
	case SIM_RESTART:
		c->una = c->next = c->asked = c->first;
		return;
	case SIM_GO_BACK_N:
		c->next = c->asked = c->una;
		return;
	case SIM_SELECTIVE:
		if (!c->recovers || timeout) {
			c->recovers = true;
			c->repair = c->una;
			c->recovered = c->next;
		}
		if (timeout)
			c->sacked = c->next;
		return;
	}
}

void acknowledge_timeouts(struct sim *s, uint32_t host, uint64_t now)
{
	struct sim_host *h = &s->hosts[host];

	while (h->oldest && h->oldest->progress + s->settings.rto <= now) {
		struct sim_connection *c = h->oldest;

		s->counters.timeouts++;
		watch(s, c, now);
		if (s->settings.retransmit == SIM_RESTART)
			receive_restart(s, c);
		c->nak_sent = false;
		go_back(s, c, true);
		cc_loss(&c->cc, to_ns(now));
		send_schedule(s, c, now);
	}
	fabric_timer(s->fabric, host * HOST_TIMERS + HOST_TIMEOUT,
		     h->oldest ? h->oldest->progress + s->settings.rto : FABRIC_NEVER);
	send_pump(s, host, now);
}

/* ---- ACKs ---- */

static void advance(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
		    uint64_t now)
{
	const struct cc_ack a = {.rtt = to_ns(now - k->stamp),
				 .through = k->psn,
				 .sent = c->highest,
				 .packets = k->psn - c->una,
				 .marked = k->length};

	for (; c->una != k->psn; c->una++)
		if (c->bits)
			sim_set_bit(sim_sent_bits(c), c->una, false);
	if (c->next < c->una)
		c->next = c->una;
	if (c->sacked < c->una)
		c->sacked = c->una;
	if (c->una >= c->recovered)
		c->recovers = false;
	cc_ack(&c->cc, &a, to_ns(now));
	if (c->una != c->next)
		watch(s, c, now);
	else if (c->watched)
		unlink_watched(host_of(s, c), c);
}

static void selective(struct sim_connection *c, const struct fabric_packet *k)
{
	const uint32_t psn = k->other;

	if (psn < c->una || psn >= c->next)
		return;
	sim_set_bit(sim_sent_bits(c), psn, true);
	if (psn >= c->sacked)
		c->sacked = psn;
}

void acknowledge(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
		 uint64_t now)
{
	const bool restarted = s->settings.retransmit == SIM_RESTART && k->kind == SIM_NAK;

	/* Where ACKs echo marks, an echo takes the place of a CNP. */
	if (s->settings.echo && k->length && c->cc.settings->ops->on_cnp) {
		s->counters.cnps++;
		cc_cnp(&c->cc, to_ns(now));
	}
	if (k->psn > c->una && k->psn <= c->highest && !restarted)
		advance(s, c, k, now);
	if (k->kind == SIM_SACK && c->bits)
		selective(c, k);
	if ((k->kind == SIM_NAK || k->kind == SIM_SACK) && c->una != c->next) {
		const bool fresh = !c->recovers;

		s->counters.naks += k->kind == SIM_NAK;
		go_back(s, c, false);
		if (fresh)
			cc_loss(&c->cc, to_ns(now));
	}
	if (c->active && c->una == c->end) {
		c->active = false;
		c->last_done = now;
		s->ops->done(s->user, c, now);
	}
	send_schedule(s, c, now);
	send_pump(s, c->src, now);
}
