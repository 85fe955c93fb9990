/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps the last events of a world, and prints them when a test fails. */
#include "journal.h"

#include "wire/print.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_name[] = {
	[JOURNAL_SENT] = "->", [JOURNAL_LOST] = "-x", [JOURNAL_DUPLICATED] = "=>",
	[JOURNAL_TRACE] = "",  [JOURNAL_NOTE] = "",
};

static const char *const point_name[] = {
	[CORE_TRACE_QP_STATE] = "state", [CORE_TRACE_TX] = "tx",
	[CORE_TRACE_RX] = "rx",          [CORE_TRACE_RX_DROP] = "drop",
	[CORE_TRACE_JUDGED] = "judged",  [CORE_TRACE_REQUEST] = "request",
	[CORE_TRACE_NAK] = "nak",        [CORE_TRACE_RETRY] = "retry",
	[CORE_TRACE_CQE] = "cqe",        [CORE_TRACE_EVENT] = "event",
};

void journal_init(struct journal *j)
{
	const char *env = getenv("SIM_TRACE");

	memset(j, 0, sizeof *j);
	j->live = env && *env && *env != '0';
}

static void print_packet(const struct journal_entry *e, FILE *f)
{
	char text[ROCE_PRINT_LENGTH];

	roce_print_packet(&e->pkt, text, sizeof text);
	fprintf(f, "%u %s %u %s", e->from, kind_name[e->kind], e->to, text);
	if (e->packets > 1)
		fprintf(f, " (%u packets)", e->packets);
	fprintf(f, "\n");
}

static void print_entry(const struct journal_entry *e, FILE *f)
{
	fprintf(f, "  %12.3f us  ", (double)e->time / 1000.0);
	switch (e->kind) {
	case JOURNAL_SENT:
	case JOURNAL_LOST:
	case JOURNAL_DUPLICATED:
		print_packet(e, f);
		return;
	case JOURNAL_TRACE:
		fprintf(f, "%u    qp=0x%06x %s %u 0x%x\n", e->from, e->qpn, point_name[e->point],
			e->a, e->b);
		return;
	case JOURNAL_NOTE:
		fprintf(f, "--- %s %u %u\n", e->note, e->a, e->b);
		return;
	}
}

static void add(struct journal *j, const struct journal_entry *e)
{
	j->entry[j->n++ % JOURNAL_ENTRIES] = *e;
	if (j->live)
		print_entry(e, stderr);
	if (j->copy)
		print_entry(e, j->copy);
}

void journal_packet(struct journal *j, uint64_t now, enum journal_kind kind, unsigned from,
		    unsigned to, const struct core_burst *t)
{
	struct journal_entry e = {.time = now,
				  .kind = kind,
				  .from = from,
				  .to = to,
				  .pkt = t->head,
				  .packets = t->count};

	e.pkt.payload_len = t->length;
	e.pkt.bth.ackreq = t->last_ackreq;
	e.pkt.bth.solicited = t->last_solicited;
	add(j, &e);
}

void journal_trace(struct journal *j, uint64_t now, unsigned device, enum core_trace_point point,
		   const uint32_t numbers[3])
{
	struct journal_entry e = {.time = now,
				  .kind = JOURNAL_TRACE,
				  .from = device,
				  .point = point,
				  .qpn = numbers[0],
				  .a = numbers[1],
				  .b = numbers[2]};

	add(j, &e);
}

void journal_note(struct journal *j, uint64_t now, const char *text, uint32_t a, uint32_t b)
{
	struct journal_entry e = {.time = now, .kind = JOURNAL_NOTE, .note = text, .a = a, .b = b};

	add(j, &e);
}

void journal_print(const struct journal *j, FILE *f, unsigned count)
{
	uint64_t first;

	if (count > JOURNAL_ENTRIES)
		count = JOURNAL_ENTRIES;
	first = j->n > count ? j->n - count : 0;
	for (uint64_t i = first; i < j->n; i++)
		print_entry(&j->entry[i % JOURNAL_ENTRIES], f);
}
