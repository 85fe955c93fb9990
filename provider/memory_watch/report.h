/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of memory that is no longer the same (checks memory-replaced, memory-freed). */
#ifndef UHCAV_MEMORY_REPORT_H
#define UHCAV_MEMORY_REPORT_H

#include "ranges.h"

/* Somebody uses registered memory that has changed. */
struct uhcav_memory_use {
	const char *what;                         /* "a request names" */
	const struct uhcav_request_name *request; /* NULL: none */
	uint64_t at, length;
	uint32_t number; /* of the region */
	const struct uhcav_stack *stack, *made;
	const char *title; /* what the stack is: "posted by" */
};

/* Reports it, once for each place and change. */
void uhcav_memory_report(const struct uhcav_memory_use *use, const struct uhcav_change *c);

/* What peers may use and has other memory now is told of here. Cheap when there is nothing. */
void uhcav_memory_settle(void);

/* "unmapped by" and the like, with the call. */
const char *uhcav_memory_verb(enum uhcav_change_kind kind);

#endif
