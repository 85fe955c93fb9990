/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A plan on a stage: packets, calls and completions made with one line each, and a log of what hit
 * them, one line each as well.
 */
#ifndef TESTS_PLAN_STAGE_H
#define TESTS_PLAN_STAGE_H

#include "emu/fault/plan/plan.h"
#include "emu/fault/plan/plan_trace.h"

#include <stdbool.h>
#include <stdint.h>

struct plan_stage {
	struct fault_plan *plan;
	uint64_t now;
	unsigned shown;    /* subjects so far */
	char *trace, *log; /* text that grows */
	size_t trace_used, log_used;
	const char *file; /* the one that exists; NULL: none does */
};

void plan_stage_open(struct plan_stage *st, uint64_t seed);
void plan_stage_close(struct plan_stage *st);

/* Adds a rule; the test fails when it is refused. Its number. */
uint32_t plan_stage_add(struct plan_stage *st, const char *rule);

/* A packet of QP 0x11 of device uhca0, going out. */
struct fault_subject plan_stage_packet(struct roce_packet *pkt, uint8_t opcode);

/* Shows the subject: how many rules hit. Each is a line "SUBJECT ACTION RANDOM" of the log. */
unsigned plan_stage_show(struct plan_stage *st, const struct fault_subject *s);

/* The same for a packet with this opcode and PSN. */
unsigned plan_stage_send(struct plan_stage *st, uint8_t opcode, uint32_t psn);

/* Lets the clock come to "now": all that is due until then fires. How much that was. */
unsigned plan_stage_wait(struct plan_stage *st, uint64_t now);

#endif
