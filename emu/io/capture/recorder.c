/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See recorder.h. Records are of different lengths and never wrap around: one that does not fit
 * before the end of the ring is preceded by a filler.
 */
#include "recorder.h"

#include "emu/io/base/base.h"
#include "tell.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* ECHO: the TRAIN before it once more, as another box saw it. */
enum kind { FILLER, TRAIN, ECHO, FATE, TRACE, TEXT };

struct head {
	uint32_t len; /* bytes to the next record, a multiple of 8 */
	uint8_t kind;
	uint8_t interface;
	uint8_t flags;
	uint8_t unused;
	uint64_t now;
};

/* A train up to its list of pieces. */
#define TRAIN_BYTES offsetof(struct core_train, n_iov)

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

void io_recorder_train(struct io_recorder *r, unsigned interface, uint32_t flags,
		       const struct core_train *t, uint64_t now)
{
	bool again = r->passing == t;
	const struct head h = {.kind = again ? ECHO : TRAIN,
			       .interface = (uint8_t)interface,
			       .flags = (uint8_t)flags,
			       .now = now};

	if (!r->ring)
		return;
	add(r, h, t, again ? 0 : TRAIN_BYTES);
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
	if (r->ring)
		add(r, (struct head){.kind = TRACE, .interface = (uint8_t)interface, .now = now}, t,
		    sizeof(*t));
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
	const struct head *train; /* the TRAIN that was seen last, for ECHOs; NULL: it is gone */
	uint64_t wall_of_zero;    /* the wall clock's time when the other one was 0 */
	uint64_t skip;            /* packets, from the oldest */
};

static uint32_t packets_of(const struct head *h)
{
	struct core_train t;

	memcpy(&t, h + 1, TRAIN_BYTES);
	return t.count;
}

static uint64_t count_packets(const struct io_recorder *r)
{
	uint32_t last = 0;
	uint64_t n = 0;

	for (uint64_t p = r->tail; p < r->head; p += at(r, p)->len) {
		if (at(r, p)->kind == TRAIN)
			last = packets_of(at(r, p));
		if (at(r, p)->kind == TRAIN || at(r, p)->kind == ECHO)
			n += last;
	}
	return n;
}

/* What became of the train at "p" stands between it and the next one of the interface. */
static void collect_fates(const struct io_recorder *r, uint64_t p, struct io_capture_train *t)
{
	const struct head *train = at(r, p);

	for (p += train->len; p < r->head && t->n_fates < IO_CAPTURE_FATES; p += at(r, p)->len) {
		const struct head *h = at(r, p);

		if (h->interface != train->interface)
			continue;
		if (h->kind == TRAIN || h->kind == ECHO)
			return;
		if (h->kind == FATE)
			memcpy(&t->fate[t->n_fates++], h + 1, sizeof(t->fate[0]));
	}
}

static void dump_train(struct dump *d, uint64_t p)
{
	const struct head *h = at(d->r, p);
	struct core_train train;
	struct io_capture_train t = {.train = &train,
				     .interface = h->interface,
				     .flags = h->flags,
				     .wall = h->now + d->wall_of_zero};

	if (h->kind == TRAIN)
		d->train = h;
	if (!d->train)
		return;
	memcpy(&train, d->train + 1, TRAIN_BYTES);
	train.n_iov = 0;
	if (d->skip > 0) {
		d->skip -= d->skip < train.count ? d->skip : train.count;
		return;
	}
	collect_fates(d->r, p, &t);
	io_capture_put(d->to, &t);
}

static void dump_trace(struct dump *d, const struct head *h)
{
	const char *device = d->to->interface[h->interface];
	struct core_trace t;
	struct io_words w;

	memcpy(&t, h + 1, sizeof(t));
	if (io_tell_trace(&w, device, &t))
		io_capture_record(d->to, h->now + d->wall_of_zero, w.text);
}

static void dump_all(struct dump *d)
{
	for (uint64_t p = d->r->tail; p < d->r->head; p += at(d->r, p)->len) {
		const struct head *h = at(d->r, p);

		if (h->kind == TRAIN || h->kind == ECHO)
			dump_train(d, p);
		else if (h->kind == TRACE)
			dump_trace(d, h);
		else if (h->kind == TEXT)
			io_capture_record(d->to, h->now + d->wall_of_zero, (const char *)(h + 1));
	}
}

static void name_interfaces(struct io_capture *to, const struct io_capture *like)
{
	io_capture_init(to);
	for (unsigned i = 0; i < like->n_interfaces; i++)
		io_capture_add_interface(to, like->interface[i]);
	to->rule_text = like->rule_text;
	to->user = like->user;
}

int io_recorder_dump(const struct io_recorder *r, const struct io_capture *like, const char *path,
		     struct io_recorder_dump *out)
{
	const struct io_capture_wish wish = {.path = path, .only = -1, .snap = IO_CAPTURE_HEADERS};
	uint64_t n = count_packets(r);
	struct io_capture to;
	struct dump d = {.r = r, .to = &to, .wall_of_zero = io_clock_wall() - io_clock_now()};
	int error;

	*out = (struct io_recorder_dump){.cut = n > IO_RECORDER_PACKETS};
	d.skip = out->cut ? n - IO_RECORDER_PACKETS : 0;
	name_interfaces(&to, like);
	error = io_capture_start(&to, &wish);
	if (error < 0)
		return error;
	dump_all(&d);
	error = io_capture_stop(&to);
	out->packets = to.packets;
	out->records = to.records;
	return error;
}
