/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the rates of QPs from two answers of "show qp". */
#include "top.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "grid.h"

#include <stdlib.h>
#include <string.h>

#define FRAME_LINES 3 /* above the QPs */

static double real_in(const json_t *q, const char *member)
{
	return json_real_value(json_object_get(q, member));
}

/* ---- the list ---- */

static json_t *qp_of(const json_t *qps, size_t row, const json_t *clients)
{
	const size_t client = ctl_row_with(clients, "client", ctl_cell_number(qps, row, "client"));
	const json_int_t peer = ctl_cell_number(qps, row, "dest_qpn");
	json_t *q = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I}", "device", ctl_cell_text(qps, row, "device"),
		"program", ctl_cell_text(clients, client, "program"), "state",
		ctl_cell_text(qps, row, "state"), "qpn", ctl_cell_number(qps, row, "qpn"),
		"packets",
		ctl_cell_number(qps, row, "tx_packets") + ctl_cell_number(qps, row, "rx_packets"),
		"bytes",
		ctl_cell_number(qps, row, "tx_bytes") + ctl_cell_number(qps, row, "rx_bytes"));
	static const char *const counts[] = {"retries", "rnr", "errors"};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		json_object_set_new(q, counts[i],
				    json_integer(ctl_cell_number(qps, row, counts[i])));
	if (peer)
		json_object_set_new(q, "peer_qpn", json_integer(peer));
	return q;
}

/* The same QP of before, or NULL. Fewer packets: another one has got the number. */
static const json_t *same_in(const json_t *before, const json_t *q)
{
	const json_t *b;
	size_t i;

	json_array_foreach(before, i, b)
	{
		if (ctl_number_in(b, "qpn") == ctl_number_in(q, "qpn") &&
		    strcmp(ctl_text_in(b, "device"), ctl_text_in(q, "device")) == 0 &&
		    ctl_number_in(b, "packets") <= ctl_number_in(q, "packets") &&
		    ctl_number_in(b, "bytes") <= ctl_number_in(q, "bytes") &&
		    ctl_number_in(b, "retries") <= ctl_number_in(q, "retries"))
			return b;
	}
	return NULL;
}

static void set_rates(json_t *q, const json_t *before, double seconds)
{
	static const char *const counts[] = {"packets", "bytes", "retries"};
	const json_t *b = seconds > 0 ? same_in(before, q) : NULL;
	json_int_t more[3] = {0};

	for (size_t i = 0; b && i < 3; i++)
		more[i] = ctl_number_in(q, counts[i]) - ctl_number_in(b, counts[i]);
	seconds = b ? seconds : 1;
	json_object_set_new(q, "packets_per_second", json_real((double)more[0] / seconds));
	json_object_set_new(q, "bytes_per_second", json_real((double)more[1] / seconds));
	json_object_set_new(q, "new_retries", json_integer(more[2]));
}

static int busiest_first(const void *a, const void *b)
{
	static const char *const by[] = {"bytes_per_second", "packets_per_second", "packets"};
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int order = strcmp(ctl_text_in(x, "device"), ctl_text_in(y, "device"));

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		double more = json_number_value(json_object_get(y, by[i])) -
			      json_number_value(json_object_get(x, by[i]));

		if (more != 0)
			return more > 0 ? 1 : -1;
	}
	return order ? order : (int)(ctl_number_in(x, "qpn") - ctl_number_in(y, "qpn"));
}

json_t *top_make(const json_t *qps, const json_t *clients, const json_t *before, double seconds)
{
	const size_t n = ctl_rows(qps);
	json_t **q = calloc(n + 1, sizeof(json_t *)), *list = json_array();

	if (!q || !list || !json_is_array(json_object_get(qps, UHCA_CTL_ROWS))) {
		free(q);
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		q[i] = qp_of(qps, i, clients);
		set_rates(q[i], before, seconds);
	}
	qsort(q, n, sizeof(json_t *), busiest_first);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, q[i]);
	free(q);
	return list;
}

/* ---- for people ---- */

static void print_sum(FILE *out, const json_t *list)
{
	double packets = 0, bytes = 0;
	json_int_t retries = 0;
	const size_t n = json_array_size(list);
	const json_t *q;
	size_t i;

	json_array_foreach(list, i, q)
	{
		packets += real_in(q, "packets_per_second");
		bytes += real_in(q, "bytes_per_second");
		retries += ctl_number_in(q, "new_retries");
	}
	fprintf(out,
		"%zu QP%s, %.0f packets/s, %.2f MB/s (sent and taken), %" JSON_INTEGER_FORMAT
		" retries since the last update\n\n",
		n, n == 1 ? "" : "s", packets, bytes / 1e6, retries);
}

static json_t *columns(void)
{
	static const char *const name[] = {"device",    "qpn",  "program", "state", "peer",
					   "packets/s", "MB/s", "retries", "rnr",   "errors"};
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		json_array_append_new(all, json_pack("{s:s, s:b}", UHCA_CTL_NAME, name[i],
						     UHCA_CTL_HEX, i == 1 || i == 4));
	return all;
}

static json_t *row_of(const json_t *q)
{
	return json_pack("[O, O, O, O, O?, I, f, O, O, O]", json_object_get(q, "device"),
			 json_object_get(q, "qpn"), json_object_get(q, "program"),
			 json_object_get(q, "state"), json_object_get(q, "peer_qpn"),
			 (json_int_t)(real_in(q, "packets_per_second") + 0.5),
			 real_in(q, "bytes_per_second") / 1e6, json_object_get(q, "retries"),
			 json_object_get(q, "rnr"), json_object_get(q, "errors"));
}

void top_print(FILE *out, const json_t *list, unsigned lines)
{
	json_t *rows = json_array(), *table;
	const json_t *q;
	size_t i;

	json_array_foreach(list, i, q)
	{
		if (lines == 0 || i + FRAME_LINES < lines)
			json_array_append_new(rows, row_of(q));
	}
	table = json_pack("{s:o, s:o}", UHCA_CTL_COLUMNS, columns(), UHCA_CTL_ROWS, rows);
	print_sum(out, list);
	ctl_table_print(out, table, false);
	json_decref(table);
}
