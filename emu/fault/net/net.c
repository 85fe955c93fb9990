/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See net.h: bursts are cut into packets where a rule hits one, and what is left of them is put
 * together again. Once something happened to a packet the rest of its burst is read from a copy
 * of the payload: what happens may be a call into the device that the burst is from.
 */
#include "net_state.h"

#include <stdlib.h>
#include <string.h>

struct cut {
	struct fault_net *net;
	enum fault_direction dir;
	const struct core_burst *burst;
	const uint8_t *payload; /* of the whole burst, in one piece */
	uint8_t *copy;          /* the same, our own; NULL: none yet */
	bool touched;           /* something happened: the burst cannot go on as it is */
	bool running;
	struct core_burst run; /* packets that go on together */
	struct fault_qp qp;
	struct fault_passage passage;
};

struct fault_net *fault_net_create(struct fault_plan *plan, const char *device,
				   const struct fault_net_ops *ops, void *user)
{
	struct fault_net *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->plan = plan;
	n->ops = ops;
	n->user = user;
	strncpy(n->device, device, sizeof(n->device) - 1);
	return n;
}

void fault_net_destroy(struct fault_net *n)
{
	if (!n)
		return;
	fault_hold_clear(&n->hold);
	fault_lanes_clear(&n->lanes);
	free(n);
}

const struct fault_net_counters *fault_net_counters(const struct fault_net *n)
{
	return &n->counters;
}

bool fault_net_active(const struct fault_net *n)
{
	return n->frozen || n->speed || !fault_hold_empty(&n->hold) || n->responders.refuse_until ||
	       n->lanes.paused_until || fault_plan_watches(n->plan, FAULT_LAYER_PACKET);
}

/* The port has a speed at which packets leave. */
static bool is_paced(const struct fault_net *n, enum fault_direction dir)
{
	return n->speed && dir == FAULT_TX;
}

void fault_net_set_speed(struct fault_net *n, uint64_t bits)
{
	n->speed = bits;
}

/* Must the packets of a burst be looked at? */
static bool looks_at_packets(struct fault_net *n, uint64_t now)
{
	if (now >= n->responders.refuse_until)
		n->responders.refuse_until = 0;
	return n->frozen || n->hold.reordered.first || n->responders.refuse_until ||
	       n->lanes.paused_until || fault_plan_watches(n->plan, FAULT_LAYER_PACKET);
}

/* ---- payload ---- */

static bool make_copy(struct cut *c)
{
	const struct core_burst *t = c->burst;
	uint8_t *p;

	if (c->copy || !t->length)
		return true;
	p = c->copy = malloc(t->length);
	if (!p)
		return false;
	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(p, t->iov[i].iov_base, t->iov[i].iov_len);
		p += t->iov[i].iov_len;
	}
	c->payload = c->copy;
	return true;
}

static bool find_payload(struct cut *c)
{
	if (c->burst->n_iov > 1)
		return make_copy(c);
	c->payload = c->burst->length ? c->burst->iov[0].iov_base : NULL;
	return true;
}

/* ---- packets of the burst ---- */

static void load_packet(struct cut *c, uint32_t i)
{
	struct fault_packet *p = &c->passage.packet;
	uint32_t offset;

	core_burst_packet(c->burst, i, &p->pkt, &offset);
	p->pkt.payload = p->pkt.payload_len ? c->payload + offset : NULL;
	p->flow = c->burst->flow;
	p->model = c->burst->model;
	p->model.offset += offset;
	p->from_network = c->burst->from_network;
	p->urgent = c->burst->urgent;
	p->dir = c->dir;
}

static uint32_t own_qpn(const struct cut *c)
{
	const struct core_burst *t = c->burst;

	if (c->dir == FAULT_RX)
		return t->head.bth.dest_qp;
	if (!t->model.qpn && roce_opcode_info(t->head.bth.opcode)->headers & ROCE_HDR_DETH)
		return t->head.deth.src_qp;
	return t->model.qpn;
}

static uint32_t peer_qpn(const struct cut *c)
{
	const struct core_burst *t = c->burst;

	if (c->dir == FAULT_TX)
		return t->head.bth.dest_qp;
	if (roce_opcode_info(t->head.bth.opcode)->headers & ROCE_HDR_DETH)
		return t->head.deth.src_qp;
	return t->model.qpn ? t->model.qpn : c->qp.peer_qpn;
}

/* What is the same for all packets of the burst. */
static void begin_subject(struct cut *c, const char *program)
{
	struct fault_subject *s = &c->passage.subject;

	*s = (struct fault_subject){.layer = FAULT_LAYER_PACKET,
				    .device = c->net->device,
				    .direction = c->dir,
				    .qpn = own_qpn(c),
				    .pkt = &c->passage.packet.pkt,
				    .flow = &c->passage.packet.flow,
				    .retry = c->burst->model.tries > 0};
	c->qp = (struct fault_qp){0};
	if (c->net->ops->look_up && s->qpn)
		c->net->ops->look_up(c->net->user, s->qpn, &c->qp);
	s->peer_qpn = peer_qpn(c);
	s->program = program ? program : c->qp.program;
	s->client = c->qp.client;
	s->pd = c->qp.pd;
	s->srq = c->qp.srq;
}

static void fill_subject(struct cut *c)
{
	struct fault_subject *s = &c->passage.subject;
	const struct fault_packet *p = &c->passage.packet;
	const struct roce_opcode_info *info = roce_opcode_info(p->pkt.bth.opcode);
	uint32_t headers = info->headers;
	/* A WRITE's later packets do not name the key; within a burst it is known. */
	bool goes_on = info->operation == ROCE_OP_WRITE && !(headers & ROCE_HDR_RETH);

	s->length = p->pkt.payload_len;
	s->offset = p->model.offset;
	s->key = goes_on ? s->key : 0;
	s->address = 0;
	if (headers & ROCE_HDR_RETH) {
		s->key = p->pkt.reth.rkey;
		s->address = p->pkt.reth.va;
	} else if (headers & ROCE_HDR_ATOMICETH) {
		s->key = p->pkt.atomiceth.rkey;
		s->address = p->pkt.atomiceth.va;
	}
}

/* ---- what goes on together ---- */

static void end_run(struct cut *c)
{
	const struct fault_to_hold what = {
		.burst = &c->run, .dir = c->dir, .since = c->passage.now};

	if (!c->running)
		return;
	c->running = false;
	fault_net_leave(c->net, &what, c->passage.now);
}

/* Payload that stands behind the last piece lengthens that piece: runs have no bound then. */
static void join_pieces(struct core_burst *t)
{
	struct iovec *last = &t->iov[t->n_iov - 1];

	if (t->n_iov < 2 || (uint8_t *)last[-1].iov_base + last[-1].iov_len != last->iov_base)
		return;
	last[-1].iov_len += last->iov_len;
	t->n_iov--;
}

static void add_to_run(struct cut *c)
{
	const struct fault_packet *p = &c->passage.packet;

	if (c->running && core_burst_append(&c->run, &p->pkt, &p->flow)) {
		join_pieces(&c->run);
		return;
	}
	end_run(c);
	fault_packet_burst(p, &c->run);
	c->running = true;
}

/* Something happens to packet i: those before it go together, as far as they went through. */
static bool touch(struct cut *c, uint32_t i)
{
	if (c->touched)
		return true;
	if (!make_copy(c))
		return false;
	c->touched = true;
	for (uint32_t k = 0; k < i; k++) {
		load_packet(c, k);
		add_to_run(c);
	}
	load_packet(c, i);
	return true;
}

/* Each packet has to be looked at alone, whatever the rules say. */
static bool one_by_one(const struct fault_net *n, enum fault_direction dir)
{
	return n->frozen || is_paced(n, dir) || n->hold.reordered.first || n->lanes.paused_until;
}

/* What the rules that hit it do to the packet, whose burst is cut already. */
static void hurt(struct cut *c, const struct fault_entry *const *hit, unsigned n)
{
	struct fault_passage *w = &c->passage;

	w->gone = w->held = false;
	w->due = w->behind = w->behind_time = 0;
	for (unsigned i = 0; i < n; i++)
		fault_net_apply(w, hit[i]);
	fault_net_stand_by(w);
	fault_net_finish(w);
}

static void lose_refused(struct cut *c, uint32_t rule)
{
	c->passage.packet.model.rule = rule;
	fault_net_lose(c->net, &c->passage.packet, false, c->passage.now);
}

/* False: no memory, and nothing was done to this packet nor to those before it. */
static bool judge(struct cut *c, uint32_t i)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct fault_passage *w = &c->passage;
	unsigned n = 0;
	uint32_t refused;

	load_packet(c, i);
	fill_subject(c);
	fault_responders_hear(&c->net->responders, &w->packet);
	refused = fault_net_refused(w);
	if (!refused)
		n = fault_plan_decide(c->net->plan, &w->subject, w->now, hit);
	if (!n && !refused && !one_by_one(c->net, c->dir)) {
		if (c->touched)
			add_to_run(c);
		return true;
	}
	if (!touch(c, i))
		return false;
	end_run(c);
	if (refused)
		lose_refused(c, refused);
	else
		hurt(c, hit, n);
	return true;
}

static void go_through(struct cut *c)
{
	struct fault_net *n = c->net;

	for (uint32_t i = 0; i < c->burst->count; i++) {
		if (judge(c, i))
			continue;
		fault_net_note(n, FAULT_NOTE_UNFIT, c->burst, c->passage.now);
		break;
	}
	if (c->touched)
		end_run(c);
	else
		n->ops->pass(n->user, c->dir, c->burst, c->passage.now);
}

void fault_net_burst(struct fault_net *n, enum fault_direction dir, const struct core_burst *t,
		     const char *program, uint64_t now)
{
	struct cut c;

	fault_net_tick(n, now);
	if (!looks_at_packets(n, now) && !is_paced(n, dir)) {
		n->ops->pass(n->user, dir, t, now);
		return;
	}
	c.net = n;
	c.dir = dir;
	c.burst = t;
	c.copy = NULL;
	c.touched = c.running = false;
	c.passage.net = n;
	c.passage.now = now;
	if (!find_payload(&c)) {
		fault_net_note(n, FAULT_NOTE_UNFIT, t, now);
		n->ops->pass(n->user, dir, t, now);
		return;
	}
	begin_subject(&c, program);
	go_through(&c);
	free(c.copy);
}
