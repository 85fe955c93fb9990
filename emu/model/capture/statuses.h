/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What completion statuses and vendor errors mean, for people: the facts of
 * docs/reference/statuses.md as sentences, where the specification says so, and what to look at in
 * a program.
 */
#ifndef MODEL_STATUSES_H
#define MODEL_STATUSES_H

#include <stddef.h>
#include <stdint.h>

struct model_status {
	uint8_t value;       /* of enum ibv_wc_status */
	const char *name;    /* without IBV_WC_ */
	const char *meaning; /* a sentence or two */
	const char *clause;  /* IBTA volume 1 */
	const char *check;   /* what to look at */
};

/* By name or value; NULL: there is no such status. */
const struct model_status *model_status_find(const char *name);
const struct model_status *model_status_at(uint8_t value);

/* A vendor error of ours as a sentence, into buf, which is returned; empty for 0. */
const char *model_vendor_error(uint32_t vendor, char *buf, size_t cap);

/* "ACK", "RNR NAK, wait 0.64 ms", "NAK remote access error". */
void model_syndrome(uint8_t syndrome, char *buf, size_t cap);

#endif
