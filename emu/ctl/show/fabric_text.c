/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the modelled network and ways through it. The first line says how much slower than its
 * numbers it runs.
 */
#include "fabric_text.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <stdint.h>

/* "0", or "7 (tail 5, loss 2)". */
static void print_dropped(FILE *out, const json_t *dropped)
{
	json_int_t all = 0;
	const char *name, *before = " (";
	json_t *n;

	json_object_foreach((json_t *)(uintptr_t)dropped, name, n) all += json_integer_value(n);
	fprintf(out, "%" JSON_INTEGER_FORMAT, all);
	json_object_foreach((json_t *)(uintptr_t)dropped, name, n)
	{
		if (!json_integer_value(n))
			continue;
		fprintf(out, "%s%s %" JSON_INTEGER_FORMAT, before, name, json_integer_value(n));
		before = ", ";
	}
	fputs(all ? ")" : "", out);
}

void fabric_text_state(FILE *out, const json_t *s)
{
	const json_int_t rate = ctl_number_in(s, "rate_mbps"), scale = ctl_number_in(s, "scale");

	fprintf(out,
		"network %s: time runs %" JSON_INTEGER_FORMAT
		" times slower, %g Gb/s run as %g Gb/s\n",
		ctl_text_in(s, "network"), scale, (double)rate / 1e3,
		(double)rate / 1e3 / (double)scale);
	fprintf(out, "time %.3f ms, stood still for %.0f ms of this machine's time\n",
		(double)ctl_number_in(s, "time_ns") / 1e6,
		(double)ctl_number_in(s, "behind_us") / 1e3);
	fprintf(out,
		"delivered %" JSON_INTEGER_FORMAT ", marked %" JSON_INTEGER_FORMAT ", dropped ",
		ctl_number_in(s, "delivered"), ctl_number_in(s, "marked"));
	print_dropped(out, json_object_get(s, "dropped"));
	fprintf(out, ", pauses %" JSON_INTEGER_FORMAT " (%" JSON_INTEGER_FORMAT " us)\n",
		ctl_number_in(s, "xoff"), ctl_number_in(s, "paused_us"));
}

void fabric_text_path(FILE *out, const json_t *one)
{
	const json_t *path = json_object_get(one, "path"), *port;
	size_t i;

	fprintf(out, "%s qp 0x%06x, UDP source port %d:", ctl_text_in(one, UHCA_CTL_DEVICE),
		(unsigned)ctl_number_in(one, "qpn"), (int)ctl_number_in(one, "sport"));
	json_array_foreach(path, i, port)
		fprintf(out, "%s%s", i ? " > " : " ", json_string_value(port));
	fputs(json_array_size(path) ? "\n" : " no way, or not in this network\n", out);
}
