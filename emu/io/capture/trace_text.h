/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of a capture (emu/abi/packet_metadata.h): what is said of a packet, and the records of
 * what a device does. Only text is made here; tracer.h says who gets it.
 */
#ifndef IO_TRACE_TEXT_H
#define IO_TRACE_TEXT_H

#include "emu/core/core.h"
#include "emu/fault/plan/plans.h"
#include "emu/io/base/base.h"

#include <stdbool.h>
#include <stdint.h>

/* What happened to a packet on its way. */
struct io_trace_fate {
	uint32_t rule;                      /* that touched it last; 0: none */
	const char *rule_text;              /* NULL: not known */
	const char *dropped;                /* why, NULL: it went on */
	const char *judged;                 /* as in struct io_capture_fate */
	const struct uhca_abi_cause *cause; /* NULL: not known */
};

/* The comment of packet i of the burst; may be empty. */
void io_trace_packet(struct io_words *w, const struct core_burst *t, uint32_t i,
		     const struct io_trace_fate *fate);

/* A trace point; false when it is none of which a record is made. */
bool io_trace_trace(struct io_words *w, const char *device, const struct core_trace *t);

/* A rule fired. */
void io_trace_hit(struct io_words *w, const struct fault_hit *h);

/* what: "added", "changed" or "removed". */
void io_trace_rule(struct io_words *w, const struct fault_entry *e, const char *what);

/* What a key opens. qpn: of the QP that it was used by, 0: it was just made. */
void io_trace_region(struct io_words *w, const char *device, uint32_t qpn, uint32_t key,
		     const struct core_walk *walk);

/* A verb that a rule made fail (error > 0, an errno) or wait. */
void io_trace_call(struct io_words *w, const char *device, const char *verb, int error,
		   uint32_t client);

/* A call that a program's library refused: it posted what or when it may not. */
struct io_trace_refused {
	const char *verb;
	uint32_t client, qpn;
	uint64_t wr_id;
	int error;      /* an errno */
	uint32_t state; /* of the QP */
};

void io_trace_refused(struct io_words *w, const char *device, const struct io_trace_refused *r);

/* The UDP port of this address is closed. */
void io_trace_unreachable(struct io_words *w, const char *device, const uint8_t gid[16],
			  uint16_t port);

/* The device failed under n programs. */
void io_trace_fatal(struct io_words *w, const char *device, unsigned n);

/* A program went without destroying these objects; type by type. */
void io_trace_leak(struct io_words *w, const char *device, const char *program,
		   const uint32_t count[CORE_OBJECT_TYPES]);

void io_trace_note(struct io_words *w, const char *device, const char *text);

/* Of the states that CORE_TRACE_QP_STATE tells: is it INIT, is it ERR? */
bool io_trace_is_first_state(uint32_t state);
bool io_trace_is_error_state(uint32_t state);

/* "duplicate", "refused", ...: of enum core_judgement. */
const char *io_trace_judgement(uint32_t judgement);

/* "SUCCESS", "RETRY_EXC_ERR", ...: of a completion's status; NULL: there is no such. */
const char *io_trace_status(uint32_t status);

#endif
