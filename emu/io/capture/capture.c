/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes packets and metadata of all devices to one pcapng file. */
#include "capture.h"

#include "emu/io/base/base.h"
#include "file_writer.h"
#include "packet_frame.h"
#include "trace_text.h"
#include "wire/psn.h"

#include <errno.h>
#include <string.h>

_Static_assert(IO_FRAME_HEADERS + ROCE_MAX_PACKET_LENGTH <= IO_PCAPNG_FRAME_MAX,
	       "room for a frame");

void io_capture_init(struct io_capture *c)
{
	*c = (struct io_capture){.only = -1};
	io_pcapng_init(&c->file);
}

unsigned io_capture_add_interface(struct io_capture *c, const char *name)
{
	strncpy(c->interface[c->n_interfaces], name, sizeof(c->interface[0]) - 1);
	return c->n_interfaces++;
}

/* ---- the file ---- */

/* Of a capture that has just ended by itself. */
static void say_stopped(const struct io_capture *c)
{
	io_log(IO_LOG_ERROR, "capture to %s stopped: %s", c->path, strerror(-c->file.error));
}

static void put_interfaces(struct io_capture *c)
{
	uint32_t least = c->snap < IO_CAPTURE_LEAST ? IO_CAPTURE_LEAST : c->snap;
	uint32_t snap = least >= IO_PCAPNG_FRAME_MAX ? 0 : least;

	for (unsigned i = 0; i < c->n_interfaces; i++)
		io_pcapng_interface(&c->file, c->interface[i], snap);
}

int io_capture_start(struct io_capture *c, const struct io_capture_wish *wish)
{
	int error;

	if (io_capture_running(c))
		return -EBUSY;
	if (strlen(wish->path) >= sizeof(c->path))
		return -ENAMETOOLONG;
	error = io_pcapng_open(&c->file, wish->path, wish->aside);
	if (error < 0)
		return error;
	memcpy(c->path, wish->path, strlen(wish->path) + 1);
	c->snap = wish->snap;
	c->only = wish->only;
	c->packets = c->bytes = c->records = c->lost_recorded = 0;
	memset(c->keys, 0, sizeof(c->keys));
	put_interfaces(c);
	if (!io_pcapng_flush(&c->file))
		say_stopped(c);
	return c->file.error;
}

/* How much is missing so far, as soon as there is room for it. */
static void record_lost(struct io_capture *c)
{
	uint64_t lost = c->file.lost_packets + c->file.lost_records;
	struct io_words w;

	if (lost == c->lost_recorded)
		return;
	c->lost_recorded = lost;
	io_trace_note(&w, c->interface[0],
		      "packets before this one are missing: the file system was too slow");
	io_words_number(&w, "packets", c->file.lost_packets);
	io_words_number(&w, "records", c->file.lost_records);
	io_pcapng_record(&c->file, io_clock_wall(), w.text);
}

void io_capture_flush(struct io_capture *c)
{
	if (!io_capture_running(c))
		return;
	record_lost(c);
	if (!io_pcapng_flush(&c->file))
		say_stopped(c);
}

int io_capture_end(struct io_capture *c, struct io_file_writer **writer)
{
	*writer = c->file.writer ? io_file_writer_get(c->file.writer) : NULL;
	if (io_capture_running(c))
		record_lost(c);
	if (io_capture_running(c) && io_pcapng_close(&c->file) < 0)
		say_stopped(c);
	if (*writer)
		io_file_writer_finish(*writer);
	return c->file.error;
}

int io_capture_stop(struct io_capture *c)
{
	struct io_file_writer *writer;
	int error = io_capture_end(c, &writer);

	if (writer && error == 0) {
		c->file.error = io_file_writer_wait(writer, IO_CAPTURE_LAST_MS);
		if (c->file.error < 0)
			say_stopped(c);
	}
	if (writer)
		io_file_writer_close(writer);
	return c->file.error;
}

/* ---- packets ---- */

/* What happened to one packet: the last word counts. */
static struct io_trace_fate fate_of(const struct io_capture *c, const struct io_capture_burst *t,
				    uint32_t psn)
{
	struct io_trace_fate fate = {.rule = t->burst->model.rule};

	for (unsigned k = 0; k < t->n_fates; k++) {
		const struct io_capture_fate *f = &t->fate[k];

		if (psn_diff(psn, f->psn) < 0 ||
		    (f->count != UINT32_MAX && (uint32_t)psn_diff(psn, f->psn) >= f->count))
			continue;
		if (f->rule)
			fate.rule = f->rule;
		if (f->dropped || f->judged) {
			fate.dropped = f->dropped;
			fate.judged = f->judged;
			fate.cause = &f->cause;
		}
	}
	if (fate.rule && c->rule_text)
		fate.rule_text = c->rule_text(c->user, fate.rule);
	return fate;
}

/* Bytes of a frame that are worth making. */
static size_t room_of(const struct io_capture *c)
{
	if (c->snap <= IO_CAPTURE_LEAST || c->snap == IO_CAPTURE_HEADERS)
		return IO_CAPTURE_LEAST;
	return c->snap < IO_PCAPNG_FRAME_MAX ? c->snap : IO_PCAPNG_FRAME_MAX;
}

/* Bytes of a frame that are kept, at least so many of it. */
static uint32_t kept_of(const struct io_capture *c, uint32_t length, uint32_t least)
{
	uint32_t most = c->snap < IO_PCAPNG_FRAME_MAX ? c->snap : IO_PCAPNG_FRAME_MAX;

	most = most < least ? least : most;
	return length < most ? length : most;
}

/* Without its headers nobody can say what a packet is; a MAD is one as a whole. */
static uint32_t least_of(const struct io_capture_burst *t, uint32_t i)
{
	if (t->burst->head.bth.dest_qp == ROCE_GSI_QPN)
		return IO_CAPTURE_LEAST;
	return (uint32_t)io_frame_headers(t->burst, i);
}

static void put_packet(struct io_capture *c, const struct io_capture_burst *t, uint32_t i)
{
	uint32_t psn = psn_add(t->burst->head.bth.psn, i);
	struct io_trace_fate fate = fate_of(c, t, psn);
	struct io_words words;
	uint32_t length;
	uint32_t kept;
	uint8_t *frame = io_pcapng_packet(&c->file, t->interface, t->wall);

	if (!frame)
		return;
	io_trace_packet(&words, t->burst, i, &fate);
	length = (uint32_t)io_frame_make(t->burst, i, frame, room_of(c));
	kept = c->snap == IO_CAPTURE_HEADERS && t->burst->length > 0
		       ? (uint32_t)io_frame_headers(t->burst, i)
		       : kept_of(c, length, least_of(t, i));
	io_pcapng_packet_end(&c->file, kept, length, t->flags, words.text);
	c->packets++;
	c->bytes += length;
}

static void put_burst(struct io_capture *c, const struct io_capture_burst *t)
{
	for (uint32_t i = 0; i < t->burst->count; i++)
		put_packet(c, t, i);
}

void io_capture_settle(struct io_capture *c)
{
	struct io_capture_burst *t = c->pending;
	bool running = io_capture_running(c);

	c->pending = NULL;
	if (!t || !running || c->snap == 0)
		return;
	put_burst(c, t);
	if (!io_capture_running(c))
		say_stopped(c);
}

void io_capture_put(struct io_capture *c, const struct io_capture_burst *t)
{
	struct io_capture_burst copy = *t;

	io_capture_settle(c);
	c->pending = &copy;
	io_capture_settle(c);
}

void io_capture_put_bytes(struct io_capture *c, const struct io_capture_bytes *b)
{
	struct io_words words;
	uint32_t length;
	uint8_t *frame;

	io_capture_settle(c);
	if (!io_capture_running(c) || c->snap == 0)
		return;
	frame = io_pcapng_packet(&c->file, b->interface, b->wall);
	if (!frame) {
		say_stopped(c);
		return;
	}
	io_words_begin(&words, "");
	io_words_text(&words, "dropped", b->dropped);
	length = (uint32_t)io_frame_wrap(b->flow, b->p, b->len, frame, room_of(c));
	io_pcapng_packet_end(&c->file, kept_of(c, length, IO_FRAME_HEADERS), length,
			     IO_PCAPNG_INBOUND, words.text);
	c->packets++;
	c->bytes += length;
}

void io_capture_record(struct io_capture *c, uint64_t wall, const char *text)
{
	io_capture_settle(c);
	if (!io_capture_running(c))
		return;
	io_pcapng_record(&c->file, wall, text);
	if (!io_capture_running(c))
		say_stopped(c);
	c->records++;
}

bool io_capture_new_key(struct io_capture *c, uint32_t key)
{
	uint32_t *slot = &c->keys[(key >> 8) % IO_CAPTURE_KEYS];

	if (*slot == key)
		return false;
	*slot = key;
	return true;
}
