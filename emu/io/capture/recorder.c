/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See recorder.h. Records are of different lengths and never wrap around: one that does not fit
 * before the end of the ring is preceded by a filler.
 */
#include "recorder.h"

#include "emu/io/base/base.h"
#include "trace_text.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* ECHO: the BURST before it once more, as another box saw it. */
enum kind { FILLER, BURST, ECHO, FATE, TRACE, TEXT };

struct head {
	uint32_t len; /* bytes to the next record, a multiple of 8 */
	uint8_t kind;
	uint8_t interface;
	uint8_t flags;
	uint8_t unused;
	uint64_t now;
};

/* A TRACE; its cause is there only where trace.cause is not NULL, and that leads nowhere. */
struct trace_record {
	struct core_trace trace;
	struct uhca_abi_cause cause;
};

/* A burst up to its list of pieces. */
#define BURST_BYTES offsetof(struct core_burst, n_iov)

void io_recorder_init(struct io_recorder *r, size_t size)
{
	/* Of its own, so that no page is touched before there is something for it. */
	void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	*r = (struct io_recorder){.ring = ring == MAP_FAILED ? NULL : ring, .size = size};
}

void io_recorder_destroy(struct io_recorder *r)
{
	if (r->ring)
		munmap(r->ring, r->size);
	*r = (struct io_recorder){.ring = NULL};
}

/* Until it is full the rest of its pages was never touched. */
int io_recorder_copy(const struct io_recorder *r, struct io_recorder *out)
{
	size_t used = r->head < r->size ? (size_t)r->head : r->size;

	*out = (struct io_recorder){.ring = NULL};
	if (!r->ring)
		return 0;
	io_recorder_init(out, r->size);
	if (!out->ring)
		return -ENOMEM;
	memcpy(out->ring, r->ring, used);
	out->head = r->head;
	out->tail = r->tail;
	return 0;
}

/* ---- the ring ---- */

static struct head *at(const struct io_recorder *r, uint64_t position)
{
	return (struct head *)(void *)(r->ring + (position & (r->size - 1)));
}

/* Takes the oldest away until there is room for len bytes more. */
static void make_room(struct io_recorder *r, uint32_t len)
{
	while (r->head + len - r->tail > r->size)
		r->tail += at(r, r->tail)->len;
}

static void fill_up(struct io_recorder *r, uint32_t len)
{
	make_room(r, len);
	at(r, r->head)->len = len;
	at(r, r->head)->kind = FILLER;
	r->head += len;
}

static void add(struct io_recorder *r, struct head h, const void *p, size_t n)
{
	uint32_t len = (uint32_t)((sizeof(h) + n + 7) & ~(size_t)7);
	size_t left = r->size - (r->head & (r->size - 1));
	struct head *to;

	if (left < len)
		fill_up(r, (uint32_t)left);
	make_room(r, len);
	to = at(r, r->head);
	h.len = len;
	*to = h;
	memcpy(to + 1, p, n);
	r->head += len;
}

void io_recorder_burst(struct io_recorder *r, unsigned interface, uint32_t flags,
		       const struct core_burst *t, uint64_t now)
{
	bool again = r->passing == t;
	const struct head h = {.kind = again ? ECHO : BURST,
			       .interface = (uint8_t)interface,
			       .flags = (uint8_t)flags,
			       .now = now};

	if (!r->ring)
		return;
	add(r, h, t, again ? 0 : BURST_BYTES);
	if (!again)
		r->passing = flags == IO_PCAPNG_OUTBOUND ? t : NULL;
}

void io_recorder_fate(struct io_recorder *r, unsigned interface, const struct io_capture_fate *fate,
		      uint64_t now)
{
	if (r->ring)
		add(r, (struct head){.kind = FATE, .interface = (uint8_t)interface, .now = now},
		    fate, sizeof(*fate));
}

void io_recorder_trace(struct io_recorder *r, unsigned interface, const struct core_trace *t,
		       uint64_t now)
{
	struct trace_record record = {.trace = *t};

	if (!r->ring)
		return;
	if (t->cause)
		record.cause = *t->cause;
	add(r, (struct head){.kind = TRACE, .interface = (uint8_t)interface, .now = now}, &record,
	    t->cause ? sizeof(record) : sizeof(record.trace));
}

void io_recorder_text(struct io_recorder *r, const char *text, uint64_t now)
{
	if (r->ring)
		add(r, (struct head){.kind = TEXT, .now = now}, text, strlen(text) + 1);
}

/* ---- writing it out ---- */

struct dump {
	const struct io_recorder *r;
	struct io_capture *to;
	const struct head *burst; /* the BURST that was seen last, for ECHOs; NULL: it is gone */
	uint64_t wall_of_zero;    /* the wall clock's time when the other one was 0 */
	uint64_t skip;            /* packets, from the oldest */
};

static uint32_t packets_of(const struct head *h)
{
	struct core_burst t;

	memcpy(&t, h + 1, BURST_BYTES);
	return t.count;
}

static uint64_t count_packets(const struct io_recorder *r)
{
	uint32_t last = 0;
	uint64_t n = 0;

	for (uint64_t p = r->tail; p < r->head; p += at(r, p)->len) {
		if (at(r, p)->kind == BURST)
			last = packets_of(at(r, p));
		if (at(r, p)->kind == BURST || at(r, p)->kind == ECHO)
			n += last;
	}
	return n;
}

/* What became of the burst at "p" stands between it and the next one of the interface. */
static void collect_fates(const struct io_recorder *r, uint64_t p, struct io_capture_burst *t)
{
	const struct head *burst = at(r, p);

	for (p += burst->len; p < r->head && t->n_fates < IO_CAPTURE_FATES; p += at(r, p)->len) {
		const struct head *h = at(r, p);

		if (h->interface != burst->interface)
			continue;
		if (h->kind == BURST || h->kind == ECHO)
			return;
		if (h->kind == FATE)
			memcpy(&t->fate[t->n_fates++], h + 1, sizeof(t->fate[0]));
	}
}

static void dump_burst(struct dump *d, uint64_t p)
{
	const struct head *h = at(d->r, p);
	struct core_burst burst;
	struct io_capture_burst t = {.burst = &burst,
				     .interface = h->interface,
				     .flags = h->flags,
				     .wall = h->now + d->wall_of_zero};

	if (h->kind == BURST)
		d->burst = h;
	if (!d->burst)
		return;
	memcpy(&burst, d->burst + 1, BURST_BYTES);
	burst.n_iov = 0;
	if (d->skip > 0) {
		d->skip -= d->skip < burst.count ? d->skip : burst.count;
		return;
	}
	collect_fates(d->r, p, &t);
	io_capture_put(d->to, &t);
}

static void dump_trace(struct dump *d, const struct head *h)
{
	const char *device = d->to->interface[h->interface];
	struct trace_record t = {.cause.kind = UHCA_ABI_CAUSE_NONE};
	struct io_words w;

	memcpy(&t.trace, h + 1, sizeof(t.trace));
	if (t.trace.cause) {
		memcpy(&t, h + 1, sizeof(t));
		t.trace.cause = &t.cause;
	}
	if (io_trace_trace(&w, device, &t.trace))
		io_capture_record(d->to, h->now + d->wall_of_zero, w.text);
}

static void dump_all(struct dump *d)
{
	for (uint64_t p = d->r->tail; p < d->r->head; p += at(d->r, p)->len) {
		const struct head *h = at(d->r, p);

		if (h->kind == BURST || h->kind == ECHO)
			dump_burst(d, p);
		else if (h->kind == TRACE)
			dump_trace(d, h);
		else if (h->kind == TEXT)
			io_capture_record(d->to, h->now + d->wall_of_zero, (const char *)(h + 1));
	}
}

/* What it is: who reads it knows that completions with success are not in it. */
static void begin_dump(struct dump *d, uint64_t packets)
{
	const struct io_recorder *r = d->r;
	struct io_words w;

	io_words_begin(&w, "recorder");
	io_words_number(&w, "packets", packets);
	io_words_number(&w, "lost", r->tail);
	io_capture_record(
		d->to, (r->tail < r->head ? at(r, r->tail)->now : io_clock_now()) + d->wall_of_zero,
		w.text);
}

static void name_interfaces(struct io_capture *to, const struct io_capture *like)
{
	io_capture_init(to);
	for (unsigned i = 0; i < like->n_interfaces; i++)
		io_capture_add_interface(to, like->interface[i]);
	to->rule_text = like->rule_text;
	to->ending = like->ending;
	to->user = like->user;
}

int io_recorder_dump(const struct io_recorder *r, const struct io_capture *like, const char *path,
		     struct io_recorder_dump *out)
{
	const struct io_capture_wish wish = {.path = path, .only = -1, .snap = IO_CAPTURE_HEADERS};
	uint64_t n = count_packets(r);
	struct io_capture to;
	struct dump d = {.r = r, .to = &to, .wall_of_zero = io_clock_wall_of_zero()};
	int error;

	*out = (struct io_recorder_dump){.cut = n > IO_RECORDER_PACKETS};
	d.skip = out->cut ? n - IO_RECORDER_PACKETS : 0;
	name_interfaces(&to, like);
	error = io_capture_start(&to, &wish);
	if (error < 0)
		return error;
	begin_dump(&d, n);
	dump_all(&d);
	if (to.ending)
		to.ending(to.user, &to, io_clock_wall());
	error = io_capture_stop(&to);
	out->packets = to.packets;
	out->records = to.records;
	return error;
}
