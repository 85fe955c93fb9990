/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See walk_svg.h. Four columns; in the last two one row for each entry that is shown. Whoever has
 * not seen a page array before should find every number with its name.
 */
#include "walk_svg.h"

#include "ctl.h"
#include "walk_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>

#define KEY_X    20
#define REGION_X 250
#define ARRAY_X  560
#define PAGES_X  820
#define WIDTH    1120
#define TOP      70
#define ROW      56

__attribute__((format(printf, 5, 6))) static void text(FILE *out, int x, int y, const char *class,
						       const char *format, ...)
{
	va_list ap;

	fprintf(out, "<text x='%d' y='%d' class='%s'>", x, y, class);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputs("</text>\n", out);
}

static void box(FILE *out, int x, int y, int w, int h, const char *class)
{
	fprintf(out, "<rect x='%d' y='%d' width='%d' height='%d' class='%s'/>\n", x, y, w, h,
		class);
}

static void arrow(FILE *out, int x1, int y1, int x2, int y2)
{
	fprintf(out, "<path d='M%d %d L%d %d' class='way' marker-end='url(#tip)'/>\n", x1, y1, x2,
		y2);
}

static void print_head(FILE *out, int height)
{
	fprintf(out,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"viewBox='0 0 %d %d'>\n"
		"<style>text{font:13px monospace;fill:#222}.title{font:bold 15px sans-serif}"
		".note{font:12px sans-serif;fill:#555}rect{fill:#f4f4f4;stroke:#888}"
		".hit{fill:#ffe9a8;stroke:#b07000}.byte{fill:#d02020;stroke:none}"
		".way{stroke:#d02020;stroke-width:2;fill:none}</style>\n"
		"<defs><marker id='tip' markerWidth='8' markerHeight='8' refX='7' refY='4' "
		"orient='auto'><path d='M0 0 L8 4 L0 8 z' fill='#d02020'/></marker></defs>\n"
		"<rect width='%d' height='%d' style='fill:#fff;stroke:none'/>\n",
		WIDTH, height, WIDTH, height, WIDTH, height);
}

static void print_key(FILE *out, const json_t *walk)
{
	text(out, KEY_X, 40, "title", "1. The key");
	box(out, KEY_X, TOP, 120, 40, "part");
	box(out, KEY_X + 120, TOP, 60, 40, "part");
	text(out, KEY_X + 10, TOP + 25, "number", "0x%06" PRIx64, walk_number(walk, "index"));
	text(out, KEY_X + 132, TOP + 25, "number", "%02" PRIx64, walk_number(walk, "key_byte"));
	text(out, KEY_X, TOP + 60, "note", "index: which region");
	text(out, KEY_X, TOP + 78, "note", "key byte: must match, so that");
	text(out, KEY_X, TOP + 94, "note", "an old key does not work");
	text(out, KEY_X, TOP + 130, "number", "= 0x%08" PRIx64, walk_number(walk, UHCA_CTL_KEY));
	arrow(out, KEY_X + 182, TOP + 20, REGION_X - 4, TOP + 20);
}

static void print_region(FILE *out, const json_t *walk)
{
	const int x = REGION_X + 10;
	char access[160];

	text(out, REGION_X, 40, "title", "2. The region: may it, and where?");
	box(out, REGION_X, TOP, 270, 200, "part");
	text(out, x, TOP + 22, "number", "PD     %" PRIu64, walk_number(walk, "pd"));
	text(out, x, TOP + 42, "number", "iova   0x%" PRIx64, walk_number(walk, "iova"));
	text(out, x, TOP + 62, "number", "length %" PRIu64, walk_number(walk, "length"));
	text(out, x, TOP + 82, "number", "page   %" PRIu64 " bytes",
	     walk_number(walk, "page_size"));
	text(out, x, TOP + 102, "number", "first byte at 0x%" PRIx64 " of page 0",
	     walk_number(walk, "first_offset"));
	text(out, x, TOP + 124, "note", "offset %" PRIu64 " + 0x%" PRIx64 " = 0x%" PRIx64,
	     walk_number(walk, UHCA_CTL_OFFSET) + walk_number(walk, "window_offset"),
	     walk_number(walk, "first_offset"), walk_number(walk, "position"));
	text(out, x, TOP + 142, "note", "0x%" PRIx64 " &gt;&gt; %" PRIu64 " = entry %" PRIu64,
	     walk_number(walk, "position"), walk_number(walk, "page_shift"),
	     walk_number(walk, "entry"));
	text(out, x, TOP + 160, "note", "the rest = byte 0x%" PRIx64 " in its page",
	     walk_number(walk, "in_page"));
	if (json_object_get(walk, "region_key"))
		text(out, x, TOP + 182, "note",
		     "a window: from byte %" PRIu64 ", %" PRIu64 " bytes",
		     walk_number(walk, "window_offset"), walk_number(walk, "window_length"));
	text(out, REGION_X, TOP + 222, "note", "allows %s",
	     walk_access(walk_number(walk, "access"), access, sizeof(access)));
}

/* One entry and its page; the one that is used has the byte in it. */
static void print_entry(FILE *out, const json_t *walk, const json_t *entry, int y)
{
	uint64_t index = walk_number(entry, "index");
	bool hit = index == walk_number(walk, "entry");
	uint64_t size = walk_number(walk, "page_size");
	int at = size ? (int)(walk_number(walk, "in_page") * 226 / size) : 0;

	box(out, ARRAY_X, y, 200, 40, hit ? "hit" : "part");
	text(out, ARRAY_X + 8, y + 25, "number", "[%" PRIu64 "] 0x%" PRIx64, index,
	     walk_number(entry, "page"));
	box(out, PAGES_X, y, 230, 40, hit ? "hit" : "part");
	if (!hit)
		return;
	arrow(out, REGION_X + 272, TOP + 138, ARRAY_X - 4, y + 20);
	arrow(out, ARRAY_X + 202, y + 20, PAGES_X - 4, y + 20);
	box(out, PAGES_X + at, y, 4, 40, "byte");
	text(out, PAGES_X, y + 53, "note", "the byte: 0x%" PRIx64, walk_number(walk, "byte"));
}

/* A program's name may be anything. */
static void print_program(FILE *out, const char *name)
{
	fprintf(out, "<text x='%d' y='40' class='title'>4. Memory of ", PAGES_X);
	for (; name && *name; name++) {
		if (*name == '<' || *name == '&')
			fprintf(out, "&#%d;", *name);
		else
			fputc(*name, out);
	}
	fputs("</text>\n", out);
}

static void print_array(FILE *out, const json_t *walk)
{
	uint64_t last = UINT64_MAX, leaf = walk_number(walk, "leaf_entries");
	const json_t *entry;
	int y = TOP;
	size_t i;

	text(out, ARRAY_X, 40, "title", "3. The page array");
	if (leaf)
		text(out, ARRAY_X, 58, "note", "%" PRIu64 " entries, in leaves of %" PRIu64,
		     walk_number(walk, "n_pages"), leaf);
	else
		text(out, ARRAY_X, 58, "note", "%" PRIu64 " entries", walk_number(walk, "n_pages"));
	print_program(out, json_string_value(json_object_get(walk, "program")));
	json_array_foreach(json_object_get(walk, "shown"), i, entry)
	{
		if (walk_number(entry, "index") != last + 1)
			text(out, ARRAY_X + 90, y - 6, "number", "...");
		print_entry(out, walk, entry, y);
		last = walk_number(entry, "index");
		y += ROW + 10;
	}
}

void walk_print_svg(FILE *out, const json_t *walk)
{
	int rows = (int)json_array_size(json_object_get(walk, "shown"));
	int height = TOP + (rows > 4 ? rows * (ROW + 10) : 250);

	print_head(out, height);
	print_key(out, walk);
	print_region(out, walk);
	print_array(out, walk);
	fputs("</svg>\n", out);
}
