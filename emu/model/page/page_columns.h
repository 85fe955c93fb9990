/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a view of all packets at once needs of each: rows of fixed size, little-endian, that a
 * browser takes as typed arrays. web/trace.js reads them.
 *
 * Of an arrow, 48 bytes: sent and arrived (float64, nanoseconds since the model began; arrived -1:
 * not seen), then from, to (QPs), message, psn, payload length, rule, then opcode, fate, flags and
 * tries (8 bits each, from the lowest), then syndrome and MSN of an AETH (8 and 24 bits; syndrome
 * 0xff: none). Of a record, 32 bytes: time (float64), then host, qp, message, then kind, flags, a
 * and b (8 bits each), then two that are 0. For a state a and b are from and to as places in
 * RESET INIT RTR RTS SQD SQE ERR; for a completion a is the status; 255: not told.
 */
#ifndef MODEL_PAGE_COLUMNS_H
#define MODEL_PAGE_COLUMNS_H

#include "emu/model/capture/capture_model.h"

#include <stddef.h>
#include <stdint.h>

#define PAGE_ARROW_BYTES  48u
#define PAGE_RECORD_BYTES 32u

enum {
	PAGE_ARROW_ANSWER = 1,
	PAGE_ARROW_COPY = 2,
	PAGE_ARROW_IMPLIED_NAK = 4,
	PAGE_ARROW_MADE = 8,
	PAGE_ARROW_JUDGED = 16, /* it arrived and was not executed */
};

enum {
	PAGE_RECORD_TROUBLE = 1,
	PAGE_RECORD_SHOWN = 2, /* a ladder has a row for it */
};

/* Writes the row of an arrow, or record, of this index. */
void page_arrow_row(const struct model *s, uint32_t index, uint8_t out[PAGE_ARROW_BYTES]);
void page_record_row(const struct model *s, uint32_t index, uint8_t out[PAGE_RECORD_BYTES]);

#endif
