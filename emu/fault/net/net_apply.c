/* SPDX-License-Identifier: BSD-2-Clause */
/* What each action does to a packet. A rule that hits what it cannot be done to is told as such. */
#include "net_state.h"

#include "cm_answer.h"
#include "forge.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <string.h>

/* A packet that nobody overtakes waits no longer than this, unless its rule says how long. */
#define OVERTAKEN_TIME UINT64_C(100000000)

#define NEVER (UINT64_MAX - 1)

/* Of a line that is slow, where its rule says nothing: bytes, as a switch has for a port. */
#define RATE_QUEUE (UINT64_C(8) << 20)

static uint64_t later(uint64_t now, uint64_t time)
{
	return time > NEVER - now ? NEVER : now + time;
}

static void note_unfit(struct fault_passage *w)
{
	struct core_burst t;

	fault_packet_burst(&w->packet, &t);
	fault_net_note(w->net, FAULT_NOTE_UNFIT, &t, w->now);
}

static void lose(struct fault_passage *w, bool malformed)
{
	if (!w->gone)
		fault_net_lose(w->net, &w->packet, malformed, w->now);
	w->gone = true;
}

/* At once, or so much later. */
static void send(struct fault_passage *w, const struct fault_packet *p, bool made, uint64_t time)
{
	struct core_burst t;
	struct fault_to_hold what = {.burst = &t,
				     .dir = p->dir,
				     .since = w->now,
				     .due = later(w->now, time),
				     .made = made};

	fault_packet_burst(p, &t);
	if (time)
		fault_net_leave_later(w->net, &what, w->now);
	else
		fault_net_leave(w->net, &what, w->now);
}

/* ---- packets ---- */

static void duplicate(struct fault_passage *w, const struct fault_value *v)
{
	for (uint64_t i = v->number ? v->number : 1; i > 0; i--) {
		w->net->counters.copies++;
		send(w, &w->packet, false, v->time);
	}
}

static void reorder(struct fault_passage *w, const struct fault_value *v)
{
	w->behind = v->number ? v->number : 1;
	w->behind_time = v->time ? v->time : OVERTAKEN_TIME;
}

static uint64_t bits_of(const struct fault_packet *p)
{
	unsigned ip = roce_flow_is_v4(&p->flow) ? ROCE_IPV4_LENGTH : ROCE_IPV6_LENGTH;

	return fault_packet_bits(p) + (ip + ROCE_UDP_LENGTH + ROCE_ICRC_LENGTH) * 8;
}

static uint64_t jittered(const struct fault_passage *w, const struct fault_entry *e)
{
	const struct fault_value *v = &e->rule.value;

	if (!v->jitter)
		return v->number;
	return v->number + fault_plan_random(w->net->plan, e->number, v->jitter + 1);
}

static uint64_t leaving(const struct fault_passage *w, const struct fault_entry *e,
			struct fault_lane *l, uint64_t at)
{
	if (e->rule.action == FAULT_DELAY)
		return fault_lane_delay(l, at, jittered(w, e));
	if (e->rule.action == FAULT_PAUSE)
		return fault_lane_wait(l, at);
	return fault_lane_rate(l, at, e->rule.value.number, bits_of(&w->packet));
}

static struct fault_lane_limit limit_of(const struct fault_rule *r)
{
	struct fault_lane_limit limit = {.packets = r->value.limit_packets,
					 .bytes = r->value.limit_bytes};

	if (r->action == FAULT_RATE && !limit.packets && !limit.bytes)
		limit.bytes = RATE_QUEUE;
	return limit;
}

static uint64_t earliest(const struct fault_passage *w)
{
	return w->due > w->now ? w->due : w->now;
}

/* A packet that is lost takes none of the line's time. */
static void queue_up(struct fault_passage *w, const struct fault_entry *e, struct fault_lane *l)
{
	const struct fault_lane_limit limit = limit_of(&e->rule);
	uint64_t at = earliest(w);
	struct fault_lane_waiting packet = {.bytes = (uint32_t)(bits_of(&w->packet) / 8)};
	struct fault_lane before = *l;
	struct core_burst t;

	packet.leaves = leaving(w, e, l, at);
	if (fault_lane_enter(l, &limit, at, &packet)) {
		w->due = packet.leaves;
		return;
	}
	*l = before;
	w->gone = true;
	fault_packet_burst(&w->packet, &t);
	fault_net_overflow(w->net, &(struct fault_to_hold){.burst = &t, .dir = w->packet.dir},
			   w->now);
}

static void hold_back(struct fault_passage *w, const struct fault_entry *e)
{
	struct fault_lane *l = fault_lane_of(&w->net->lanes, w->net->plan, e, w->packet.dir);

	if (l)
		queue_up(w, e, l);
	else
		note_unfit(w);
}

/* Only begins it: who waits for its end is seen to when all rules have had their say. */
static void pause_line(struct fault_passage *w, const struct fault_entry *e)
{
	const uint64_t from = e->rule.limit.period ? e->tick : earliest(w);

	for (enum fault_direction dir = FAULT_TX; dir <= FAULT_RX; dir++) {
		struct fault_lane *l;

		if (e->rule.select.direction != FAULT_BOTH && e->rule.select.direction != dir)
			continue;
		l = fault_lane_of(&w->net->lanes, w->net->plan, e, dir);
		if (l)
			fault_lane_pause(&w->net->lanes, l, from, e->rule.value.number);
		else
			note_unfit(w);
	}
}

/*
 * Behind a pause all of the line wait, whether the rule hit them or not: those that it would hit
 * but for opcode=, nth= and what else describes a packet. Where it is gone all do, to the end.
 */
void fault_net_stand_by(struct fault_passage *w)
{
	struct fault_lanes *all = &w->net->lanes;

	for (unsigned i = 0; i < all->count && all->paused_until && !w->gone; i++) {
		struct fault_lane *l = &all->lane[i];
		const struct fault_entry *e = fault_lane_rule(w->net->plan, l);

		if (!l->until || l->dir != w->packet.dir ||
		    (e && !fault_plan_is_of_line(w->net->plan, e, &w->subject)))
			continue;
		if (w->now < l->until)
			w->packet.model.rule = l->rule;
		if (e)
			queue_up(w, e, l);
		else
			w->due = fault_lane_wait(l, earliest(w));
	}
}

static uint64_t chosen(const struct fault_passage *w, const struct fault_entry *e, uint64_t below)
{
	if (e->rule.value.number2 != FAULT_BY_CHANCE || !below)
		return e->rule.value.number2;
	return fault_plan_random(w->net->plan, e->number, below);
}

static void judge_change(struct fault_passage *w, enum fault_change c)
{
	if (c == FAULT_MALFORMED)
		lose(w, true);
	else if (c == FAULT_UNCHANGED)
		note_unfit(w);
}

/* One bit of the payload, behind which the sender makes its checksum. */
static void corrupt_silently(struct fault_passage *w, const struct fault_entry *e)
{
	const struct roce_packet *pkt = &w->packet.pkt;
	const uint64_t byte = chosen(w, e, pkt->payload_len);
	struct fault_setting s = {.field = FAULT_FIELD_PAYLOAD, .index = byte};

	if (e->rule.select.by_byte)
		s.index -= w->packet.model.offset;
	if (s.index >= pkt->payload_len) {
		note_unfit(w);
		return;
	}
	s.value = pkt->payload[s.index] ^ 1u;
	judge_change(w, fault_packet_change(&w->packet, &s));
}

static void corrupt(struct fault_passage *w, const struct fault_entry *e)
{
	struct fault_packet *p = &w->packet;

	if (strcmp(e->rule.value.word, "bit") == 0)
		fault_packet_flip_bit(p, chosen(w, e, fault_packet_bits(p)));
	else if (strcmp(e->rule.value.word, "silent") == 0)
		corrupt_silently(w, e);
	else if (strcmp(e->rule.value.word, "payload") == 0)
		fault_packet_flip_payload(p, chosen(w, e, p->pkt.payload_len));
	else
		fault_packet_break_icrc(p);
}

static void set(struct fault_passage *w, const struct fault_value *v)
{
	const struct fault_setting s = {.field = v->field,
					.index = v->number,
					.value = v->number2,
					.relative = v->relative};

	judge_change(w, fault_packet_change(&w->packet, &s));
}

/* ---- in the name of the other end ---- */

static uint32_t sender(const struct fault_passage *w)
{
	return w->packet.dir == FAULT_TX ? w->subject.qpn : w->subject.peer_qpn;
}

static void send_made(struct fault_passage *w, const struct fault_packet *p,
		      const struct fault_value *v)
{
	w->net->counters.made++;
	send(w, p, true, v->time);
}

/* The requester sends it again after this. */
static bool comes_again(uint8_t syndrome)
{
	return roce_syndrome_kind(syndrome) == ROCE_RNR_NAK ||
	       syndrome == roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE);
}

/*
 * Where the responder is our own it is known what it expects: any other request it would answer
 * otherwise (a gap, a duplicate), and so it does. What a ghost did it takes for done.
 */
static bool is_expected(const struct fault_passage *w, const struct fault_responder *who)
{
	uint32_t psn = w->packet.pkt.bth.psn;
	struct fault_qp qp = {0};

	if (w->packet.dir == FAULT_TX || !w->net->ops->look_up ||
	    !w->net->ops->look_up(w->net->user, w->subject.qpn, &qp) || !qp.responds)
		return true;
	if (who->ghost && psn_diff(who->ghost_psn, qp.expected_psn) > 0)
		return psn == who->ghost_psn;
	return psn == qp.expected_psn;
}

static void remember_ghost(const struct fault_passage *w, struct fault_responder *who)
{
	if (roce_opcode_is_last(w->packet.pkt.bth.opcode))
		who->msn = psn_add(who->msn, 1);
	who->ghost = true;
	who->ghost_psn = psn_add(w->packet.pkt.bth.psn, 1);
}

/* An answer to a request; take: the request itself goes no further. */
static void answer(struct fault_passage *w, const struct fault_value *v, uint8_t syndrome,
		   bool take)
{
	struct fault_responder *who =
		fault_responders_find(&w->net->responders, w->packet.flow.dst, sender(w));
	struct fault_packet out;

	if (take && !is_expected(w, who)) {
		note_unfit(w);
		return;
	}
	if (take && roce_syndrome_kind(syndrome) == ROCE_ACK)
		remember_ghost(w, who);
	if (!sender(w) || !fault_answer(&w->packet, sender(w), syndrome, who, &out)) {
		note_unfit(w);
		return;
	}
	if (take && comes_again(syndrome))
		fault_responders_refuse(&w->net->responders, who, &w->packet, w->now);
	if (take)
		lose(w, false);
	send_made(w, &out, v);
}

static uint8_t ack_syndrome(const struct fault_passage *w)
{
	return roce_syndrome(
		ROCE_ACK,
		fault_responders_find(&w->net->responders, w->packet.flow.dst, sender(w))->credits);
}

/* What is read, fetched or flushed cannot be made up: only an ACK can. */
static void ghost(struct fault_passage *w, const struct fault_value *v)
{
	if (fault_is_message(&w->packet))
		answer(w, v, ack_syndrome(w), true);
	else
		note_unfit(w);
}

static void forge(struct fault_passage *w, const struct fault_value *v)
{
	uint8_t code = (uint8_t)v->number2;

	if (strcmp(v->word, "ack") == 0)
		answer(w, v, ack_syndrome(w), false);
	else if (strcmp(v->word, "rnr") == 0)
		answer(w, v, roce_syndrome(ROCE_RNR_NAK, code), false);
	else
		answer(w, v, roce_syndrome(ROCE_NAK, code), false);
}

static void congestion(struct fault_passage *w, const struct fault_value *v)
{
	struct fault_packet out;

	if (sender(w) && fault_answer_cnp(&w->packet, sender(w), &out))
		send_made(w, &out, v);
	else
		note_unfit(w);
}

static void reject(struct fault_passage *w, const struct fault_value *v)
{
	struct fault_packet out;

	if (!fault_cm_reject(&w->packet, (uint16_t)v->number, &out)) {
		note_unfit(w);
		return;
	}
	lose(w, false);
	send_made(w, &out, v);
}

static void send_mra(struct fault_passage *w, const struct fault_value *v)
{
	struct fault_packet out;

	if (fault_cm_mra(&w->packet, v->number, &out))
		send_made(w, &out, v);
	else
		note_unfit(w);
}

uint32_t fault_net_refused(struct fault_passage *w)
{
	struct fault_responders *r = &w->net->responders;

	if (w->now >= r->refuse_until || !fault_is_request(&w->packet))
		return 0;
	return fault_responders_refused(r, &w->packet, sender(w), w->now);
}

/* ---- */

static void apply_to_packet(struct fault_passage *w, const struct fault_entry *e)
{
	const struct fault_value *v = &e->rule.value;

	switch ((unsigned)e->rule.action) {
	case FAULT_DROP:
	case FAULT_BURST:
		lose(w, false);
		break;
	case FAULT_DUPLICATE:
		duplicate(w, v);
		break;
	case FAULT_REORDER:
		reorder(w, v);
		break;
	case FAULT_DELAY:
	case FAULT_RATE:
		hold_back(w, e);
		break;
	case FAULT_PAUSE:
		pause_line(w, e);
		break;
	case FAULT_CORRUPT:
		corrupt(w, e);
		break;
	case FAULT_SET:
		set(w, v);
		break;
	case FAULT_TRUNCATE:
		judge_change(w, fault_packet_truncate(&w->packet, v->number));
		break;
	case FAULT_ECN:
		fault_packet_mark(&w->packet);
		break;
	case FAULT_HOLD:
		w->held = true;
		break;
	}
}

static void answer_for_peer(struct fault_passage *w, const struct fault_entry *e)
{
	const struct fault_value *v = &e->rule.value;

	switch ((unsigned)e->rule.action) {
	case FAULT_RNR:
		answer(w, v, roce_syndrome(ROCE_RNR_NAK, (uint8_t)v->number), true);
		break;
	case FAULT_NAK:
		answer(w, v, roce_syndrome(ROCE_NAK, (uint8_t)v->number), true);
		break;
	case FAULT_GHOST:
		ghost(w, v);
		break;
	case FAULT_CNP:
		congestion(w, v);
		break;
	case FAULT_FORGE:
		forge(w, v);
		break;
	case FAULT_CM_REJECT:
		reject(w, v);
		break;
	case FAULT_CM_MRA:
		send_mra(w, v);
		break;
	}
}

void fault_net_apply(struct fault_passage *w, const struct fault_entry *e)
{
	if (w->gone)
		return;
	w->packet.model.rule = e->number;
	if (fault_action_is_of_device(e->rule.action))
		w->net->ops->device_action(w->net->user, e, &w->subject, w->now);
	else if (e->rule.action < FAULT_RNR)
		apply_to_packet(w, e);
	else
		answer_for_peer(w, e);
}

/* The port's own speed is the last thing that holds a packet back. */
static void take_the_line(struct fault_passage *w)
{
	if (w->net->speed && w->packet.dir == FAULT_TX)
		w->due = fault_lane_rate(&w->net->port, earliest(w), w->net->speed,
					 bits_of(&w->packet));
}

void fault_net_finish(struct fault_passage *w)
{
	struct core_burst t;
	struct fault_to_hold what = {.burst = &t, .dir = w->packet.dir, .since = w->now};

	if (w->gone)
		return;
	take_the_line(w);
	fault_packet_burst(&w->packet, &t);
	what.due = w->due > w->now ? w->due : w->now;
	what.overtakers = w->behind;
	if (what.overtakers)
		what.due = later(what.due, w->behind_time);
	/* Who is due and has not left yet, because it is its turn just now, goes first. */
	if (w->held)
		fault_net_wait(w->net, &what, w->now);
	else if (what.due > w->now || fault_hold_deadline(&w->net->hold) <= w->now)
		fault_net_leave_later(w->net, &what, w->now);
	else
		fault_net_leave(w->net, &what, w->now);
}
