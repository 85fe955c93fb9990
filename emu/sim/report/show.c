/* SPDX-License-Identifier: BSD-2-Clause */
/* A report as lines, and two side by side: every number by its path ("flows.slowdown.p99"). */
#include "report.h"

#include <string.h>

#define PATH_MAX_LENGTH 128

struct visit {
	void (*number)(struct visit *v, const char *path, json_t *value);
	FILE *out;
	json_t *other;
};

static void walk(struct visit *v, const char *path, json_t *value)
{
	char deeper[PATH_MAX_LENGTH];
	const char *key;
	json_t *child;
	size_t i;

	if (json_is_number(value)) {
		v->number(v, path, value);
		return;
	}
	json_object_foreach(value, key, child)
	{
		snprintf(deeper, sizeof(deeper), "%s%s%s", path, *path ? "." : "", key);
		walk(v, deeper, child);
	}
	json_array_foreach(value, i, child)
	{
		snprintf(deeper, sizeof(deeper), "%s.%zu", path, i);
		walk(v, deeper, child);
	}
}

static const char *text_of(json_t *value, char *buf, size_t cap)
{
	if (json_is_integer(value))
		snprintf(buf, cap, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(buf, cap, "%.3f", json_number_value(value));
	return buf;
}

static void csv_number(struct visit *v, const char *path, json_t *value)
{
	char text[40];

	fprintf(v->out, "%s,%s\n", path, text_of(value, text, sizeof(text)));
}

void report_csv(json_t *report, FILE *out)
{
	struct visit v = {csv_number, out, NULL};

	fputs("metric,value\n", out);
	walk(&v, "", report);
}

static void text_number(struct visit *v, const char *path, json_t *value)
{
	char text[40];

	if (strncmp(path, "flows.sizes", 11) != 0)
		fprintf(v->out, "%-40s %16s\n", path, text_of(value, text, sizeof(text)));
}

static void print_sizes(json_t *sizes, FILE *out)
{
	json_t *bucket;
	size_t i;

	if (json_array_size(sizes))
		fprintf(out, "\n%14s %8s %10s %10s %10s  (slowdown)\n", "up to bytes", "flows",
			"p50", "p99", "p99.9");
	json_array_foreach(sizes, i, bucket)
	{
		json_t *s = json_object_get(bucket, "slowdown");

		fprintf(out,
			"%14" JSON_INTEGER_FORMAT " %8" JSON_INTEGER_FORMAT
			" %10.3f %10.3f %10.3f\n",
			json_integer_value(json_object_get(bucket, "up_to_bytes")),
			json_integer_value(json_object_get(bucket, "flows")),
			json_number_value(json_object_get(s, "p50")),
			json_number_value(json_object_get(s, "p99")),
			json_number_value(json_object_get(s, "p999")));
	}
}

void report_text(json_t *report, FILE *out)
{
	struct visit v = {text_number, out, NULL};
	json_t *flows = json_object_get(report, "flows");

	walk(&v, "", report);
	print_sizes(json_object_get(flows, "sizes"), out);
}

/* ---- two of them ---- */

static json_t *at_path(json_t *value, const char *path)
{
	char key[PATH_MAX_LENGTH];

	while (value && *path) {
		const size_t n = strcspn(path, ".");
		size_t index = 0;

		snprintf(key, sizeof(key), "%.*s", (int)n, path);
		if (json_is_array(value) && sscanf(key, "%zu", &index) == 1)
			value = json_array_get(value, index);
		else
			value = json_object_get(value, key);
		path += n + (path[n] == '.');
	}
	return value;
}

static void compare_line(FILE *out, const char *path, json_t *before, json_t *after)
{
	const double a = json_number_value(before), b = json_number_value(after);
	char texts[2][40] = {"-", "-"}, change[40] = "";

	if (json_is_number(before))
		text_of(before, texts[0], sizeof(texts[0]));
	if (json_is_number(after))
		text_of(after, texts[1], sizeof(texts[1]));
	if (a != 0 && json_is_number(after))
		snprintf(change, sizeof(change), "%+.1f %%", (b - a) * 100 / a);
	fprintf(out, "%-40s %16s %16s %10s\n", path, texts[0], texts[1], change);
}

static void compare_number(struct visit *v, const char *path, json_t *value)
{
	json_t *other = at_path(v->other, path);

	if (!json_is_number(other) || json_number_value(value) != json_number_value(other))
		compare_line(v->out, path, value, other);
}

/* Those that only the second report has. */
static void added_number(struct visit *v, const char *path, json_t *value)
{
	if (!json_is_number(at_path(v->other, path)))
		compare_line(v->out, path, NULL, value);
}

void report_compare(json_t *before, json_t *after, FILE *out)
{
	struct visit v = {compare_number, out, after}, added = {added_number, out, before};

	walk(&v, "", before);
	walk(&added, "", after);
}

bool report_is_one(const json_t *value)
{
	return json_is_object(json_object_get(value, "run")) &&
	       json_is_object(json_object_get(value, "flows"));
}
