/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a capture (emu/abi/story.h): what is said of a packet, and the records of what a
 * device does. Only text is made here; teller.h says who gets it.
 */
#ifndef IO_TELL_H
#define IO_TELL_H

#include "emu/core/core.h"
#include "emu/fault/plan/plans.h"
#include "emu/io/base/base.h"

#include <stdbool.h>
#include <stdint.h>

/* What happened to a packet on its way. */
struct io_tell_fate {
	uint32_t rule;         /* that touched it last; 0: none */
	const char *rule_text; /* NULL: not known */
	const char *dropped;   /* why, NULL: it went on */
};

/* The comment of packet i of the train; may be empty. */
void io_tell_packet(struct io_words *w, const struct core_train *t, uint32_t i,
		    const struct io_tell_fate *fate);

/* A trace point; false when it is none of which a record is made. */
bool io_tell_trace(struct io_words *w, const char *device, const struct core_trace *t);

/* A rule fired. */
void io_tell_hit(struct io_words *w, const struct fault_hit *h);

/* what: "added", "changed" or "removed". */
void io_tell_rule(struct io_words *w, const struct fault_entry *e, const char *what);

/* What a key opens. qpn: of the QP that it was used by, 0: it was just made. */
void io_tell_region(struct io_words *w, const char *device, uint32_t qpn, uint32_t key,
		    const struct core_walk *walk);

/* A verb that a rule made fail (error > 0, an errno) or wait. */
void io_tell_call(struct io_words *w, const char *device, const char *verb, int error,
		  uint32_t client);

/* The device failed under n programs. */
void io_tell_fatal(struct io_words *w, const char *device, unsigned n);

/* A program went without destroying these objects; type by type. */
void io_tell_leak(struct io_words *w, const char *device, const char *program,
		  const uint32_t count[CORE_OBJECT_TYPES]);

void io_tell_note(struct io_words *w, const char *device, const char *text);

/* Of the states that CORE_TRACE_QP_STATE tells: is it ERR? */
bool io_tell_is_error_state(uint32_t state);

/* "SUCCESS", "RETRY_EXC_ERR", ...: of a completion's status; NULL: there is no such. */
const char *io_tell_status(uint32_t status);

#endif
