/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See pcapng.h. Numbers are in the byte order of this machine, which the format allows.
 */
#include "pcapng.h"

#include "emu/abi/packet_metadata.h"
#include "emu/output/output.h"
#include "file_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES (1 << 18)
#define BLOCK_MAX    (IO_PCAPNG_FRAME_MAX + IO_PCAPNG_TEXT_MAX + 64)

#define BLOCK_SECTION    0x0a0d0d0au
#define BLOCK_INTERFACE  1u
#define BLOCK_PACKET     6u
#define BYTE_ORDER_MAGIC 0x1a2b3c4du
#define LINK_ETHERNET    1
#define PACKET_HEADER    28 /* bytes of a packet block before the frame */

#define OPTION_END     0
#define OPTION_COMMENT 1
#define OPTION_NAME    2 /* of an interface */
#define OPTION_TSRES   9 /* its time resolution: power of ten */
#define OPTION_FLAGS   2 /* of a packet: bits 0..1 direction */

_Static_assert(IO_PCAPNG_TEXT_MAX >= UHCA_MODEL_MAX, "room for a comment");

void io_pcapng_init(struct io_pcapng *w)
{
	*w = (struct io_pcapng){.fd = -1};
}

/* ---- the file ---- */

static void close_file(struct io_pcapng *w)
{
	if (w->writer)
		io_file_writer_close(w->writer);
	else
		close(w->fd);
	free(w->buffer);
	w->fd = -1;
	w->writer = NULL;
	w->buffer = w->aside = NULL;
	w->used = 0;
}

/* There may be nothing to hand over: then the thread may have failed meanwhile all the same. */
static int hand_over(struct io_pcapng *w)
{
	int error = w->used > 0 ? io_file_writer_put(w->writer, w->buffer, w->used)
				: io_file_writer_error(w->writer);

	if (error != -EAGAIN)
		return error;
	w->lost_packets += w->packets;
	w->lost_records += w->records;
	return 0;
}

bool io_pcapng_flush(struct io_pcapng *w)
{
	int error = w->writer ? hand_over(w) : io_file_write_all(w->fd, w->buffer, w->used);

	if (error < 0) {
		w->error = error;
		close_file(w);
		return false;
	}
	w->flushes += w->used > 0;
	w->used = 0;
	w->packets = w->records = 0;
	return true;
}

int io_pcapng_close(struct io_pcapng *w)
{
	if (io_pcapng_is_open(w) && io_pcapng_flush(w))
		close_file(w);
	return w->error;
}

/* ---- blocks in the buffer ---- */

static void pcapng_append(struct io_pcapng *w, const void *p, size_t len)
{
	if (len > 0)
		memcpy(w->buffer + w->used, p, len);
	w->used += len;
}

static void put32(struct io_pcapng *w, uint32_t v)
{
	pcapng_append(w, &v, sizeof(v));
}

static void pad32(struct io_pcapng *w)
{
	while (w->used % 4)
		w->buffer[w->used++] = 0;
}

static void put_option(struct io_pcapng *w, uint16_t code, const void *value, size_t len)
{
	const uint16_t head[2] = {code, (uint16_t)len};

	pcapng_append(w, head, sizeof(head));
	pcapng_append(w, value, len);
	pad32(w);
}

/* False when the file is closed. */
static bool begin_block(struct io_pcapng *w, uint32_t type)
{
	if (!io_pcapng_is_open(w))
		return false;
	if (BUFFER_BYTES - w->used < BLOCK_MAX && !io_pcapng_flush(w))
		return false;
	w->block = w->used;
	put32(w, type);
	put32(w, 0);
	return true;
}

/* The length stands at both ends of a block. */
static void end_block(struct io_pcapng *w)
{
	uint32_t len = (uint32_t)(w->used - w->block + 4);

	memcpy(w->buffer + w->block + 4, &len, sizeof(len));
	put32(w, len);
}

static void put_section(struct io_pcapng *w)
{
	static const uint16_t version[2] = {1, 0};
	static const uint64_t unknown = UINT64_MAX;

	if (!begin_block(w, BLOCK_SECTION))
		return;
	put32(w, BYTE_ORDER_MAGIC);
	pcapng_append(w, version, sizeof(version));
	pcapng_append(w, &unknown, sizeof(unknown));
	end_block(w);
}

int io_pcapng_open(struct io_pcapng *w, const char *path, bool aside)
{
	struct io_file_writer *writer = NULL;
	int fd = -1, error;

	if (io_pcapng_is_open(w))
		return -EBUSY;
	if (aside)
		error = io_file_writer_open(path, &writer);
	else /* not one that could block us, as a FIFO can */
		error = fd = output_open(path, OUTPUT_REGULAR | OUTPUT_PRIVATE);
	if (error < 0)
		return error;
	*w = (struct io_pcapng){.fd = fd, .writer = writer, .buffer = malloc(2 * BUFFER_BYTES)};
	if (!w->buffer) {
		close_file(w);
		return -ENOMEM;
	}
	w->aside = w->buffer + BUFFER_BYTES;
	put_section(w);
	return 0;
}

void io_pcapng_interface(struct io_pcapng *w, const char *name, uint32_t snap)
{
	static const uint16_t link[2] = {LINK_ETHERNET, 0};
	static const uint8_t nanoseconds = 9;

	if (!begin_block(w, BLOCK_INTERFACE))
		return;
	pcapng_append(w, link, sizeof(link));
	put32(w, snap);
	put_option(w, OPTION_NAME, name, strlen(name));
	put_option(w, OPTION_TSRES, &nanoseconds, 1);
	put_option(w, OPTION_END, NULL, 0);
	end_block(w);
}

uint8_t *io_pcapng_packet(struct io_pcapng *w, uint32_t interface, uint64_t wall)
{
	if (!begin_block(w, BLOCK_PACKET))
		return NULL;
	put32(w, interface);
	put32(w, (uint32_t)(wall >> 32));
	put32(w, (uint32_t)wall);
	return w->buffer + w->block + PACKET_HEADER;
}

void io_pcapng_packet_end(struct io_pcapng *w, uint32_t kept, uint32_t length, uint32_t flags,
			  const char *comment)
{
	size_t n = strlen(comment);

	put32(w, kept);
	put32(w, length);
	w->used += kept;
	pad32(w);
	if (n > 0)
		put_option(w, OPTION_COMMENT, comment, n);
	put_option(w, OPTION_FLAGS, &flags, sizeof(flags));
	put_option(w, OPTION_END, NULL, 0);
	end_block(w);
	w->packets++;
}

void io_pcapng_record(struct io_pcapng *w, uint64_t wall, const char *text)
{
	if (!begin_block(w, UHCA_MODEL_BLOCK))
		return;
	put32(w, UHCA_MODEL_PEN);
	pcapng_append(w, &wall, sizeof(wall));
	pcapng_append(w, text, strlen(text));
	pad32(w);
	end_block(w);
	w->records++;
}

/* ---- order ---- */

struct io_pcapng_mark io_pcapng_mark(const struct io_pcapng *w)
{
	return (struct io_pcapng_mark){.used = w->used, .flushes = w->flushes};
}

void io_pcapng_cut(struct io_pcapng *w, struct io_pcapng_mark *m)
{
	m->aside = 0;
	if (!io_pcapng_is_open(w) || w->flushes != m->flushes || w->used == m->used)
		return;
	m->aside = w->used - m->used;
	memcpy(w->aside, w->buffer + m->used, m->aside);
	w->used = m->used;
}

void io_pcapng_paste(struct io_pcapng *w, const struct io_pcapng_mark *m)
{
	if (m->aside == 0 || !io_pcapng_is_open(w))
		return;
	if (BUFFER_BYTES - w->used < m->aside && !io_pcapng_flush(w))
		return;
	pcapng_append(w, w->aside, m->aside);
}
