/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last few hundred things that happened in a world: packets on links and the devices' trace
 * points, kept as numbers and made text only when a test fails. With SIM_TRACE=1 in the
 * environment each entry is printed at once.
 */
#ifndef SIM_JOURNAL_H
#define SIM_JOURNAL_H

#include "emu/core/core.h"

#include <stdio.h>

#define JOURNAL_ENTRIES 512

enum journal_kind {
	JOURNAL_SENT,
	JOURNAL_LOST,
	JOURNAL_DUPLICATED,
	JOURNAL_TRACE,
	JOURNAL_NOTE,
};

struct journal_entry {
	uint64_t time;
	enum journal_kind kind;
	unsigned from, to;
	enum core_trace_point point;
	uint32_t qpn, a, b;
	const char *note;
	struct roce_packet pkt;
	uint32_t packets; /* of the burst */
};

struct journal {
	struct journal_entry entry[JOURNAL_ENTRIES];
	uint64_t n;
	bool live;
	FILE *copy; /* everything goes there too; NULL: nowhere */
};

void journal_init(struct journal *j);
void journal_packet(struct journal *j, uint64_t now, enum journal_kind kind, unsigned from,
		    unsigned to, const struct core_burst *t);
void journal_trace(struct journal *j, uint64_t now, unsigned device, enum core_trace_point point,
		   const uint32_t numbers[3]);

/* text must live as long as the journal. */
void journal_note(struct journal *j, uint64_t now, const char *text, uint32_t a, uint32_t b);

/* Prints the last "count" entries. */
void journal_print(const struct journal *j, FILE *f, unsigned count);

#endif
