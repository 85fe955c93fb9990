/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pcapng file (draft-ietf-opsawg-pcapng) that is being written. Blocks gather in a buffer, which
 * is written when it is full, and by io_pcapng_flush. A file that cannot be written any more is
 * closed. Later blocks are discarded, and "error" has the reason.
 *
 * The caller writes the file and waits for it, or a thread does (file_writer.h). The thread leaves
 * out, and counts, blocks that the file system does not take in time.
 */
#ifndef IO_PCAPNG_H
#define IO_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_PCAPNG_INBOUND  1u
#define IO_PCAPNG_OUTBOUND 2u

/* Longest frame and longest comment or record of a file. */
#define IO_PCAPNG_FRAME_MAX 8192
#define IO_PCAPNG_TEXT_MAX  1024

struct io_file_writer;

struct io_pcapng {
	int fd;                        /* -1: closed, or a thread's */
	struct io_file_writer *writer; /* NULL: there is none */
	uint8_t *buffer;
	uint8_t *aside; /* io_pcapng_cut */
	size_t used;
	size_t block;     /* where the block starts that is being made */
	uint64_t flushes; /* how often the buffer was emptied */
	int error;        /* why it was closed by itself: -errno, or 0 */
	/* Packets and records in the buffer; and those that were left out. */
	uint64_t packets, records;
	uint64_t lost_packets, lost_records;
};

/* A file that is not open. */
void io_pcapng_init(struct io_pcapng *w);

static inline bool io_pcapng_is_open(const struct io_pcapng *w)
{
	return w->fd >= 0 || w->writer;
}

/*
 * Makes or overwrites the file and begins a section. 0 or -errno: EINVAL (not a regular file),
 * ELOOP (a symbolic link), EPERM (another user's, or one that has other names, too),
 * EBUSY (another file is open), ENOMEM, or that of open(2) and write(2). aside: a thread does it,
 * and what it finds io_file_writer_wait tells; here -EBUSY, -ENAMETOOLONG, -ENOMEM or -EAGAIN
 * (io_file_writer_open).
 */
int io_pcapng_open(struct io_pcapng *w, const char *path, bool aside);

/*
 * Writes what is buffered, or hands it to the thread. False when the file had to be closed: "error"
 * is set by this call.
 */
bool io_pcapng_flush(struct io_pcapng *w);

/* 0, or -errno when something could not be written, now or before. For a thread's nobody waits. */
int io_pcapng_close(struct io_pcapng *w);

/* The next interface: Ethernet, nanoseconds; of each packet at most snap bytes, 0: all. */
void io_pcapng_interface(struct io_pcapng *w, const char *name, uint32_t snap);

/*
 * A packet: returns where its frame is to be put, IO_PCAPNG_FRAME_MAX bytes, or NULL when the file
 * is closed. io_pcapng_packet_end must follow: "kept" bytes are there of "length" that the packet
 * has. wall: nanoseconds since 1970. flags: IO_PCAPNG_*. The comment may be empty.
 */
uint8_t *io_pcapng_packet(struct io_pcapng *w, uint32_t interface, uint64_t wall);
void io_pcapng_packet_end(struct io_pcapng *w, uint32_t kept, uint32_t length, uint32_t flags,
			  const char *comment);

/* A custom block (model.h) with a line of text. */
void io_pcapng_record(struct io_pcapng *w, uint64_t wall, const char *text);

/*
 * What has happened since is to stand behind what comes now: io_pcapng_mark before, and then
 * io_pcapng_cut takes the blocks since the mark away, io_pcapng_paste puts them at the end. When
 * the buffer was emptied in between they stay where they are. Nothing may be nested.
 */
struct io_pcapng_mark {
	size_t used;
	uint64_t flushes;
	size_t aside; /* bytes */
};

struct io_pcapng_mark io_pcapng_mark(const struct io_pcapng *w);
void io_pcapng_cut(struct io_pcapng *w, struct io_pcapng_mark *m);
void io_pcapng_paste(struct io_pcapng *w, const struct io_pcapng_mark *m);

#endif
