/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks that are left for the other end (uhcav_diagnostic_note), by what they are about: kind
 * ("qp", "mr"), device and number of the object, and what was done with it ("made", "gone").
 */
#ifndef UHCAV_LEFT_H
#define UHCAV_LEFT_H

#include "provider/context/context.h"
#include "provider/diagnostic/diagnostic.h"

struct uhcav_left {
	const char *kind;
	uint64_t guid;
	uint32_t number;
	const char *what;
};

/* This process leaves one, of an object of this device. */
void uhcav_left_add(struct uhcav_context *ctx, const char *kind, uint32_t number, const char *what,
		    const struct uhcav_stack *stack);

/* It belongs to the finding that is being reported. */
void uhcav_left_report(struct uhcav_left of, const char *title, ...)
	__attribute__((format(printf, 2, 3)));

#endif
