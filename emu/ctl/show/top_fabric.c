/* SPDX-License-Identifier: BSD-2-Clause */
/* Computes the rates of a network's ports from two states of it. */
#include "top_fabric.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "fabric_text.h"
#include "grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_LINES 6 /* above the ports */

/* ---- what happened since ---- */

/* Counters of a network or a port, and the names of what they have more than before. */
static const struct {
	const char *count, *more;
} counts[] = {
	{"packets", "new_packets"}, {"bytes", "new_bytes"}, {"delivered", "new_delivered"},
	{"marked", "new_marked"},   {"xoff", "new_xoff"},   {"paused_us", "new_paused_us"},
};

static json_int_t all_dropped(const json_t *of)
{
	const json_t *dropped = json_object_get(of, "dropped");
	json_int_t all = json_integer_value(dropped);
	const char *why;
	json_t *n;

	json_object_foreach((json_t *)(uintptr_t)dropped, why, n) all += json_integer_value(n);
	return all;
}

/* A network that began anew counts less than before: it has nothing more. */
static json_int_t more_than(json_int_t now, json_int_t before)
{
	return now > before ? now - before : 0;
}

static void set_more(json_t *of, const json_t *before)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (json_object_get(of, counts[i].count))
			json_object_set_new(
				of, counts[i].more,
				json_integer(
					before ? more_than(ctl_number_in(of, counts[i].count),
							   ctl_number_in(before, counts[i].count))
					       : 0));
	json_object_set_new(
		of, "new_dropped",
		json_integer(before ? more_than(all_dropped(of), all_dropped(before)) : 0));
}

static void set_rates(json_t *port, const json_t *before, json_int_t ns)
{
	double mbps, packets, rate = (double)ctl_number_in(port, "rate_mbps");

	set_more(port, before);
	mbps = ns ? (double)ctl_number_in(port, "new_bytes") * 8e3 / (double)ns : 0;
	packets = ns ? (double)ctl_number_in(port, "new_packets") * 1e9 / (double)ns : 0;
	json_object_set_new(port, "packets_per_second", json_real(packets));
	json_object_set_new(port, "mbps", json_real(mbps));
	json_object_set_new(port, "used_percent", json_real(rate > 0 ? 100 * mbps / rate : 0));
}

/* ---- the order ---- */

struct place {
	json_t *port;
	size_t at;
};

static int busiest_first(const void *a, const void *b)
{
	static const char *const by[] = {"new_bytes", "queued", "new_dropped"};
	const struct place *x = a, *y = b;

	for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		const json_int_t m = ctl_number_in(x->port, by[i]);
		const json_int_t n = ctl_number_in(y->port, by[i]);

		if (m != n)
			return m < n ? 1 : -1;
	}
	return x->at < y->at ? -1 : 1;
}

static json_t *in_order(const json_t *ports)
{
	const size_t n = json_array_size(ports);
	struct place *places = calloc(n + 1, sizeof(*places));
	json_t *list = json_array();

	for (size_t i = 0; places && i < n; i++)
		places[i] = (struct place){json_array_get(ports, i), i};
	if (places)
		qsort(places, n, sizeof(*places), busiest_first);
	for (size_t i = 0; places && i < n; i++)
		json_array_append(list, places[i].port);
	if (!places || json_array_size(list) != n) {
		json_decref(list);
		list = NULL;
	}
	free(places);
	return list;
}

/* The same port of before, or NULL. */
static const json_t *same_in(const json_t *before, const json_t *port)
{
	const json_t *b;
	size_t i;

	json_array_foreach(json_object_get(before, "ports"), i, b)
	{
		if (strcmp(ctl_text_in(b, "port"), ctl_text_in(port, "port")) == 0)
			return b;
	}
	return NULL;
}

int top_fabric_rate(json_t *state, const json_t *before)
{
	const json_int_t now = ctl_number_in(state, "time_ns");
	const json_int_t ns = before ? more_than(now, ctl_number_in(before, "time_ns")) : 0;
	json_t *ports = json_object_get(state, "ports"), *port;
	size_t i;

	if (!json_is_array(ports))
		return -EINVAL;
	json_object_set_new(state, "since_ns", json_integer(ns));
	set_more(state, before);
	json_array_foreach(ports, i, port) set_rates(port, same_in(before, port), ns);
	ports = in_order(ports);
	return ports && json_object_set_new(state, "ports", ports) == 0 ? 0 : -ENOMEM;
}

/* ---- for people ---- */

static void print_since(FILE *out, const json_t *s)
{
	fprintf(out,
		"in the last %.3f ms: delivered %" JSON_INTEGER_FORMAT
		", marked %" JSON_INTEGER_FORMAT ", dropped %" JSON_INTEGER_FORMAT
		", pauses %" JSON_INTEGER_FORMAT " (%" JSON_INTEGER_FORMAT " us)\n\n",
		(double)ctl_number_in(s, "since_ns") / 1e6, ctl_number_in(s, "new_delivered"),
		ctl_number_in(s, "new_marked"), ctl_number_in(s, "new_dropped"),
		ctl_number_in(s, "new_xoff"), ctl_number_in(s, "new_paused_us"));
}

static json_t *columns(void)
{
	static const char *const name[] = {"port",    "to",        "link",      "Mb/s",
					   "used_%",  "packets/s", "queued",    "marked",
					   "dropped", "xoff",      "paused_us", "paused"};
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		json_array_append_new(all, json_pack("{s:s}", UHCA_CTL_NAME, name[i]));
	return all;
}

static json_t *row_of(const json_t *p)
{
	const double packets = json_real_value(json_object_get(p, "packets_per_second"));

	return json_pack("[O?, O?, O?, O?, O?, I, O?, O?, O?, O?, O?, O?]",
			 json_object_get(p, "port"), json_object_get(p, "to"),
			 json_object_get(p, "link"), json_object_get(p, "mbps"),
			 json_object_get(p, "used_percent"), (json_int_t)(packets + 0.5),
			 json_object_get(p, "queued"), json_object_get(p, "new_marked"),
			 json_object_get(p, "new_dropped"), json_object_get(p, "new_xoff"),
			 json_object_get(p, "new_paused_us"), json_object_get(p, "paused"));
}

void top_fabric_print(FILE *out, const json_t *state, unsigned lines)
{
	const json_t *port;
	json_t *rows = json_array(), *table;
	size_t i;

	json_array_foreach(json_object_get(state, "ports"), i, port)
	{
		if (lines == 0 || i + FRAME_LINES < lines)
			json_array_append_new(rows, row_of(port));
	}
	table = json_pack("{s:o, s:o}", UHCA_CTL_COLUMNS, columns(), UHCA_CTL_ROWS, rows);
	fabric_text_state(out, state);
	print_since(out, state);
	ctl_table_print(out, table, false);
	json_decref(table);
}
