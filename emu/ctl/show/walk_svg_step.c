/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See walk_svg_step.h. From above: how the byte's offset is taken apart; the entries of the list;
 * for repeated pieces, the repeats around the one that is used, each at the head of its stride.
 */
#include "walk_svg_step.h"

#include "emu/abi/ctl.h"
#include "svg.h"
#include "walk_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define BOX    290
#define LINE   19
#define ROW    50
#define ACROSS 6 /* repeats that are drawn of the last dimension, and of the one before it */
#define DOWN   3
#define PITCH  (BOX / ACROSS)
#define STRIP  30

static const json_t *dims_of(const json_t *step)
{
	return json_object_get(step, "dims");
}

/* ---- sizes ---- */

/* Lines of the upper box. */
static int lines_of(const json_t *step)
{
	int lines = 5;

	if (dims_of(step))
		lines += 1 + (int)json_array_size(dims_of(step));
	return lines + (json_object_get(step, "page_shift") ? 2 : 0);
}

static int facts_height(const json_t *step)
{
	return lines_of(step) * LINE + 12;
}

/* Dimension "back" from the last; NULL when there are not so many. */
static const json_t *dim_from_last(const json_t *step, size_t back)
{
	size_t n = json_array_size(dims_of(step));

	return back < n ? json_array_get(dims_of(step), n - 1 - back) : NULL;
}

struct window {
	uint64_t first, n, index;
};

/* Which indices of a dimension are drawn: at most max, the used one among them. */
static struct window window_of(const json_t *dim, uint64_t max)
{
	uint64_t index = dim ? walk_number(dim, "index") : 0;
	uint64_t count = dim ? walk_number(dim, "count") : 1;
	struct window w = {index < max / 2 ? 0 : index - max / 2, count < max ? count : max, index};

	if (w.first > count - w.n)
		w.first = count - w.n;
	return w;
}

static int strips_height(const json_t *step)
{
	if (!dim_from_last(step, 0))
		return 0;
	return 64 + STRIP * (int)window_of(dim_from_last(step, 1), DOWN).n;
}

int walk_step_bottom(const json_t *step)
{
	int rows = (int)json_array_size(json_object_get(step, "shown"));

	return WALK_TOP + facts_height(step) + 20 + rows * ROW + strips_height(step);
}

/* ---- the parts ---- */

static void draw_pages(FILE *out, const json_t *step, int x, int *y)
{
	uint64_t offset = walk_number(step, UHCA_CTL_OFFSET);
	uint64_t first = walk_number(step, "first_offset");

	if (!json_object_get(step, "page_shift"))
		return;
	svg_text(out, x, *y += LINE, "note", "%" PRIu64 " + 0x%" PRIx64 " = 0x%" PRIx64, offset,
		 first, offset + first);
	svg_text(out, x, *y += LINE, "note", "0x%" PRIx64 " &gt;&gt; %" PRIu64 " = page %" PRIu64,
		 offset + first, walk_number(step, "page_shift"), walk_number(step, "entry"));
}

static void draw_rounds(FILE *out, const json_t *step, int x, int *y)
{
	const json_t *dim;
	size_t d;

	if (!dims_of(step))
		return;
	svg_text(out, x, *y += LINE, "note", "%" PRIu64 " / %" PRIu64 " bytes = round %" PRIu64,
		 walk_number(step, UHCA_CTL_OFFSET), walk_number(step, "round"),
		 walk_number(step, "repeat"));
	json_array_foreach(dims_of(step), d, dim)
		svg_text(out, x, *y += LINE, "note",
			 "dimension %zu: index %" PRIu64 " of %" PRIu64 ", x %" PRId64 " bytes", d,
			 walk_number(dim, "index"), walk_number(dim, "count"),
			 (int64_t)walk_number(dim, "stride"));
}

static void draw_facts(FILE *out, const json_t *step, int x)
{
	int y = WALK_TOP + 2;

	svg_box(out, x, WALK_TOP, BOX, facts_height(step), "part");
	x += 10;
	svg_text(out, x, y += LINE, "number", "iova   0x%" PRIx64, walk_number(step, "iova"));
	svg_text(out, x, y += LINE, "number", "length %" PRIu64, walk_number(step, "length"));
	svg_text(out, x, y += LINE, "note", "offset %" PRIu64 " of the key",
		 walk_number(step, UHCA_CTL_OFFSET));
	draw_pages(out, step, x, &y);
	draw_rounds(out, step, x, &y);
	svg_text(out, x, y += LINE, "note", "byte %" PRIu64 " of %s [%" PRIu64 "]",
		 walk_number(step, "in_entry"), walk_list_name(step, true),
		 walk_number(step, "entry"));
	svg_text(out, x, y + LINE, "note", "= 0x%" PRIx64 " of key 0x%08" PRIx64,
		 walk_number(step, "child_addr"), walk_number(step, "child_key"));
}

/* The entries; returns the middle of the one that is used. */
static int draw_list(FILE *out, const json_t *step, int x, int y)
{
	uint64_t last = UINT64_MAX, used = walk_number(step, "entry");
	const json_t *entry;
	int middle = y;
	size_t i;

	json_array_foreach(json_object_get(step, "shown"), i, entry)
	{
		uint64_t index = walk_number(entry, "index");
		bool hit = index == used;

		if (index != last + 1)
			svg_text(out, x + BOX / 2, y - 3, "number", "...");
		svg_box(out, x, y, BOX, 40, hit ? "hit" : "part");
		svg_text(out, x + 8, y + 17, "number",
			 "[%" PRIu64 "] %" PRIu64 " bytes at 0x%" PRIx64, index,
			 walk_number(entry, "bytes"), walk_number(entry, "addr"));
		svg_text(out, x + 8, y + 33, "note", "of key 0x%08" PRIx64,
			 walk_number(entry, UHCA_CTL_KEY));
		if (hit)
			middle = y + 20;
		last = index;
		y += ROW;
	}
	return middle;
}

/* Of the entry that is used: its bytes. */
static uint64_t used_bytes(const json_t *step)
{
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(step, "shown"), i, entry)
	{
		if (walk_number(entry, "index") == walk_number(step, "entry"))
			return walk_number(entry, "bytes");
	}
	return 1;
}

/* Pixels of the piece in a stride. */
static int piece_width(const json_t *step)
{
	int64_t stride = (int64_t)walk_number(dim_from_last(step, 0), "stride");
	double size = stride < 0 ? -(double)stride : (double)stride;
	double w = (double)used_bytes(step) * PITCH;

	if (w >= size * PITCH)
		return PITCH;
	return w / size < 4 ? 4 : (int)(w / size);
}

static void draw_strip(FILE *out, const json_t *step, int x, int y, bool used)
{
	struct window across = window_of(dim_from_last(step, 0), ACROSS);
	double at = (double)walk_number(step, "in_entry") / (double)used_bytes(step);
	int w = piece_width(step);

	svg_box(out, x, y, (int)across.n * PITCH, 20, "gap");
	for (uint64_t i = 0; i < across.n; i++) {
		int left = x + (int)i * PITCH;
		bool hit = used && across.first + i == across.index;

		svg_box(out, left, y, w, 20, hit ? "hit" : "part");
		if (hit)
			svg_box(out, left + (int)(at * (w - 3)), y, 3, 20, "byte");
	}
}

static void draw_strips(FILE *out, const json_t *step, int x, int y)
{
	struct window across = window_of(dim_from_last(step, 0), ACROSS);
	struct window down = window_of(dim_from_last(step, 1), DOWN);
	size_t last = json_array_size(dims_of(step)) - 1;

	if (!dim_from_last(step, 0))
		return;
	svg_text(out, x, y += 14, "note",
		 "%s [%" PRIu64 "], repeated: dimension %zu across, %" PRIu64 " to %" PRIu64,
		 walk_list_name(step, true), walk_number(step, "entry"), last, across.first,
		 across.first + across.n - 1);
	if (last)
		svg_text(out, x, y += 16, "note",
			 "dimension %zu downwards, %" PRIu64 " to %" PRIu64, last - 1, down.first,
			 down.first + down.n - 1);
	for (uint64_t i = 0; i < down.n; i++)
		draw_strip(out, step, x, y + 10 + (int)i * STRIP, down.first + i == down.index);
}

void walk_draw_step(FILE *out, const json_t *step, int number, int x)
{
	const char *shape = json_string_value(json_object_get(step, "shape"));
	int rows = (int)json_array_size(json_object_get(step, "shown"));
	int list = WALK_TOP + facts_height(step) + 20;
	int middle;

	svg_text(out, x, 40, "title", "%d. Key 0x%08" PRIx64 ": %s", number,
		 walk_number(step, UHCA_CTL_KEY),
		 shape && strcmp(shape, "sg") ? shape : "composite");
	svg_text(out, x, 58, "note", "%s: %" PRIu64, walk_list_name(step, false),
		 walk_number(step, "n"));
	draw_facts(out, step, x);
	middle = draw_list(out, step, x, list);
	draw_strips(out, step, x, list + rows * ROW);
	svg_arrow(out, x + BOX + 2, middle, x + WALK_STEP_WIDTH - 4, WALK_TOP + 20);
}
