/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a call of a program is refused, on its way from where it is decided to the log and into the
 * answer. One at a time: the loop serves one call, and tells of it before the next.
 */
#ifndef IO_REFUSAL_H
#define IO_REFUSAL_H

#include "emu/abi/cmd_header.h"

#include <stdbool.h>
#include <stddef.h>

/* The call that is served now is refused, for this reason (printf(3)). Returns 0. */
__attribute__((format(printf, 1, 2))) int io_refusal_say(const char *format, ...);

/* Says why; returns error (-errno), as the compiler can see. */
#define io_refuse(error, ...) io_refused((error), io_refusal_say(__VA_ARGS__))
static inline int io_refused(int error, int said)
{
	(void)said;
	return error;
}

/* Nothing was said of the call that begins. */
void io_refusal_forget(void);

/* A call that failed. */
struct io_refusal {
	const char *program; /* of the client, need not be printable */
	int pid;
	const char *verb;
	const char *object; /* what it was asked of; "" */
	int error;          /* -errno */
	bool quiet;         /* a line of level debug */
	const char *reason; /* what io_refuse does not know; "": nothing */
};

/*
 * Writes a line of level info, whose limit is that of a place of the log. "why" gets the call, the
 * reason and their end; returns its bytes.
 */
size_t io_refusal_format(const struct io_refusal *r, char why[UHCA_ABI_REFUSAL]);

#endif
