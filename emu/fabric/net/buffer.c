/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The buffer of a switch. A lossless class of a port has a reserve of its own, then as much of the
 * shared part as the dynamic threshold leaves it (alpha times what is free), then headroom for what
 * arrives until the peer has heard XOFF. It counts where packets came in. A lossy class is held
 * against the same threshold by the queue in which its packet would wait, and its tail is dropped.
 */
#include "network.h"

static uint64_t threshold(const struct node *n)
{
	const uint64_t free = n->shared - n->shared_used;

	return (uint64_t)(((unsigned __int128)free * n->alpha) >> 32);
}

/*
 * Headroom begins with the packet that causes XOFF. Then a packet that the port has just begun to
 * send delays the frame, the frame takes its time, the peer finishes a packet that it has just
 * begun, and a link's length of bits is under way in each direction, of which jitter makes more.
 * Rounded up to whole bytes.
 */
static uint64_t needed_headroom(const struct port *p)
{
	const uint64_t packet = p->link.mtu + p->link.gap;
	const uint64_t delay = p->link.delay + p->link.jitter;
	const uint64_t flight =
		(uint64_t)(((unsigned __int128)2 * delay * p->link.rate) / UINT64_C(8000000000000));

	return 3 * packet + FABRIC_PFC_BYTES + p->link.gap + flight + 3;
}

int buffer_init(struct fabric *f, struct node *n, struct fabric_error *e)
{
	const struct fabric_switch_settings *s = &n->of->settings;
	const unsigned classes = (unsigned)__builtin_popcount(f->lossless);
	uint64_t kept = 0;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct port *p = &f->ports[n->ports[i]];

		p->headroom = s->headroom == FABRIC_AUTO ? needed_headroom(p) : s->headroom;
		kept += classes * (p->headroom + s->reserve);
	}
	if (kept >= s->buffer)
		return fabric_refuse(
			e, "", "",
			"switch %s: its buffer of %llu bytes is smaller than reserves and "
			"headroom of its ports, %llu bytes",
			n->of->name, (unsigned long long)s->buffer, (unsigned long long)kept);
	n->alpha = s->alpha;
	n->reserve = s->reserve;
	n->shared = s->buffer - kept;
	n->shared_used = 0;
	return 0;
}

static uint64_t shared_of(const struct node *n, uint64_t used)
{
	return used > n->reserve ? used - n->reserve : 0;
}

static bool admit_lossless(struct fabric *f, struct node *n, struct port *in,
			   struct fabric_packet *k)
{
	uint64_t *used = &in->lane[k->class].used;
	const uint64_t before = shared_of(n, *used);
	const uint64_t after = shared_of(n, *used + k->bytes);

	if (after == 0 || (after <= threshold(n) && n->shared_used + after - before <= n->shared)) {
		*used += k->bytes;
		n->shared_used += after - before;
		return true;
	}
	if (in->lane[k->class].over + k->bytes <= in->headroom) {
		in->lane[k->class].over += k->bytes;
		return true;
	}
	fabric_lose(f, in, k, FABRIC_DROP_HEADROOM);
	return false;
}

bool buffer_admit(struct fabric *f, struct node *n, struct port *in, struct port *out,
		  struct fabric_packet *k)
{
	k->from_port = (uint32_t)(in - f->ports);
	if (f->lossless & 1u << k->class)
		return admit_lossless(f, n, in, k);
	if (n->shared_used + k->bytes > n->shared) {
		fabric_lose(f, in, k, FABRIC_DROP_BUFFER);
		return false;
	}
	if (out->lane[k->class].bytes + k->bytes > threshold(n)) {
		fabric_lose(f, out, k, FABRIC_DROP_TAIL);
		return false;
	}
	n->shared_used += k->bytes;
	return true;
}

void buffer_judge(struct fabric *f, struct port *in, unsigned class, uint64_t now)
{
	const struct node *n = &f->nodes[in->node];
	const uint8_t bit = (uint8_t)(1u << class);
	const uint64_t shared = shared_of(n, in->lane[class].used);
	const uint64_t limit = threshold(n);

	if (!(port_xoff(f, in) & bit)) {
		if (in->lane[class].over || shared > limit)
			pause_set(f, in, in->xoff | bit, now);
	} else if (!in->lane[class].over && (!shared || shared + n->of->settings.xon <= limit)) {
		pause_set(f, in, in->xoff & (uint8_t)~bit, now);
	}
}

void buffer_release(struct fabric *f, struct port *out, struct fabric_packet *k, uint64_t now)
{
	struct node *n = &f->nodes[out->node];
	struct port *in = &f->ports[k->from_port];
	uint64_t rest = k->bytes, before;

	if (!(f->lossless & 1u << k->class)) {
		n->shared_used -= rest;
		return;
	}
	if (in->lane[k->class].over) {
		const uint64_t over =
			in->lane[k->class].over < rest ? in->lane[k->class].over : rest;

		in->lane[k->class].over -= over;
		rest -= over;
	}
	before = shared_of(n, in->lane[k->class].used);
	in->lane[k->class].used -= rest;
	n->shared_used -= before - shared_of(n, in->lane[k->class].used);
	if (port_xoff(f, in) & 1u << k->class)
		buffer_judge(f, in, k->class, now);
}
