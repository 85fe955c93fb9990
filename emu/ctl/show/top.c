/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the rates of QPs from two answers of "show qp". */
#include "top.h"

#include "emu/abi/ctl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_LINES 3 /* above the QPs */

static const json_t *cell(const json_t *table, size_t row, const char *name)
{
	const json_t *columns = json_object_get(table, UHCA_CTL_COLUMNS);
	const json_t *line = json_array_get(json_object_get(table, UHCA_CTL_ROWS), row);

	for (size_t i = 0; i < json_array_size(columns); i++) {
		const json_t *n = json_object_get(json_array_get(columns, i), UHCA_CTL_NAME);

		if (json_is_string(n) && strcmp(json_string_value(n), name) == 0)
			return json_array_get(line, i);
	}
	return NULL;
}

static uint64_t number(const json_t *table, size_t row, const char *name)
{
	return (uint64_t)json_integer_value(cell(table, row, name));
}

/* A name that may be printed; programs choose theirs. */
static void copy_text(char *to, size_t cap, const json_t *from)
{
	const char *text = json_string_value(from);
	size_t i = 0;

	for (; text && text[i] && i + 1 < cap; i++)
		to[i] = (unsigned char)text[i] < ' ' || text[i] > '~' ? '?' : text[i];
	to[i] = '\0';
}

static void set_program(struct top_qp *q, const json_t *clients, uint64_t client)
{
	size_t rows = json_array_size(json_object_get(clients, UHCA_CTL_ROWS));

	for (size_t i = 0; i < rows; i++)
		if (number(clients, i, "client") == client)
			copy_text(q->program, sizeof(q->program), cell(clients, i, "program"));
}

static void read_qp(struct top_qp *q, const json_t *qps, size_t row, const json_t *clients)
{
	*q = (struct top_qp){
		.qpn = (uint32_t)number(qps, row, "qpn"),
		.peer = (uint32_t)number(qps, row, "dest_qpn"),
		.packets = number(qps, row, "tx_packets") + number(qps, row, "rx_packets"),
		.bytes = number(qps, row, "tx_bytes") + number(qps, row, "rx_bytes"),
		.retries = number(qps, row, "retries"),
		.rnr = number(qps, row, "rnr"),
		.errors = number(qps, row, "errors"),
	};
	copy_text(q->device, sizeof(q->device), cell(qps, row, "device"));
	copy_text(q->state, sizeof(q->state), cell(qps, row, "state"));
	set_program(q, clients, number(qps, row, "client"));
}

static void set_rates(struct top_qp *q, const struct top_list *before, double seconds)
{
	for (size_t i = 0; i < before->n; i++) {
		const struct top_qp *b = &before->qp[i];

		/* Fewer than before: another QP has got the number. */
		if (b->qpn != q->qpn || strcmp(b->device, q->device) != 0 ||
		    b->packets > q->packets || b->bytes > q->bytes || b->retries > q->retries ||
		    seconds <= 0)
			continue;
		q->packet_rate = (double)(q->packets - b->packets) / seconds;
		q->byte_rate = (double)(q->bytes - b->bytes) / seconds;
		q->new_retries = q->retries - b->retries;
	}
}

static int busiest_first(const void *a, const void *b)
{
	const struct top_qp *x = a, *y = b;

	if (x->byte_rate != y->byte_rate)
		return x->byte_rate < y->byte_rate ? 1 : -1;
	if (x->packet_rate != y->packet_rate)
		return x->packet_rate < y->packet_rate ? 1 : -1;
	if (x->packets != y->packets)
		return x->packets < y->packets ? 1 : -1;
	if (strcmp(x->device, y->device) != 0)
		return strcmp(x->device, y->device);
	return x->qpn < y->qpn ? -1 : x->qpn > y->qpn;
}

bool top_make(struct top_list *out, const json_t *qps, const json_t *clients,
	      const struct top_list *before, double seconds)
{
	const json_t *rows = json_object_get(qps, UHCA_CTL_ROWS);

	*out = (struct top_list){.n = json_array_size(rows)};
	if (!json_is_array(rows))
		return false;
	out->qp = calloc(out->n + 1, sizeof(*out->qp));
	if (!out->qp)
		return false;
	for (size_t i = 0; i < out->n; i++) {
		read_qp(&out->qp[i], qps, i, clients);
		set_rates(&out->qp[i], before, seconds);
	}
	if (out->n > 0)
		qsort(out->qp, out->n, sizeof(*out->qp), busiest_first);
	return true;
}

void top_free(struct top_list *l)
{
	free(l->qp);
	*l = (struct top_list){0};
}

static void print_sum(FILE *out, const struct top_list *l)
{
	double packets = 0, bytes = 0;
	uint64_t retries = 0;

	for (size_t i = 0; i < l->n; i++) {
		packets += l->qp[i].packet_rate;
		bytes += l->qp[i].byte_rate;
		retries += l->qp[i].new_retries;
	}
	fprintf(out,
		"%zu QP%s, %.0f packets/s, %.2f MB/s (sent and taken), %" PRIu64
		" retries since the last update\n\n",
		l->n, l->n == 1 ? "" : "s", packets, bytes / 1e6, retries);
}

static void print_qp(FILE *out, const struct top_qp *q)
{
	char peer[16] = "-";

	if (q->peer)
		snprintf(peer, sizeof(peer), "0x%" PRIx32, q->peer);
	fprintf(out,
		"%-10s 0x%-8" PRIx32 " %-18s %-5s %-10s %10.0f %10.2f %8" PRIu64 " %6" PRIu64
		" %7" PRIu64 "\n",
		q->device, q->qpn, q->program[0] ? q->program : "-", q->state, peer, q->packet_rate,
		q->byte_rate / 1e6, q->retries, q->rnr, q->errors);
}

void top_print(FILE *out, const struct top_list *l, unsigned lines)
{
	size_t shown = l->n;

	if (lines > 0 && lines <= FRAME_LINES)
		shown = 0;
	else if (lines > 0 && shown > lines - FRAME_LINES)
		shown = lines - FRAME_LINES;
	print_sum(out, l);
	fprintf(out, "%-10s %-10s %-18s %-5s %-10s %10s %10s %8s %6s %7s\n", "DEVICE", "QP",
		"PROGRAM", "STATE", "PEER", "PACKETS/S", "MB/S", "RETRIES", "RNR", "ERRORS");
	for (size_t i = 0; i < shown; i++)
		print_qp(out, &l->qp[i]);
}

static json_t *qp_json(const struct top_qp *q)
{
	json_t *o =
		json_pack("{s:s, s:s, s:s, s:I, s:f, s:f}", "device", q->device, "program",
			  q->program, "state", q->state, "qpn", (json_int_t)q->qpn,
			  "packets_per_second", q->packet_rate, "bytes_per_second", q->byte_rate);

	if (o && q->peer)
		json_object_set_new(o, "peer_qpn", json_integer(q->peer));
	if (o) {
		json_object_set_new(o, "packets", json_integer((json_int_t)q->packets));
		json_object_set_new(o, "bytes", json_integer((json_int_t)q->bytes));
		json_object_set_new(o, "retries", json_integer((json_int_t)q->retries));
		json_object_set_new(o, "rnr", json_integer((json_int_t)q->rnr));
		json_object_set_new(o, "errors", json_integer((json_int_t)q->errors));
	}
	return o;
}

json_t *top_json(const struct top_list *l)
{
	json_t *all = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(all, qp_json(&l->qp[i]));
	return all;
}
