/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of words: numbers, times, rates, probabilities, addresses, lists. All return false for
 * what is not one, and leave *out unspecified then.
 */
#ifndef FAULT_RULE_VALUE_H
#define FAULT_RULE_VALUE_H

#include "rule_text.h"

/* 12, 0x1f */
bool fault_value_number(struct fault_piece p, uint64_t *out);
/* 12, 0x1f, 4k, 2m, 1g: bytes, times 1024 */
bool fault_value_size(struct fault_piece p, uint64_t *out);
/* 10us, 1.5ms, 2s; 0 without a unit: nanoseconds, at most 10^18 */
bool fault_value_time(struct fault_piece p, uint64_t *out);
/* 10mbit, 64kbit, 1.5gbit, 9600: bits per second, more than 0 */
bool fault_value_rate(struct fault_piece p, uint64_t *out);
/* 0.01, 1%, 1: parts per 2^32 - 1; not 0 but for what is exactly 0 */
bool fault_value_probability(struct fault_piece p, uint32_t *out);
/* 127.0.0.1 (as mapped address), fe80::1 */
bool fault_value_address(struct fault_piece p, uint8_t out[16]);

/* What numbers a list may have. */
struct fault_bounds {
	uint64_t least, most;
	bool sizes; /* 4k */
};

/*
 * "1,4..6,9..", or one number behind a comparison that is not "=". 0, or -EINVAL with the error
 * filled in; "prefix" ('\0': none) stands before each number: "+3,+5..+7" as well as "+3,5..7".
 */
struct fault_list_form {
	struct fault_bounds bounds;
	char prefix;
};
int fault_value_list(const struct fault_text *t, const struct fault_token *word,
		     const struct fault_list_form *form, struct fault_list *out);

#endif
