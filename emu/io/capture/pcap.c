/* SPDX-License-Identifier: BSD-2-Clause */
/* The capture box of a device's stack: hands each packet to the tracer. */
#include "pcap.h"

#include "emu/abi/cqe.h"
#include "emu/io/base/base.h"
#include "trace_text.h"
#include "wire/packet.h"

#include <string.h>

/* A burst that goes through just now gets a word about some of its packets. */
static void add_fate(struct io_capture_burst *seen, const struct io_capture_fate *fate)
{
	if (seen->n_fates < IO_CAPTURE_FATES)
		seen->fate[seen->n_fates++] = *fate;
}

static const char *device_name(const struct io_pcap_box *b)
{
	return b->capture->interface[b->interface];
}

/* ---- packets ---- */

static void pcap_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_pcap_box *b = (struct io_pcap_box *)n;
	struct io_capture *c = b->capture;
	struct io_capture_burst seen;
	struct io_capture_burst *outer = b->sending;

	io_recorder_burst(b->recorder, b->interface, IO_PCAPNG_OUTBOUND, t, now);
	if (!io_capture_wants(c, b->interface)) {
		netif_send(n->below, t, now);
		b->recorder->passing = NULL;
		return;
	}
	seen.burst = t;
	seen.interface = b->interface;
	seen.flags = IO_PCAPNG_OUTBOUND;
	seen.wall = io_clock_wall();
	seen.n_fates = 0;
	io_capture_settle(c);
	c->pending = b->sending = &seen;
	netif_send(n->below, t, now);
	b->sending = outer;
	b->recorder->passing = NULL;
	if (c->pending == &seen)
		io_capture_settle(c);
}

/* The key that a request brings opens something: what, is told when it is used first. */
static void look_at_key(struct io_pcap_box *b, const struct core_burst *t)
{
	uint32_t headers = roce_opcode_info(t->head.bth.opcode)->headers;

	if (headers & ROCE_HDR_RETH && t->head.reth.length > 0)
		io_pcap_region(b, t->head.bth.dest_qp, t->head.reth.rkey);
	else if (headers & ROCE_HDR_ATOMICETH)
		io_pcap_region(b, t->head.bth.dest_qp, t->head.atomiceth.rkey);
}

static void receive_watched(struct io_pcap_box *b, const struct core_burst *t, uint64_t now)
{
	struct io_capture *c = b->capture;
	struct io_capture_burst *outer = b->receiving;
	struct io_capture_burst seen;
	struct io_pcapng_mark mark;

	seen.burst = t;
	seen.interface = b->interface;
	seen.flags = IO_PCAPNG_INBOUND;
	seen.wall = io_clock_wall();
	seen.n_fates = 0;
	io_capture_settle(c);
	look_at_key(b, t);
	mark = io_pcapng_mark(&c->file);
	b->receiving = &seen;
	netif_receive(b->netif.above, t, now);
	b->receiving = outer;
	io_capture_settle(c);
	io_pcapng_cut(&c->file, &mark);
	io_capture_put(c, &seen);
	io_pcapng_paste(&c->file, &mark);
}

static void pcap_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_pcap_box *b = (struct io_pcap_box *)n;

	io_recorder_burst(b->recorder, b->interface, IO_PCAPNG_INBOUND, t, now);
	if (io_capture_wants(b->capture, b->interface))
		receive_watched(b, t, now);
	else
		netif_receive(n->above, t, now);
}

/* What the boxes below could not deliver. */
static void pcap_lost(struct netif *n, const struct netif_lost *l)
{
	struct io_pcap_box *b = (struct io_pcap_box *)n;
	const struct core_burst *t = l->burst;
	struct io_capture_fate fate = {.dropped = l->why, .count = UINT32_MAX};
	struct io_capture_bytes bytes = {.interface = b->interface,
					 .flow = l->flow,
					 .p = l->bytes,
					 .len = l->len,
					 .dropped = l->why};

	if (t) {
		fate.psn = t->head.bth.psn;
		io_recorder_fate(b->recorder, b->interface, &fate, io_clock_now());
		if (b->sending)
			add_fate(b->sending, &fate);
	} else if (io_capture_wants(b->capture, b->interface)) {
		bytes.wall = io_clock_wall();
		io_capture_put_bytes(b->capture, &bytes);
	}
}

static void pcap_refused(struct netif *n, const struct core_burst *t)
{
	io_pcap_dropped((struct io_pcap_box *)n, FAULT_RX, t, false);
}

static const struct netif_ops pcap_ops = {
	.send = pcap_send, .receive = pcap_receive, .lost = pcap_lost, .refused = pcap_refused};

void io_pcap_box_init(struct io_pcap_box *b, struct io_capture *capture,
		      struct io_recorder *recorder, unsigned interface)
{
	*b = (struct io_pcap_box){.netif.ops = &pcap_ops,
				  .capture = capture,
				  .recorder = recorder,
				  .interface = interface};
}

/* ---- what the box above did ---- */

/* Is it (part of) the burst that is on its way through here now, not one that waited above? */
static bool is_arriving(const struct io_pcap_box *b, const struct core_burst *t)
{
	return b->receiving && b->receiving->burst->head.bth.dest_qp == t->head.bth.dest_qp;
}

static const char *why_dropped(const struct core_burst *t, bool malformed)
{
	if (malformed)
		return "malformed";
	if (t->model.bad_icrc)
		return "bad_icrc";
	return t->model.rule ? "rule" : "step";
}

/* Packets that this box has not seen, or not so. */
static void put_unseen(struct io_pcap_box *b, uint32_t flags, const struct core_burst *t,
		       const struct io_capture_fate *fate)
{
	struct io_capture_burst seen = {.burst = t,
					.interface = b->interface,
					.flags = flags,
					.wall = io_clock_wall(),
					.n_fates = fate->dropped ? 1 : 0,
					.fate[0] = *fate};

	io_recorder_burst(b->recorder, b->interface, flags, t, io_clock_now());
	b->recorder->passing = NULL;
	if (fate->dropped)
		io_recorder_fate(b->recorder, b->interface, fate, io_clock_now());
	if (io_capture_wants(b->capture, b->interface))
		io_capture_put(b->capture, &seen);
}

/* A record about this device. */
static void write_record(struct io_pcap_box *b, const struct io_words *w)
{
	io_recorder_text(b->recorder, w->text, io_clock_now());
	if (io_capture_wants(b->capture, b->interface))
		io_capture_record(b->capture, io_clock_wall(), w->text);
}

/* A packet that waited above this box when it was written: nothing can be added to it. */
static void say_late(struct io_pcap_box *b, const struct core_burst *t, const char *why)
{
	struct io_words w;

	io_trace_note(&w, device_name(b), "a packet that arrived earlier is dropped");
	io_words_hex(&w, "qp", t->head.bth.dest_qp);
	io_words_number(&w, "psn", t->head.bth.psn);
	if (t->model.rule)
		io_words_number(&w, "rule", t->model.rule);
	io_words_text(&w, "dropped", why);
	write_record(b, &w);
}

void io_pcap_dropped(struct io_pcap_box *b, enum fault_direction dir, const struct core_burst *t,
		     bool malformed)
{
	const struct io_capture_fate fate = {.psn = t->head.bth.psn,
					     .count = t->count,
					     .rule = t->model.rule,
					     .dropped = why_dropped(t, malformed)};

	if (dir == FAULT_TX) {
		put_unseen(b, IO_PCAPNG_OUTBOUND, t, &fate);
		return;
	}
	io_recorder_fate(b->recorder, b->interface, &fate, io_clock_now());
	if (is_arriving(b, t))
		add_fate(b->receiving, &fate);
	else if (io_capture_wants(b->capture, b->interface))
		say_late(b, t, fate.dropped);
}

/* Made by a rule of a device of this daemon and sent to this one: it came through here. */
static bool arrived_made(const struct io_pcap_box *b, const struct core_burst *t)
{
	return is_arriving(b, t) && b->receiving->burst->model.made &&
	       b->receiving->burst->head.bth.psn == t->head.bth.psn;
}

void io_pcap_touched(struct io_pcap_box *b, const struct core_burst *t)
{
	const struct io_capture_fate fate = {
		.psn = t->head.bth.psn, .count = t->count, .rule = t->model.rule};

	if (arrived_made(b, t))
		return;
	if (t->model.made)
		put_unseen(b, IO_PCAPNG_INBOUND, t, &fate);
	else if (is_arriving(b, t))
		add_fate(b->receiving, &fate);
}

/* ---- what the device does ---- */

#define BIT(point) (1u << (point))
#define RARE                                                                                       \
	(BIT(CORE_TRACE_QP_STATE) | BIT(CORE_TRACE_RX_DROP) | BIT(CORE_TRACE_JUDGED) |             \
	 BIT(CORE_TRACE_NAK) | BIT(CORE_TRACE_REQUEST) | BIT(CORE_TRACE_RETRY) |                   \
	 BIT(CORE_TRACE_EVENT) | CORE_HOOK_ERRORS)

uint32_t io_pcap_hooks(const struct io_pcap_box *b)
{
	if (io_capture_wants(b->capture, b->interface))
		return RARE | BIT(CORE_TRACE_CQE);
	return b->recorder->ring ? RARE : 0;
}

static struct io_capture_fate fate_of(const struct core_trace *t)
{
	struct io_capture_fate fate = {.psn = t->a, .count = t->c};

	if (t->point == CORE_TRACE_RX_DROP)
		fate.dropped = core_drop_name((enum core_drop)t->b);
	else
		fate.judged = io_trace_judgement(t->b);
	if (t->cause)
		fate.cause = *t->cause;
	return fate;
}

/* What the device made of packets that it did not execute. */
static void trace_fate(struct io_pcap_box *b, const struct core_trace *t)
{
	const struct io_capture_fate fate = fate_of(t);
	struct io_words w;

	io_recorder_fate(b->recorder, b->interface, &fate, io_clock_now());
	if (b->receiving) {
		add_fate(b->receiving, &fate);
		return;
	}
	if (!fate.dropped || !io_capture_wants(b->capture, b->interface))
		return;
	io_trace_note(&w, device_name(b), "a packet is dropped");
	io_words_hex(&w, "qp", t->qpn);
	io_words_number(&w, "psn", t->a);
	io_words_text(&w, "dropped", fate.dropped);
	io_capture_record(b->capture, io_clock_wall(), w.text);
}

/* A failure that nobody asked for; a flush is only what follows from one. */
static bool is_failure(const struct io_pcap_box *b, const struct core_trace *t)
{
	if (t->point == CORE_TRACE_CQE)
		return t->a != UHCA_ABI_WC_SUCCESS && t->a != UHCA_ABI_WC_WR_FLUSH_ERR;
	return t->point == CORE_TRACE_QP_STATE && io_trace_is_error_state(t->b) && !b->ordered;
}

static bool is_rare(const struct core_trace *t)
{
	if (t->point == CORE_TRACE_CQE)
		return t->a != UHCA_ABI_WC_SUCCESS;
	return RARE & BIT(t->point);
}

/* With its first state it is told whose a queue pair is. */
static void record_program(struct io_pcap_box *b, const struct core_trace *t)
{
	struct io_words w;

	if (!io_trace_trace(&w, device_name(b), t))
		return;
	io_words_text(&w, "program", b->ordered);
	write_record(b, &w);
}

void io_pcap_trace(struct io_pcap_box *b, const struct core_trace *t)
{
	struct core_trace state;
	struct io_words w;

	if (t->point == CORE_TRACE_RX_DROP || t->point == CORE_TRACE_JUDGED) {
		trace_fate(b, t);
		return;
	}
	if (t->point == CORE_TRACE_QP_STATE) {
		state = *t;
		state.c = b->ordered != NULL;
		t = &state;
		if (state.c && io_trace_is_first_state(t->b)) {
			record_program(b, t);
			return;
		}
	}
	if (is_rare(t))
		io_recorder_trace(b->recorder, b->interface, t, io_clock_now());
	if (is_failure(b, t))
		b->recorder->failed = true;
	if (io_capture_wants(b->capture, b->interface) && io_trace_trace(&w, device_name(b), t))
		io_capture_record(b->capture, io_clock_wall(), w.text);
}

/* Each datagram brings such an answer: one in a second is enough. */
void io_pcap_unreachable(void *box, const uint8_t gid[16], uint16_t port)
{
	struct io_pcap_box *b = box;
	uint64_t now = io_clock_now();
	struct io_words w;

	if (now < b->closed_until && memcmp(gid, b->closed, sizeof(b->closed)) == 0)
		return;
	memcpy(b->closed, gid, sizeof(b->closed));
	b->closed_until = now + IO_SEC;
	io_trace_unreachable(&w, device_name(b), gid, port);
	write_record(b, &w);
}

void io_pcap_refused(struct io_pcap_box *b, const struct io_trace_refused *r)
{
	struct io_words w;

	io_trace_refused(&w, device_name(b), r);
	write_record(b, &w);
	b->recorder->failed = true;
}

void io_pcap_region(struct io_pcap_box *b, uint32_t qpn, uint32_t key)
{
	struct io_capture *c = b->capture;
	struct core_walk walk;
	struct io_words w;

	if (!b->core || !io_capture_wants(c, b->interface) || !io_capture_new_key(c, key) ||
	    core_walk_mr(b->core, key, 0, &walk) < 0)
		return;
	io_trace_region(&w, device_name(b), qpn, key, &walk);
	io_capture_record(c, io_clock_wall(), w.text);
}
