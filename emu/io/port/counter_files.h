/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device has counted, as files where tools look for it: ports/1/counters, named as the
 * port counters of InfiniBand, and ports/1/hw_counters, named as the adapter's driver names them
 * (counter_tables.h). The files follow at most a second behind: a timer that runs only when there
 * was work writes those whose number has changed, so that a daemon with nothing to do does nothing.
 */
#ifndef IO_COUNTER_FILES_H
#define IO_COUNTER_FILES_H

#include "counter_tables.h"
#include "emu/core/core.h"

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

struct io_device;

#define IO_COUNTER_FILES 88 /* room: files of a device */

/* The files of one device. */
struct io_counter_files {
	const struct io_device *dev;
	int root; /* ports/1; -1: none */
	uint64_t written[IO_COUNTER_FILES];
};

/*
 * Makes the files of a device whose others are there already, with its counts. 0 or -errno of
 * mkdir(2), open(2) and write(2), nothing being open then.
 */
int io_counter_files_open(struct io_counter_files *f, const char *dir, const struct io_device *dev);
void io_counter_files_close(struct io_counter_files *f);

/* Writes what has changed. 0 or -errno. */
int io_counter_files_update(struct io_counter_files *f);

/* What a thread is to write; nothing of the device is in it. */
struct io_counter_values {
	int root;
	enum io_counter_names names;
	uint64_t value[IO_COUNTER_FILES], written[IO_COUNTER_FILES];
	int error; /* -errno, or 0 */
};

/*
 * The same in three steps, so that a thread can do the second one: collects the values, writes
 * them, and notes what was written.
 */
void io_counter_files_collect(const struct io_counter_files *f, struct io_counter_values *v);
void io_counter_values_write(struct io_counter_values *v);
void io_counter_files_note(struct io_counter_files *f, const struct io_counter_values *v);

/* There was work: the files will follow, by the timer of a second that updates them. */
static inline void io_counter_timer_touch(struct ev_loop *loop, ev_timer *timer)
{
	if (ev_is_active(timer))
		return;
	ev_now_update(loop);
	ev_timer_set(timer, 1, 0);
	ev_timer_start(loop, timer);
}

#endif
