/* SPDX-License-Identifier: BSD-2-Clause */
/* See world.h: what a link does to the bursts and packets that cross it. */
#include "world.h"

#include "wire/psn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- how often a packet was lost already ---- */

#define LOSS_SLOTS 4096u

struct losses {
	struct {
		uint64_t key;
		unsigned count;
	} slot[LOSS_SLOTS];
};

struct losses *losses_create(void)
{
	struct losses *l = calloc(1, sizeof *l);

	assert(l);
	return l;
}

void losses_destroy(struct losses *l)
{
	free(l);
}

void losses_forget(struct losses *l)
{
	memset(l, 0, sizeof *l);
}

/*
 * True when this packet may be lost once more. Collisions share a slot, which only makes the
 * bound tighter; responses to one PSN share one as well (ACK, NAK and READ response alike), so
 * that the bound holds for the answer as such.
 */
static bool may_lose(struct losses *l, const struct roce_packet *p, unsigned max)
{
	enum roce_operation op = roce_opcode_info(p->bth.opcode)->operation;
	bool answer = op == ROCE_OP_ACK || op == ROCE_OP_READ_RESP || op == ROCE_OP_ATOMIC_ACK;
	uint64_t key = (uint64_t)p->bth.dest_qp << 32 | (uint64_t)answer << 24 | p->bth.psn;
	unsigned slot = (unsigned)((key * 0x9e3779b97f4a7c15ull) >> 52);

	if (!max)
		return true;
	if (l->slot[slot].key != key && l->slot[slot].count < max)
		l->slot[slot].key = key;
	return l->slot[slot].count++ < max;
}

/* ---- one packet ---- */

struct link link_default(void)
{
	return (struct link){.delay = 1000,
			     .reorder_delay = 5000,
			     .split = 500000,
			     .join = 500000,
			     .wire = 250000,
			     .immediate = 0};
}

/* Emits the packet and parses it again; flip: one header bit changes in between. */
static bool through_the_wire(struct world *w, struct roce_packet *p, bool flip)
{
	uint8_t again[ROCE_MAX_PACKET_LENGTH], *bytes = w->bytes;
	struct roce_packet parsed;
	size_t n = roce_packet_emit(p, bytes, sizeof w->bytes);

	world_assert(w, n == roce_header_length(p->bth.opcode) + p->payload_len + p->bth.pad);
	if (flip)
		bytes[prng_below(&w->rng, (uint32_t)roce_header_length(p->bth.opcode))] ^=
			(uint8_t)(1u << prng_below(&w->rng, 8));
	if (roce_packet_parse(bytes, n, &parsed) != ROCE_PARSE_OK) {
		world_assert(w, flip);
		return false;
	}
	if (!flip) {
		world_assert(w, roce_packet_emit(&parsed, again, sizeof again) == n);
		world_assert(w, memcmp(bytes, again, n) == 0);
		world_assert(w, parsed.payload_len == p->payload_len);
	}
	*p = parsed;
	return true;
}

/* When what is sent now arrives; "extra" lets others overtake it. */
static uint64_t arrival(struct world *w, unsigned from, unsigned to, uint64_t extra)
{
	struct link *l = &w->link[from][to];
	uint64_t at = w->now + l->delay;

	if (l->jitter)
		at += prng_below(&w->rng, (uint32_t)l->jitter + 1);
	if (at < w->last_arrival[from][to])
		at = w->last_arrival[from][to];
	w->last_arrival[from][to] = at;
	if (prng_chance(&w->rng, l->reorder))
		at += 1 + prng_below(&w->rng, (uint32_t)l->reorder_delay);
	return at + extra;
}

/* Filter and faults for one packet; it is scheduled as often as it arrives. */
static void send_packet(struct world *w, struct world_packet *p)
{
	struct link *l = &w->link[p->from][p->to];
	enum world_verdict v = w->filter ? w->filter(w->filter_arg, p) : WORLD_PASS;
	bool flip = prng_chance(&w->rng, l->flip);
	unsigned copies = 1;
	struct core_burst t;

	w->packets++;
	core_burst_start(&t, &p->pkt, &p->flow);
	t.model = p->model;
	if (v == WORLD_DROP || l->down ||
	    (prng_chance(&w->rng, l->loss + l->corrupt) &&
	     may_lose(w->losses, &p->pkt, l->max_losses))) {
		w->lost++;
		journal_packet(&w->journal, w->now, JOURNAL_LOST, p->from, p->to, &t);
		return;
	}
	if (flip || prng_chance(&w->rng, l->wire)) {
		if (!through_the_wire(w, &p->pkt, flip))
			return;
		core_burst_start(&t, &p->pkt, &p->flow);
		t.model = p->model;
	}
	if (v == WORLD_DUPLICATE || prng_chance(&w->rng, l->duplicate))
		copies = 2;
	journal_packet(&w->journal, w->now, copies > 1 ? JOURNAL_DUPLICATED : JOURNAL_SENT, p->from,
		       p->to, &t);
	while (copies--)
		world_schedule(w, p->from, p->to, arrival(w, p->from, p->to, p->delay), &t);
}

/* ---- bursts ---- */

/* Index of the device that owns the address, or n_devices. */
static unsigned route(const struct world *w, const uint8_t dst[16])
{
	for (unsigned i = 0; i < w->n_devices; i++) {
		const struct vhost *h = &w->device[i].host;

		if (!memcmp(dst, h->gid[0], 16) || !memcmp(dst, h->gid[1], 16))
			return i;
	}
	return w->n_devices;
}

static void check_burst(struct world *w, unsigned from, const struct core_burst *t)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < t->n_iov; i++)
		sum += (uint32_t)t->iov[i].iov_len;
	world_assert(w, t->n_iov <= CORE_BURST_IOV);
	world_assert(w, sum == t->length);
	world_assert(w, t->length <= w->device[from].cap);
	world_assert(w, t->count >= 1);
	world_assert(w, roce_opcode_known(t->head.bth.opcode));
	world_assert(w, roce_opcode_known(t->last_opcode));
	if (t->count == 1)
		world_assert(w, roce_opcode_equal(t->head.bth.opcode, t->last_opcode));
	else
		world_assert(w, t->length > (t->count - 1) * t->segment &&
					t->length <= t->count * t->segment);
}

static void send_pieces(struct world *w, unsigned from, unsigned to, const struct core_burst *t)
{
	uint8_t *p = w->flat;

	for (unsigned i = 0; i < t->n_iov; i++) {
		if (t->iov[i].iov_len)
			memcpy(p, t->iov[i].iov_base, t->iov[i].iov_len);
		p += t->iov[i].iov_len;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		struct world_packet piece = {
			.from = from, .to = to, .now = w->now, .flow = t->flow, .model = t->model};
		uint32_t offset = 0;

		core_burst_packet(t, i, &piece.pkt, &offset);
		world_assert(w, offset + piece.pkt.payload_len <= t->length);
		piece.pkt.payload = piece.pkt.payload_len ? w->flat + offset : NULL;
		piece.pkt.bth.pad = roce_pad(piece.pkt.payload_len);
		send_packet(w, &piece);
	}
}

/* The burst stays whole: it is lost, delayed or duplicated as one. */
static void send_whole(struct world *w, unsigned from, unsigned to, const struct core_burst *t)
{
	struct link *l = &w->link[from][to];
	unsigned copies = prng_chance(&w->rng, l->duplicate) ? 2 : 1;

	w->packets += t->count;
	if (l->down || (prng_chance(&w->rng, l->loss + l->corrupt) &&
			may_lose(w->losses, &t->head, l->max_losses))) {
		w->lost += t->count;
		journal_packet(&w->journal, w->now, JOURNAL_LOST, from, to, t);
		return;
	}
	journal_packet(&w->journal, w->now, copies > 1 ? JOURNAL_DUPLICATED : JOURNAL_SENT, from,
		       to, t);
	if (copies == 1 && prng_chance(&w->rng, l->immediate)) {
		world_deliver(w, to, t);
		return;
	}
	while (copies--)
		world_schedule(w, from, to, arrival(w, from, to, 0), t);
}

void world_send(struct world *w, unsigned from, const struct core_burst *t)
{
	unsigned to = route(w, t->flow.dst);

	check_burst(w, from, t);
	world_assert(w, route(w, t->flow.src) == from);
	if (to == w->n_devices)
		return; /* nobody lives there */
	if (w->filter || w->link[from][to].flip || prng_chance(&w->rng, w->link[from][to].split))
		send_pieces(w, from, to, t);
	else
		send_whole(w, from, to, t);
}
