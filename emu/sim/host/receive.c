/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data at the receiver, which is the notification point too: a marked packet brings a CNP, if the
 * last one is long enough ago, or is counted in the next ACK.
 */
#include "engine.h"

static void answer(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
		   uint8_t kind, uint64_t now)
{
	const struct fabric_packet what = {.kind = kind,
					   .psn = c->expected,
					   .other = k->psn, /* the one that a SACK is about */
					   .length = (uint16_t)c->marked,
					   .stamp = k->stamp};

	c->since_ack = 0;
	c->marked = 0;
	send_control(s, c, false, what, now);
}

static void notify(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
		   uint64_t now)
{
	if (k->ecn != FABRIC_CE)
		return;
	s->counters.ce++;
	if (s->settings.echo) {
		c->marked++;
	} else if (now >= c->next_cnp) {
		c->next_cnp = now + s->settings.cnp_interval;
		send_control(s, c, false, (struct fabric_packet){.kind = SIM_CNP}, now);
	}
}

static void take_bytes(struct sim *s, struct sim_connection *c, uint64_t length)
{
	c->delivered += length;
	s->counters.delivered += length;
}

/* Of a message that is complete nothing is thrown away, though its sender may not know yet. */
uint64_t sim_unsure(const struct sim *s, const struct sim_connection *c)
{
	if (s->settings.retransmit != SIM_RESTART || c->expected == c->end)
		return 0;
	return (uint64_t)(c->expected - c->first) * s->settings.mtu;
}

void receive_restart(struct sim *s, struct sim_connection *c)
{
	const uint64_t lost = sim_unsure(s, c);

	c->delivered -= lost;
	s->counters.delivered -= lost;
	if (c->expected != c->end)
		c->expected = c->first;
}

/*
 * The expected packet, and those behind it that came before it. A gap that closes is told at
 * once.
 */
static void in_order(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
		     uint64_t now)
{
	const bool gap = c->nak_sent;

	c->nak_sent = false;
	take_bytes(s, c, k->length);
	c->expected++;
	while (c->bits && sim_bit(c->bits, c->expected) && c->expected != c->end) {
		sim_set_bit(c->bits, c->expected, false);
		c->expected++;
	}
	c->since_ack++;
	if (c->expected == c->end) {
		answer(s, c, k, SIM_ACK, now);
		s->ops->received(s->user, c, now);
	} else if (c->since_ack >= s->settings.ack_every || gap || k->flags & SIM_ASKS) {
		answer(s, c, k, SIM_ACK, now);
	}
}

static void out_of_order(struct sim *s, struct sim_connection *c, const struct fabric_packet *k,
			 uint64_t now)
{
	s->counters.out_of_order++;
	if (c->bits) {
		if (!sim_bit(c->bits, k->psn))
			take_bytes(s, c, k->length);
		sim_set_bit(c->bits, k->psn, true);
		c->nak_sent = true;
		answer(s, c, k, SIM_SACK, now);
		return;
	}
	if (c->nak_sent)
		return;
	c->nak_sent = true;
	if (s->settings.retransmit == SIM_RESTART)
		receive_restart(s, c);
	answer(s, c, k, SIM_NAK, now);
}

void receive_data(struct sim *s, struct sim_connection *c, struct fabric_packet *k, uint64_t now)
{
	notify(s, c, k, now);
	if (k->psn == c->expected)
		in_order(s, c, k, now);
	else if (k->psn > c->expected)
		out_of_order(s, c, k, now);
	else
		answer(s, c, k, SIM_ACK, now);
}
