/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sending: connections that may send take turns, a packet each, as the link becomes free. One that
 * its rate holds back waits in its host's queue; one that its window holds back waits for an ACK.
 */
#include "engine.h"

/* ---- which packet ---- */

/* Selective: the next one that was lost, as far as is known; c->next: none. */
static uint32_t next_repair(struct sim_connection *c)
{
	while (c->recovers && c->repair < c->sacked) {
		if (c->repair >= c->una && !sim_bit(sim_sent_bits(c), c->repair))
			return c->repair;
		c->repair++;
	}
	return c->next;
}

/* An ACK will come of what is in flight, or its loss be found out. */
static bool is_owed(const struct sim *s, const struct sim_connection *c)
{
	return c->next - c->una >= s->settings.ack_every || c->asked > c->una;
}

/* A window that was cut holds no more packets, but one that asks for an ACK if none is to come. */
static bool has_packet(const struct sim *s, struct sim_connection *c)
{
	const uint32_t flight = c->next - c->una;

	if (c->bits && next_repair(c) != c->next)
		return true;
	if (c->next == c->end || (c->bits && flight >= SIM_BITS))
		return false;
	return (uint64_t)(flight + 1) * (s->settings.mtu + s->settings.header) <= c->cc.window ||
	       !is_owed(s, c);
}

/* ---- when ---- */

static bool is_paced(const struct sim_connection *c)
{
	return c->cc.rate < c->cc.line_rate;
}

/* When the rate allows the next packet: the last one takes its time at the rate of now. */
static uint64_t paced_time(const struct sim_connection *c)
{
	return c->last_sent +
	       (uint64_t)((unsigned __int128)c->last_bytes * UINT64_C(8000000000000) / c->cc.rate);
}

/* Packets for an ACK would come when the timeout is near. */
static bool is_slow(const struct sim *s, const struct sim_connection *c)
{
	return is_paced(c) &&
	       (unsigned __int128)(paced_time(c) - c->last_sent) * s->settings.ack_every >
		       s->settings.rto / 2;
}

static void wait_paced(struct sim *s, struct sim_connection *c, uint64_t until)
{
	struct sim_host *h = host_of(s, c);

	if (c->cc.deadline != CC_NEVER && c->cc.deadline * 1000 < until)
		until = c->cc.deadline * 1000;
	fabric_events_set(&h->paced, c->number, until);
	fabric_timer(s->fabric, c->src * HOST_TIMERS + HOST_PACED, fabric_events_next(&h->paced));
}

/* It gets its turn, now or when it may. */
void send_schedule(struct sim *s, struct sim_connection *c, uint64_t now)
{
	struct sim_host *h = host_of(s, c);

	if (c->ready || fabric_events_is_set(&h->paced, c->number) || !has_packet(s, c))
		return;
	if (is_paced(c)) {
		const uint64_t until = paced_time(c);

		if (until > now) {
			wait_paced(s, c, until);
			return;
		}
	}
	c->ready = true;
	c->next_ready = NULL;
	if (h->first_ready)
		h->last_ready->next_ready = c;
	else
		h->first_ready = c;
	h->last_ready = c;
}

void send_paced(struct sim *s, uint32_t host, uint64_t now)
{
	struct sim_host *h = &s->hosts[host];

	while (fabric_events_next(&h->paced) <= now) {
		struct sim_connection *c = sim_at(s, fabric_events_first(&h->paced));

		fabric_events_set(&h->paced, c->number, FABRIC_NEVER);
		if (c->cc.deadline <= to_ns(now))
			cc_timer(&c->cc, to_ns(now));
		send_schedule(s, c, now);
	}
	fabric_timer(s->fabric, host * HOST_TIMERS + HOST_PACED, fabric_events_next(&h->paced));
	send_pump(s, host, now);
}

/* ---- out ---- */

static uint32_t length_of(const struct sim *s, const struct sim_connection *c, uint32_t psn)
{
	const uint64_t before = (uint64_t)(psn - c->first) * s->settings.mtu;
	const uint64_t rest = c->bytes - before;

	return rest < s->settings.mtu ? (uint32_t)rest : s->settings.mtu;
}

static void send_packet(struct sim *s, struct sim_connection *c, uint64_t now)
{
	struct fabric_packet *k = fabric_packet_get(s->fabric);
	const uint32_t repair = c->bits ? next_repair(c) : c->next;
	const uint32_t psn = repair;

	if (!k)
		return;
	if (psn == c->next)
		c->next++;
	else
		c->repair++;
	*k = (struct fabric_packet){.src = c->src,
				    .dst = c->dst,
				    .flow = c->key,
				    .class = s->settings.data_class,
				    .ecn = FABRIC_ECT,
				    .kind = SIM_DATA,
				    .length = (uint16_t)length_of(s, c, psn),
				    .qp = c->number,
				    .psn = psn,
				    .stamp = now};
	k->bytes = k->length + s->settings.header;
	s->counters.data++;
	if (psn < c->highest)
		s->counters.retransmits++;
	else
		c->highest = psn + 1;
	c->last_sent = now;
	c->last_bytes = k->bytes;
	cc_sent(&c->cc, k->bytes, to_ns(now));
	if (!has_packet(s, c) || is_slow(s, c)) {
		k->flags = SIM_ASKS;
		c->asked = psn + 1 > c->asked ? psn + 1 : c->asked;
	}
	acknowledge_watch(s, c, now);
	fabric_send(s->fabric, c->src, k, now);
}

static struct sim_connection *take_ready(struct sim_host *h)
{
	struct sim_connection *c = h->first_ready;

	if (c) {
		h->first_ready = c->next_ready;
		c->ready = false;
	}
	return c;
}

/* As much as the link takes; ready calls it again. */
void send_pump(struct sim *s, uint32_t host, uint64_t now)
{
	struct sim_host *h = &s->hosts[host];

	while (h->first_ready) {
		struct sim_connection *c;

		if (!fabric_idle(s->fabric, host, s->settings.data_class, now)) {
			fabric_want(s->fabric, host, s->settings.data_class, now);
			return;
		}
		c = take_ready(h);
		if (c->closed) {
			sim_close(s, c);
			continue;
		}
		/* Since it got into the list a CNP or an ACK may have come. */
		if (is_paced(c) && paced_time(c) > now) {
			send_schedule(s, c, now);
			continue;
		}
		if (has_packet(s, c))
			send_packet(s, c, now);
		send_schedule(s, c, now);
	}
}

void send_control(struct sim *s, const struct sim_connection *c, bool from_src,
		  struct fabric_packet what, uint64_t now)
{
	struct fabric_packet *k = fabric_packet_get(s->fabric);

	if (!k)
		return;
	what.src = from_src ? c->src : c->dst;
	what.dst = from_src ? c->dst : c->src;
	what.flow = ~c->key;
	what.qp = c->number;
	what.class = what.kind == SIM_CNP ? s->settings.cnp_class : s->settings.ack_class;
	what.bytes = what.kind == SIM_CNP ? s->settings.cnp_bytes : s->settings.ack_bytes;
	*k = what;
	fabric_send(s->fabric, what.src, k, now);
}
