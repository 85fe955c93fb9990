/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a daemon tells of itself: decides who is told what (the capture that was asked for, the
 * flight recorder that is always on), writes how the counters move, and writes the recorder out
 * when something fails and the settings ask for that.
 */
#ifndef IO_TRACER_H
#define IO_TRACER_H

#include "capture.h"
#include "emu/fault/plan/plans.h"
#include "emu/io/base/base.h"
#include "recorder.h"
#include "stand.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct io_device;
struct io_devices;
struct io_tasks;

#define IO_TRACER_DUMPS 8 /* most files that failures leave behind */

/* A rule that was told of. */
struct io_tracer_rule {
	uint32_t number;
	uint64_t added;
};

struct io_tracer {
	struct io_recorder recorder;
	struct io_capture *capture;
	const struct io_devices *devices;
	const struct fault_plan *plan; /* set by its owner; NULL: there are no rules yet */
	const char *on_error;          /* where failures are written to; "": nowhere */
	struct io_tracer_rule *rules;  /* n_rules of them */
	unsigned n_rules;
	/* What others know to stand, told behind queues; set by its owner, or NULL. */
	void (*stand_more)(void *user, const struct io_stand_sink *sink);
	void *stand_user;
	/* While there is a capture: IO_COUNTS of each port, as the last record had them. */
	uint64_t *counted;
	uint64_t next_counters;
	uint64_t next_dump;
	uint64_t failed_at; /* what is to be dumped; 0: nothing */
	unsigned dumps;
	struct io_tasks *tasks; /* set by its owner; NULL: files are written at once */
};

/* All of them stay the caller's. */
void io_tracer_create(struct io_tracer *t, struct io_capture *capture,
		      const struct io_devices *devices, const char *on_error);
void io_tracer_destroy(struct io_tracer *t);

/* Tells the cores what is wanted of them; after a change of the capture or of the devices. */
void io_tracer_hooks(struct io_tracer *t);

/* As io_capture_start, io_capture_stop and io_capture_end, and also -ENOMEM. */
int io_tracer_start(struct io_tracer *t, const struct io_capture_wish *wish);
int io_tracer_stop(struct io_tracer *t);
int io_tracer_end(struct io_tracer *t, struct io_file_writer **writer);

/*
 * Writes the recorder to a file, see io_recorder_dump: from a copy of what it has when the dump is
 * made, so that a thread can do it. "out" and "error" tell what came of it.
 */
struct io_tracer_dump {
	char path[PATH_MAX + 8];
	struct io_recorder_dump out;
	int error;
	struct io_recorder recorder;
	struct io_capture like; /* names only */
	struct io_tracer_text *rules;
	unsigned n_rules;
	char **ending; /* how all stood when the copy was made: records */
	unsigned n_ending;
};

/* The text of a rule. */
struct io_tracer_text {
	uint32_t number;
	char *text;
};

/* 0, -ENOMEM or -ENAMETOOLONG. To be freed. */
int io_tracer_dump_make(const struct io_tracer *t, const char *path, struct io_tracer_dump **out);
void io_tracer_dump_write(struct io_tracer_dump *d);
void io_tracer_dump_free(struct io_tracer_dump *d);

/* Is there anything for io_tracer_tick to look at? */
static inline bool io_tracer_awake(const struct io_tracer *t)
{
	return t->recorder.failed || t->counted;
}

/* To be called now and then while it is awake: counters, files on failures. */
void io_tracer_tick(struct io_tracer *t, uint64_t now);

/* When io_tracer_tick has a failure to write out; UINT64_MAX: there is none. */
uint64_t io_tracer_deadline(const struct io_tracer *t);

/* Writes it at once, before the daemon ends. */
void io_tracer_hurry(struct io_tracer *t);

/* A record of no device, or of the one with this name (NULL: none). */
void io_tracer_say(struct io_tracer *t, const char *device, const struct io_words *w);

/* A fault rule fired. */
void io_tracer_hit(struct io_tracer *t, const struct fault_hit *hit);

/* How far the look at what a client leaves has come; zero at first. */
struct io_leak {
	bool began;
	unsigned type;
	struct core_visit visit;
	uint32_t count[CORE_OBJECT_TYPES], all;
};

/*
 * A client of the device is about to go: does it leave objects that it never destroyed? Looks at a
 * part of them; false: there is more.
 */
bool io_tracer_leak(struct io_tracer *t, const struct io_device *dev, const void *client,
		    const char *program, struct io_leak *l);

/* The plan may have changed: rules that came, went or are others now are told of. */
void io_tracer_rules(struct io_tracer *t);

#endif
