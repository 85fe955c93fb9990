/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ladder_text.h. A line is made in an array of glyphs, so that arrows, lanes and words may be
 * put over each other, and is written out when it is done.
 *
 *   TIME_WIDTH  time | lanes, GAP_MIN or more apart | notes, wrapped to the lines below
 */
#include "ladder_text.h"

#include <string.h>
#include <time.h>

#define TIME_WIDTH 12
#define EDGE       9 /* from the time to the first lane, from the last lane to the notes */
#define GAP_MIN    24
#define NOTE_MIN   22
#define NOTE_MAX   56
#define STUB       6 /* of an arrow that arrives later */

enum glyph {
	LANE = 128,
	LINE,
	DOTS,
	LEAVE_RIGHT, /* where an arrow leaves its lane to the right */
	LEAVE_LEFT,
	TIP_RIGHT,
	TIP_LEFT,
	CROSS,
	BULLET,
	MORE, /* words that were cut */
};

static const struct {
	char ascii;
	const char *utf8;
} glyphs[] = {
	[LANE - 128] = {'|', "│"},       [LINE - 128] = {'-', "─"},
	[DOTS - 128] = {'.', "╌"},       [LEAVE_RIGHT - 128] = {'|', "├"},
	[LEAVE_LEFT - 128] = {'|', "┤"}, [TIP_RIGHT - 128] = {'>', "▶"},
	[TIP_LEFT - 128] = {'<', "◀"},   [CROSS - 128] = {'X', "✗"},
	[BULLET - 128] = {'*', "●"},     [MORE - 128] = {'~', "…"},
};

struct line {
	const struct ladder *l;
	const struct ladder_style *style;
	unsigned lane[LADDER_LANES_MAX]; /* columns */
	unsigned notes;                  /* column */
	unsigned char glyph[LADDER_WIDTH_MAX];
	enum ladder_mood mood[LADDER_WIDTH_MAX];
};

unsigned ladder_lanes_for(unsigned width)
{
	unsigned fixed = TIME_WIDTH + 2 * EDGE + NOTE_MIN;
	unsigned n = width > fixed ? (width - fixed) / GAP_MIN + 1 : 2;

	return n < 2 ? 2 : n > LADDER_LANES_MAX ? LADDER_LANES_MAX : n;
}

/* Notes get a third of the width, lanes the rest. */
static void place(struct line *line, const struct ladder *l, const struct ladder_style *style)
{
	unsigned notes = style->width / 3;
	unsigned lanes = l->n_lanes > 1 ? l->n_lanes - 1 : 1;
	unsigned left, gap;

	notes = notes < NOTE_MIN ? NOTE_MIN : notes > NOTE_MAX ? NOTE_MAX : notes;
	left = style->width - TIME_WIDTH - 2 * EDGE;
	if (left < notes + lanes * GAP_MIN)
		notes = left > lanes * GAP_MIN + NOTE_MIN ? left - lanes * GAP_MIN : NOTE_MIN;
	gap = left > notes ? (left - notes) / lanes : 1;
	gap = gap > 60 ? 60 : gap < 4 ? 4 : gap;
	*line = (struct line){.l = l, .style = style};
	for (unsigned i = 0; i < l->n_lanes; i++)
		line->lane[i] = TIME_WIDTH + EDGE + i * gap;
	line->notes = TIME_WIDTH + 2 * EDGE + (l->n_lanes > 1 ? lanes * gap : 0);
}

static void clear(struct line *line, bool lanes)
{
	memset(line->glyph, ' ', sizeof(line->glyph));
	memset(line->mood, 0, sizeof(line->mood));
	for (unsigned i = 0; lanes && i < line->l->n_lanes; i++)
		line->glyph[line->lane[i]] = LANE;
}

static void glyph_set(struct line *line, unsigned at, unsigned char glyph, enum ladder_mood mood)
{
	if (at >= line->style->width)
		return;
	line->glyph[at] = glyph;
	line->mood[at] = mood;
}

/* The text, or as much of it as room has. */
static void put_text(struct line *line, unsigned at, unsigned room, const char *text,
		     enum ladder_mood mood)
{
	size_t length = strlen(text);

	for (size_t i = 0; i < length && i < room; i++)
		glyph_set(line, at + (unsigned)i, (unsigned char)text[i], mood);
	if (length > room && room > 0)
		glyph_set(line, at + room - 1, MORE, mood);
}

static void write_line(FILE *out, const struct line *line)
{
	static const char *const colour[] = {
		[LADDER_PLAIN] = "\x1b[0m",  [LADDER_ANSWER] = "\x1b[36m",
		[LADDER_AGAIN] = "\x1b[33m", [LADDER_LOST] = "\x1b[1;31m",
		[LADDER_MADE] = "\x1b[35m",
	};
	enum ladder_mood mood = LADDER_PLAIN;
	unsigned end = line->style->width;

	while (end > 0 && line->glyph[end - 1] == ' ')
		end--;
	for (unsigned i = 0; i < end; i++) {
		unsigned char g = line->glyph[i];

		if (line->style->colours && line->mood[i] != mood && g != ' ') {
			mood = line->mood[i];
			if (mood != LADDER_PLAIN)
				fputs(colour[LADDER_PLAIN], out);
			fputs(colour[mood], out);
		}
		if (g < 128)
			fputc(g, out);
		else if (line->style->utf8)
			fputs(glyphs[g - 128].utf8, out);
		else
			fputc(glyphs[g - 128].ascii, out);
	}
	if (mood != LADDER_PLAIN)
		fputs(colour[LADDER_PLAIN], out);
	fputc('\n', out);
}

/* ---- the head ---- */

static void put_centred(struct line *line, unsigned lane, const char *text)
{
	unsigned length = (unsigned)strlen(text);
	unsigned gap = line->l->n_lanes > 1 ? line->lane[1] - line->lane[0] - 1 : 2 * EDGE;
	unsigned room = length < gap ? length : gap;
	unsigned at = line->lane[lane] > room / 2 ? line->lane[lane] - room / 2 : 0;

	put_text(line, at, room, text, LADDER_PLAIN);
}

static void put_time(struct line *line, uint64_t ns)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%.3f", (double)ns / 1e6);
	unsigned at = n < TIME_WIDTH ? TIME_WIDTH - (unsigned)n : 0;

	put_text(line, at, TIME_WIDTH, text, LADDER_PLAIN);
}

static void print_began(FILE *out, const struct ladder *l)
{
	time_t seconds = (time_t)(l->model->began / 1000000000u);
	char text[40] = "";
	struct tm tm;

	if (l->model->began && gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	if (text[0])
		fprintf(out, "Milliseconds since %s.%06u UTC\n\n", text,
			(unsigned)(l->model->began / 1000 % 1000000));
}

void ladder_print_head(FILE *out, const struct ladder *l, const struct ladder_style *style)
{
	struct line line;
	bool programs = false;

	place(&line, l, style);
	print_began(out, l);
	if (l->hidden > 0)
		fprintf(out,
			"The %u QPs with the most packets are drawn; %u more %s no room: choose "
			"with --qp, or use a larger --width.\n\n",
			l->n_lanes, l->hidden, l->hidden == 1 ? "has" : "have");
	for (unsigned k = 0; k < 3; k++) {
		clear(&line, false);
		for (unsigned i = 0; i < l->n_lanes; i++) {
			char host[48], qp[24], program[24];

			ladder_lane_names(l, i, host, qp, program);
			programs |= program[0] != '\0';
			put_centred(&line, i, k == 0 ? host : k == 1 ? qp : program);
		}
		if (k < 2 || programs)
			write_line(out, &line);
	}
	clear(&line, true);
	write_line(out, &line);
}

/* ---- rows ---- */

/* As much of a label as fits: without explanation, details, PSN rather than with half of them. */
static unsigned label_length(const char *label, unsigned room)
{
	unsigned length = (unsigned)strlen(label);

	while (length > room && length > 0) {
		do
			length--;
		while (length > 0 && label[length] != ',' && label[length] != ':' &&
		       strncmp(label + length, " psn", 4) != 0);
	}
	return length ? length : room;
}

/* From column a (a lane) to before column b, with the label in the middle. */
static void put_shaft(struct line *line, const struct ladder_row *r, unsigned a, unsigned b)
{
	unsigned low = (a < b ? a : b) + 1, high = a < b ? b : a;
	unsigned room = high - low;
	unsigned length;
	unsigned char glyph = r->again ? DOTS : LINE;

	for (unsigned i = low; i < high; i++)
		glyph_set(line, i, glyph, r->mood);
	if (room < 6)
		return;
	length = label_length(r->label, room - 4);
	low += (room - length) / 2;
	glyph_set(line, low - 1, ' ', r->mood);
	for (unsigned i = 0; i < length && r->label[i]; i++)
		glyph_set(line, low + i, (unsigned char)r->label[i], r->mood);
	glyph_set(line, low + length, ' ', r->mood);
}

/* Where an arrow ends that does not reach its lane: short of it, or at it. */
static unsigned end_of(const struct line *line, const struct ladder_row *r)
{
	const struct model_arrow *a = &line->l->model->arrow[r->arrow];
	unsigned from = line->lane[r->from], to = line->lane[r->to];
	unsigned length = from < to ? to - from : from - to;
	unsigned shorter = 1;

	if (r->kind == LADDER_LEAVES)
		shorter = length > 2 * STUB ? STUB : length / 2;
	else if (a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING)
		shorter = length / 5 + 1;
	return from < to ? to - shorter : to + shorter;
}

static void put_arrow(struct line *line, const struct ladder_row *r)
{
	const struct model_arrow *a = &line->l->model->arrow[r->arrow];
	unsigned from = line->lane[r->from], to = line->lane[r->to];
	bool right = from < to;
	bool lost = a->fate != MODEL_ARRIVED && a->fate != MODEL_SEEN;
	unsigned end;

	if (r->from == r->to) {
		glyph_set(line, from, BULLET, r->mood);
		put_text(line, from + 2, line->notes - from - 3, r->label, r->mood);
		return;
	}
	end = end_of(line, r);
	if (r->kind == LADDER_ARRIVES)
		from = right ? from + STUB : from - STUB;
	put_shaft(line, r, from, end);
	if (r->kind != LADDER_ARRIVES)
		glyph_set(line, from, right ? LEAVE_RIGHT : LEAVE_LEFT, r->mood);
	if (lost && r->kind != LADDER_LEAVES)
		glyph_set(line, end, CROSS, r->mood);
	else if (r->kind == LADDER_LEAVES)
		glyph_set(line, end, right ? '>' : '<', r->mood);
	else
		glyph_set(line, end, right ? TIP_RIGHT : TIP_LEFT, r->mood);
}

/* Puts as many words as fit beside the lanes; returns the rest. */
static const char *put_note(struct line *line, const char *note, enum ladder_mood mood)
{
	unsigned room = line->style->width > line->notes ? line->style->width - line->notes : 0;
	size_t length = strlen(note);
	char text[LADDER_WIDTH_MAX];

	if (room < 10)
		return "";
	if (length > room) {
		length = room;
		while (length > 0 && note[length] != ' ' && note[length - 1] != ' ')
			length--;
		if (length == 0)
			length = room;
	}
	memcpy(text, note, length);
	text[length] = '\0';
	put_text(line, line->notes, room, text, mood);
	note += length;
	return note + strspn(note, " ");
}

static void print_row(FILE *out, struct line *line, const struct ladder_row *r)
{
	const char *note = r->note;

	clear(line, true);
	put_time(line, r->ns);
	if (r->kind != LADDER_EVENT)
		put_arrow(line, r);
	else if (r->from < line->l->n_lanes)
		glyph_set(line, line->lane[r->from], BULLET, r->mood);
	note = put_note(line, note, r->mood);
	write_line(out, line);
	while (*note) {
		clear(line, true);
		note = put_note(line, note, r->mood);
		write_line(out, line);
	}
}

void ladder_print_rows(FILE *out, const struct ladder *l, const struct ladder_style *style,
		       uint32_t first, uint32_t end)
{
	struct line line;

	place(&line, l, style);
	for (uint32_t i = first; i < end && i < l->n_rows; i++)
		print_row(out, &line, &l->row[i]);
}

void ladder_print_foot(FILE *out, const struct ladder *l)
{
	if (l->model->cut > 0)
		fprintf(out,
			"\n%zu frame%s truncated: the capture has less than their headers; give "
			"--snap, or tcpdump -s, 400 or more.\n",
			l->model->cut, l->model->cut == 1 ? " is" : "s are");
	if (l->model->others > 0)
		fprintf(out, "\n%zu frame%s.\n", l->model->others,
			l->model->others == 1 ? " is not a RoCEv2 packet"
					      : "s are not RoCEv2 packets");
	if (l->model->error[0])
		fprintf(out, "\nThe capture is broken here: %s\n", l->model->error);
}
