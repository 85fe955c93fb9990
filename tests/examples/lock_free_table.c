/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A hash table in the memory of a server that does nothing: clients insert and count with atomic
 * operations, all at the same time. A slot has a key, a value, and two counters of 32 bits.
 *
 *   insert  masked compare-and-swap: only the key is compared (0: free), the rest of the slot is
 *           put beside it in the same step. With operands of 16 bytes that is the whole slot; with
 *           8 bytes key and value, and the counters are added to afterwards.
 *   count   masked fetch-and-add on both counters at once. A carry would leak from "total", which
 *           overflows all the time, into "hits": the boundary mask keeps it from that.
 *   size    fetch-and-add of 4 bytes on the number of keys, where the device has that size
 *   totals  four counters of 64 bits that are added to in one step of 32 bytes, where it has that
 *
 * Slots are never emptied: a client that finds another key in a slot goes on to the next one, and
 * all clients look at the slots in the same order, so that no key gets in twice.
 *
 * Which operations the clients make follows from the seed. The server repeats them in a table of
 * its own, one after the other, and compares what must not depend on their order.
 */
#include "rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 1024u
#define KEYS  600u /* different ones; fewer than slots */

struct slot {
	uint32_t key, value; /* value: the client that put the key there */
	uint64_t counters;   /* hits << 32 | total */
};

enum { INSERTED, UPDATED, PROBED, ADDED, TOTALS };

struct table {
	uint64_t totals[TOTALS];
	uint32_t size, unused[7];
	struct slot slot[SLOTS];
};

/* One step of a client. */
struct operation {
	uint32_t key, amount;
};

static struct operation next(uint64_t *random)
{
	uint64_t r = rig_random(random);

	/* Amounts are large: the sum of any two may overflow. */
	return (struct operation){.key = 1 + (uint32_t)(r >> 32) % KEYS,
				  .amount = (uint32_t)r | 0x80000000u};
}

static uint64_t seed_of(const struct end *e, unsigned who)
{
	return e->o->seed * 1000 + who;
}

static unsigned home(uint32_t key)
{
	return key * 2654435761u >> 7;
}

/* ---- the client ---- */

struct client {
	struct end *e;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint64_t *old; /* 4: where the device puts the old value */
	uint64_t table;
	uint32_t rkey;
	uint64_t inserted;
};

struct place {
	uint64_t table;
	uint32_t rkey;
};

static bool has(const struct client *c, uint32_t size)
{
	return c->e->attr.masked_atomic_sizes & size;
}

static void execute(struct client *c, struct uhcadv_send_wr *wr, uint32_t size, uint64_t offset)
{
	struct ibv_sge sge = {(uintptr_t)c->old, size, c->mr->lkey};

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	wr->atomic.remote_addr = c->table + offset;
	wr->atomic.rkey = c->rkey;
	rig_post_dv(c->qp, wr);
	rig_success(c->e);
}

static void add(struct client *c, uint32_t size, uint64_t offset, const void *what,
		const void *boundary)
{
	struct uhcadv_send_wr wr = {
		.opcode = UHCADV_WR_MASKED_FETCH_ADD,
		.atomic.fetch_add = {.size = size, .add = what, .boundary = boundary}};

	execute(c, &wr, size, offset);
}

static uint64_t slot_offset(unsigned i)
{
	return offsetof(struct table, slot) + (uint64_t)i * sizeof(struct slot);
}

static uint64_t counters(uint32_t amount)
{
	return 1ull << 32 | amount;
}

/* True when the slot was free. In any case *found is the key that is there now. */
static bool insert(struct client *c, unsigned i, const struct operation *op, uint32_t *found)
{
	const uint32_t size = has(c, 16) ? 16 : 8;
	struct slot compare = {0}, compare_mask = {.key = UINT32_MAX}, before;
	struct slot swap = {.key = op->key, .value = c->e->who, .counters = counters(op->amount)};
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_MASKED_CMP_SWP,
				    .atomic.cmp_swp = {.size = size,
						       .compare = &compare,
						       .swap = &swap,
						       .compare_mask = &compare_mask}};

	execute(c, &wr, size, slot_offset(i));
	memcpy(&before, c->old, size);
	*found = before.key ? before.key : op->key;
	return !before.key;
}

static void count(struct client *c, unsigned i, uint32_t amount)
{
	const uint64_t one = counters(amount), boundary = 1ull << 63 | 1ull << 31;

	add(c, 8, slot_offset(i) + offsetof(struct slot, counters), &one, &boundary);
}

static void step(struct client *c, const struct operation *op)
{
	const uint64_t boundary[TOTALS] = {1ull << 63, 1ull << 63, 1ull << 63, 1ull << 63};
	uint64_t totals[TOTALS] = {[ADDED] = op->amount};
	const uint32_t one = 1;
	uint32_t found = 0;

	for (unsigned i = home(op->key);; i++) {
		bool mine = insert(c, i % SLOTS, op, &found);

		totals[PROBED]++;
		if (found != op->key)
			continue;
		totals[mine ? INSERTED : UPDATED] = 1;
		if (!mine || !has(c, 16))
			count(c, i % SLOTS, op->amount);
		if (mine && has(c, 4))
			add(c, 4, offsetof(struct table, size), &one, NULL);
		if (has(c, 32))
			add(c, 32, offsetof(struct table, totals), totals, boundary);
		c->inserted += mine;
		return;
	}
}

static void client(struct end *e)
{
	struct client c = {.e = e, .qp = rig_qp(e), .old = rig_memory(32)};
	uint64_t random = seed_of(e, e->who), nothing;
	struct place place, none = {0};

	c.mr = rig_reg(e, c.old, 32, IBV_ACCESS_LOCAL_WRITE);
	rig_connect(e, c.qp, 0);
	rig_swap(e, 0, &none, &place, sizeof(place));
	c.table = place.table;
	c.rkey = place.rkey;
	for (uint64_t i = 0; i < e->o->rounds; i++) {
		struct operation op = next(&random);

		step(&c, &op);
	}
	rig_swap(e, 0, &c.inserted, &nothing, sizeof(nothing));
	printf("client %u: %" PRIu64 " operations, %" PRIu64 " keys put in\n", e->who, e->o->rounds,
	       c.inserted);
	rig_meet(e, 0);
	rig_free_qp(c.qp);
	rig_free_mr(c.mr);
	free(c.old);
}

/* ---- the server ---- */

/* What one key must have come to, in whatever order. */
struct expected {
	uint32_t hits, total, clients; /* clients: bit by number */
};

static void model(const struct end *e, struct expected *of, uint64_t *added)
{
	for (unsigned who = 1; who <= e->o->clients; who++) {
		uint64_t random = seed_of(e, who);

		for (uint64_t i = 0; i < e->o->rounds; i++) {
			struct operation op = next(&random);

			of[op.key].hits++;
			of[op.key].total += op.amount;
			of[op.key].clients |= 1u << who;
			*added += op.amount;
		}
	}
}

/* Every key once, its counters exact, its value that of a client who had it. */
static unsigned check_slots(const struct table *t, const struct expected *of)
{
	bool seen[KEYS + 1] = {false};
	unsigned n = 0;

	for (const struct slot *s = t->slot; s < t->slot + SLOTS; s++) {
		if (!s->key)
			continue;
		if (s->key > KEYS || seen[s->key] || !of[s->key].hits)
			rig_die("key %u should not be in slot %td", s->key, s - t->slot);
		seen[s->key] = true;
		n++;
		if (s->counters >> 32 != of[s->key].hits ||
		    (uint32_t)s->counters != of[s->key].total)
			rig_die("key %u: wrong counters", s->key);
		if (s->value > RIG_ENDS || !(of[s->key].clients >> s->value & 1))
			rig_die("key %u: wrong value", s->key);
	}
	return n;
}

static void verify(const struct end *e, const struct table *t, uint64_t inserted)
{
	const uint32_t sizes = e->attr.masked_atomic_sizes;
	struct expected of[KEYS + 1] = {{0}};
	uint64_t added = 0, all = e->o->clients * e->o->rounds;
	unsigned keys = 0, n;

	model(e, of, &added);
	n = check_slots(t, of);
	for (unsigned k = 1; k <= KEYS; k++)
		keys += of[k].hits > 0;
	if (n != keys || inserted != keys)
		rig_die("%u keys, not %u; put in %" PRIu64 " times", n, keys, inserted);
	if (sizes & 4 && t->size != keys)
		rig_die("size %u, not %u", t->size, keys);
	if (sizes & 32 && (t->totals[INSERTED] != keys || t->totals[UPDATED] != all - keys ||
			   t->totals[PROBED] < all || t->totals[ADDED] != added))
		rig_die("wrong totals");
	printf("server: %u keys, %" PRIu64 " operations of %u clients, operands of%s%s%s%s bytes: "
	       "verified\n",
	       keys, all, (unsigned)e->o->clients, sizes & 4 ? " 4" : "", sizes & 8 ? " 8" : "",
	       sizes & 16 ? " 16" : "", sizes & 32 ? " 32" : "");
}

static void server(struct end *e)
{
	struct table *t = rig_memory(sizeof(*t));
	struct ibv_qp *qp[RIG_ENDS];
	struct ibv_mr *mr =
		rig_reg(e, t, sizeof(*t), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	struct place place = {(uintptr_t)t, mr->rkey}, nobody;
	uint64_t inserted = 0, n, nothing = 0;

	for (unsigned who = 1; who <= e->o->clients; who++) {
		qp[who] = rig_qp(e);
		rig_connect(e, qp[who], who);
	}
	for (unsigned who = 1; who <= e->o->clients; who++)
		rig_swap(e, who, &place, &nobody, sizeof(place));
	for (unsigned who = 1; who <= e->o->clients; who++, inserted += n)
		rig_swap(e, who, &nothing, &n, sizeof(n));
	verify(e, t, inserted);
	for (unsigned who = 1; who <= e->o->clients; who++) {
		rig_meet(e, who);
		rig_free_qp(qp[who]);
	}
	rig_free_mr(mr);
	free(t);
}

static void part(struct end *e)
{
	if (!(e->attr.caps & UHCADV_CAP_MASKED_ATOMICS))
		rig_die("this device has no masked atomics");
	if (e->who)
		client(e);
	else
		server(e);
}

int main(int argc, char **argv)
{
	struct rig_options o = {.text = "Clients fill a hash table in the memory of a server, with "
					"masked atomic operations only.",
				.rounds = 400,
				.seed = 1,
				.clients = 4};

	rig_options(&o, argc, argv);
	return rig_run(&o, 1 + (unsigned)o.clients, part);
}
