/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See walk_svg.h. From left to right: the key, a column for each description, the region, its page
 * array and its pages; in the last two one row for each entry that is shown. Whoever has not seen
 * a page array before should find every number with its name.
 */
#include "walk_svg.h"

#include "emu/abi/ctl.h"
#include "svg.h"
#include "walk_svg_step.h"
#include "walk_text.h"

#include <inttypes.h>
#include <stdbool.h>

#define TOP     WALK_TOP
#define KEY_X   20
#define FIRST_X 250
#define ROW     66

/* Where the columns stand, which depends on the number of descriptions. */
struct place {
	int region, array, pages, width, height;
	int number; /* in the region's title */
};

static struct place places(const json_t *walk)
{
	const json_t *steps = json_object_get(walk, "steps");
	int n = (int)json_array_size(steps);
	int rows = (int)json_array_size(json_object_get(walk, "shown"));
	int region = FIRST_X + n * WALK_STEP_WIDTH;
	struct place p = {
		.region = region,
		.array = region + 310,
		.pages = region + 570,
		.width = region + (rows ? 870 : 310),
		.height = TOP + (rows > 4 ? rows * ROW : 320),
		.number = n + 2,
	};
	const json_t *step;
	size_t i;

	json_array_foreach(steps, i, step)
	{
		if (walk_step_bottom(step) > p.height)
			p.height = walk_step_bottom(step);
	}
	p.height += 10;
	return p;
}

static void print_key(FILE *out, const json_t *walk)
{
	char access[WALK_ACCESS];

	svg_text(out, KEY_X, 40, "title", "1. The key");
	svg_box(out, KEY_X, TOP, 120, 40, "part");
	svg_box(out, KEY_X + 120, TOP, 60, 40, "part");
	svg_text(out, KEY_X + 10, TOP + 25, "number", "0x%06" PRIx64, walk_number(walk, "index"));
	svg_text(out, KEY_X + 132, TOP + 25, "number", "%02" PRIx64, walk_number(walk, "key_byte"));
	svg_text(out, KEY_X, TOP + 60, "note", "index: which region");
	svg_text(out, KEY_X, TOP + 78, "note", "key byte: must match, so that");
	svg_text(out, KEY_X, TOP + 94, "note", "an old key does not work");
	svg_text(out, KEY_X, TOP + 130, "number", "= 0x%08" PRIx64,
		 walk_number(walk, UHCA_CTL_KEY));
	svg_text(out, KEY_X, TOP + 154, "note", "of PD %" PRIu64 "; allows",
		 walk_number(walk, "pd"));
	svg_list(out, KEY_X, TOP + 172,
		 json_object_get(walk, "invalid")
			 ? "nothing while it is invalid"
			 : walk_access(walk_number(walk, "access"), access, sizeof(access)),
		 30);
	svg_arrow(out, KEY_X + 182, TOP + 20, FIRST_X - 4, TOP + 20);
	if (!json_object_get(walk, "window_of"))
		return;
	svg_text(out, KEY_X, TOP + 262, "note", "a window: %" PRIu64 " bytes from",
		 walk_number(walk, "window_length"));
	svg_text(out, KEY_X, TOP + 278, "note", "byte %" PRIu64 " of the region of",
		 walk_number(walk, "window_offset"));
	svg_text(out, KEY_X, TOP + 294, "note", "key 0x%08" PRIx64, walk_number(walk, "window_of"));
}

/* How the offset becomes an entry and a byte. */
static void print_position(FILE *out, const json_t *walk, int x)
{
	svg_text(out, x, TOP + 82, "number", "page   %" PRIu64 " bytes",
		 walk_number(walk, "page_size"));
	svg_text(out, x, TOP + 102, "number", "first byte at 0x%" PRIx64 " of page 0",
		 walk_number(walk, "first_offset"));
	svg_text(out, x, TOP + 124, "note", "offset %" PRIu64 " + 0x%" PRIx64 " = 0x%" PRIx64,
		 walk_number(walk, "region_offset"), walk_number(walk, "first_offset"),
		 walk_number(walk, "position"));
	svg_text(out, x, TOP + 142, "note", "0x%" PRIx64 " &gt;&gt; %" PRIu64 " = entry %" PRIu64,
		 walk_number(walk, "position"), walk_number(walk, "page_shift"),
		 walk_number(walk, "entry"));
	svg_text(out, x, TOP + 160, "note", "the rest = byte 0x%" PRIx64 " in its page",
		 walk_number(walk, "in_page"));
}

static void print_region(FILE *out, const json_t *walk, const struct place *p)
{
	const int x = p->region + 10;

	svg_text(out, p->region, 40, "title", "%d. The region: access rights and address",
		 p->number);
	svg_box(out, p->region, TOP, 270, 200, "part");
	svg_text(out, x, TOP + 22, "number", "key    0x%08" PRIx64,
		 walk_number(walk, "region_key"));
	svg_text(out, x, TOP + 42, "number", "iova   0x%" PRIx64, walk_number(walk, "iova"));
	svg_text(out, x, TOP + 62, "number", "length %" PRIu64, walk_number(walk, "length"));
	if (walk_number(walk, "n_pages")) {
		print_position(out, walk, x);
		return;
	}
	svg_text(out, x, TOP + 92, "number", "no pages:");
	svg_foreign(out, x, TOP + 112, "note", "",
		    json_string_value(json_object_get(walk, "kind")));
	svg_text(out, x, TOP + 142, "note", "offset %" PRIu64, walk_number(walk, "region_offset"));
	if (json_object_get(walk, "byte"))
		svg_text(out, x, TOP + 162, "note", "the byte: 0x%" PRIx64,
			 walk_number(walk, "byte"));
}

/* One entry and its page; the one that is used has the byte in it. */
static void print_entry(FILE *out, const json_t *walk, const json_t *entry, const struct place *p,
			int y)
{
	uint64_t index = walk_number(entry, "index");
	bool hit = index == walk_number(walk, "entry");
	uint64_t size = walk_number(walk, "page_size");
	int at = size ? (int)(walk_number(walk, "in_page") * 226 / size) : 0;

	svg_box(out, p->array, y, 200, 40, hit ? "hit" : "part");
	svg_text(out, p->array + 8, y + 25, "number", "[%" PRIu64 "] 0x%" PRIx64, index,
		 walk_number(entry, "page"));
	svg_box(out, p->pages, y, 230, 40, hit ? "hit" : "part");
	if (!hit)
		return;
	svg_arrow(out, p->region + 272, TOP + 138, p->array - 4, y + 20);
	svg_arrow(out, p->array + 202, y + 20, p->pages - 4, y + 20);
	svg_box(out, p->pages + at, y, 4, 40, "byte");
	svg_text(out, p->pages, y + 53, "note", "the byte: 0x%" PRIx64, walk_number(walk, "byte"));
}

static void print_array(FILE *out, const json_t *walk, const struct place *p)
{
	uint64_t last = UINT64_MAX, leaf = walk_number(walk, "leaf_entries");
	char before[32];
	const json_t *entry;
	int y = TOP;
	size_t i;

	svg_text(out, p->array, 40, "title", "%d. The page array", p->number + 1);
	if (leaf)
		svg_text(out, p->array, 58, "note", "%" PRIu64 " entries, in leaves of %" PRIu64,
			 walk_number(walk, "n_pages"), leaf);
	else
		svg_text(out, p->array, 58, "note", "%" PRIu64 " entries",
			 walk_number(walk, "n_pages"));
	snprintf(before, sizeof(before), "%d. Memory of ", p->number + 2);
	svg_foreign(out, p->pages, 40, "title", before,
		    json_string_value(json_object_get(walk, "program")));
	json_array_foreach(json_object_get(walk, "shown"), i, entry)
	{
		if (walk_number(entry, "index") != last + 1)
			svg_text(out, p->array + 90, y - 6, "number", "...");
		print_entry(out, walk, entry, p, y);
		last = walk_number(entry, "index");
		y += ROW;
	}
}

void walk_print_svg(FILE *out, const json_t *walk)
{
	struct place p = places(walk);
	const json_t *step;
	size_t i;

	svg_begin(out, p.width, p.height);
	print_key(out, walk);
	json_array_foreach(json_object_get(walk, "steps"), i, step)
		walk_draw_step(out, step, (int)i + 2, FIRST_X + (int)i * WALK_STEP_WIDTH);
	print_region(out, walk, &p);
	if (walk_number(walk, "n_pages"))
		print_array(out, walk, &p);
	svg_end(out);
}
