/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a daemon tells of itself: decides who is told what (the capture that was asked for, the
 * flight recorder that is always on), writes how the counters move, and writes the recorder out
 * when something fails and the settings ask for that.
 */
#ifndef IO_TELLER_H
#define IO_TELLER_H

#include "capture.h"
#include "emu/fault/plan/plans.h"
#include "emu/io/base/base.h"
#include "recorder.h"

#include <stdbool.h>
#include <stdint.h>

struct io_device;
struct io_devices;

#define IO_TELLER_DUMPS 8 /* most files that failures leave behind */

/* A rule that was told of. */
struct io_teller_rule {
	uint32_t number;
	uint64_t added;
};

struct io_teller {
	struct io_recorder recorder;
	struct io_capture *capture;
	const struct io_devices *devices;
	const struct fault_plan *plan; /* set by its owner; NULL: there are no rules yet */
	const char *on_error;          /* where failures are written to; "": nowhere */
	struct io_teller_rule *rules;  /* n_rules of them */
	unsigned n_rules;
	/* While there is a capture: IO_COUNTS of each port, as the last record had them. */
	uint64_t *counted;
	uint64_t next_counters;
	uint64_t next_dump;
	unsigned dumps;
};

/* All of them stay the caller's. */
void io_teller_create(struct io_teller *t, struct io_capture *capture,
		      const struct io_devices *devices, const char *on_error);
void io_teller_destroy(struct io_teller *t);

/* Tells the cores what is wanted of them; after a change of the capture or of the devices. */
void io_teller_hooks(struct io_teller *t);

/* As io_capture_start and io_capture_stop, and also -ENOMEM. */
int io_teller_start(struct io_teller *t, const struct io_capture_wish *wish);
int io_teller_stop(struct io_teller *t);

/* Writes the recorder to a file; see io_recorder_dump. */
int io_teller_dump(struct io_teller *t, const char *path, struct io_recorder_dump *out);

/* Is there anything for io_teller_tick to look at? */
static inline bool io_teller_awake(const struct io_teller *t)
{
	return t->recorder.failed || t->counted;
}

/* To be called now and then while it is awake: counters, files on failures. */
void io_teller_tick(struct io_teller *t, uint64_t now);

/* A record of no device, or of the one with this name (NULL: none). */
void io_teller_say(struct io_teller *t, const char *device, const struct io_words *w);

/* A fault rule fired. */
void io_teller_hit(struct io_teller *t, const struct fault_hit *hit);

/* A client of the device is about to go: does it leave objects that it never destroyed? */
void io_teller_leak(struct io_teller *t, const struct io_device *dev, const void *client,
		    const char *program);

/* The plan may have changed: rules that came, went or are others now are told of. */
void io_teller_rules(struct io_teller *t);

#endif
