/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder: what the devices of a daemon did last, always on. A ring of small records,
 * for each burst its headers without payload, and each rare event (states, drops, NAKs,
 * retries, failed completions, events, rule hits); the oldest go first. Its memory is touched only
 * as it fills. It can be written out at any time as a capture whose packets end with their headers.
 */
#ifndef IO_RECORDER_H
#define IO_RECORDER_H

#include "capture.h"
#include "emu/core/core.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_RECORDER_BYTES   (1u << 20)
#define IO_RECORDER_PACKETS 16384 /* most packets of a dump: the newest */

struct io_recorder {
	uint8_t *ring; /* NULL: off */
	size_t size;
	uint64_t head, tail; /* bytes since it was made; [tail, head) is there */
	/* The burst recorded last, while it goes on its way: at a device of this daemon it is not
	 * copied again. */
	const struct core_burst *passing;
	bool failed; /* something failed by itself since somebody put this to false */
};

/* size: a power of two, at least 4096. Without memory it stays off. */
void io_recorder_init(struct io_recorder *r, size_t size);
void io_recorder_destroy(struct io_recorder *r);

/*
 * What is there now, for another thread. 0 or -ENOMEM; a recorder that is off has nothing. To be
 * destroyed.
 */
int io_recorder_copy(const struct io_recorder *r, struct io_recorder *out);

/*
 * now: of io_clock_now. flags: IO_PCAPNG_*. A burst that is sent stays "passing" until the caller
 * puts that to NULL.
 */
void io_recorder_burst(struct io_recorder *r, unsigned interface, uint32_t flags,
		       const struct core_burst *t, uint64_t now);

/* Of the burst of this interface that was recorded last. */
void io_recorder_fate(struct io_recorder *r, unsigned interface, const struct io_capture_fate *fate,
		      uint64_t now);

void io_recorder_trace(struct io_recorder *r, unsigned interface, const struct core_trace *t,
		       uint64_t now);

/* A record in words. */
void io_recorder_text(struct io_recorder *r, const char *text, uint64_t now);

struct io_recorder_dump {
	uint64_t packets, records;
	bool cut; /* there were more packets */
};

/*
 * Writes what is there to a file, with the interfaces and rules of capture "like". 0 or -errno of
 * io_pcapng_open and write(2).
 */
int io_recorder_dump(const struct io_recorder *r, const struct io_capture *like, const char *path,
		     struct io_recorder_dump *out);

#endif
