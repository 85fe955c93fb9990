/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ladder_svg.h. From left to right: the time, the lanes, the notes; below all the legend.
 * Sizes in pixels.
 */
#include "ladder_svg.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MARGIN        24
#define TIME_RIGHT    96 /* where times end */
#define LANE_FIRST    190
#define LANE_GAP      400
#define NOTES_GAP     110 /* from the last lane to the notes */
#define NOTES_WIDTH   372
#define NOTE_LETTERS  54 /* on a line */
#define HEAD_TOP      68
#define BOX_WIDTH     150
#define BOX_HEIGHT    60
#define ROWS_TOP      (HEAD_TOP + BOX_HEIGHT + 34)
#define ROW_HEIGHT    30
#define NOTE_HEIGHT   16
#define LEGEND_HEIGHT 86
#define SLANT         5
#define LABEL_CHAR    7 /* width of a letter of a label */

struct drawing {
	FILE *out;
	const struct ladder *l;
	int *y; /* of each row */
	int bottom;
	int notes;
	int width;
};

static const char *const mood_class[] = {
	[LADDER_PLAIN] = "p", [LADDER_ANSWER] = "a", [LADDER_AGAIN] = "r",
	[LADDER_LOST] = "l",  [LADDER_MADE] = "m",
};

static const char style[] =
	"text{font:12px 'DejaVu Sans','Segoe UI',Helvetica,Arial,sans-serif;fill:#2a3342}"
	".title{font-size:17px;font-weight:bold}.sub{fill:#667085}"
	".time{font:11px 'DejaVu Sans Mono',Menlo,Consolas,monospace;fill:#667085;"
	"text-anchor:end}"
	".host{font-weight:bold;font-size:13px;text-anchor:middle}.end{text-anchor:middle}"
	".label{font:11px 'DejaVu Sans Mono',Menlo,Consolas,monospace;text-anchor:middle;"
	"paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}"
	".lane{stroke:#b6c0cf;stroke-width:3}.laneerr{stroke:#e59a9a;stroke-width:3}"
	".box{fill:#f2f6fb;stroke:#93a4bd}.band{fill:#f8fafc}.lead{stroke:#e4e9f0}"
	".arrow{stroke-width:1.8;fill:none}.again{stroke-dasharray:5 4}.cross{stroke-width:2.6}"
	".p{stroke:#23487f}.a{stroke:#17807a}.r{stroke:#b56a00}.l{stroke:#c62828}.m{stroke:#7a3aa3}"
	".tp{fill:#23487f}.ta{fill:#17807a}.tr{fill:#9a5a00}.tl{fill:#b71c1c}.tm{fill:#6b2f93}"
	".paper{fill:#fff}"
	"@media (prefers-color-scheme:dark){"
	"text{fill:#dfe3e8}.sub,.time{fill:#9aa5b1}.paper{fill:#16181b}.label{stroke:#16181b}"
	".lane{stroke:#4f5966}.laneerr{stroke:#8c4343}.box{fill:#202428;stroke:#5b6470}"
	".band{fill:#1c1f23}.lead{stroke:#2c3238}"
	".p{stroke:#7db7f0}.a{stroke:#4fc3b8}.r{stroke:#f0a94a}.l{stroke:#ff8a80}.m{stroke:#cf9cf0}"
	".tp{fill:#7db7f0}.ta{fill:#4fc3b8}.tr{fill:#f0a94a}.tl{fill:#ff8a80}.tm{fill:#cf9cf0}}";

/* ---- words ---- */

/* n letters that may be anything. */
static void put_xml(FILE *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '<' || text[i] == '&' || text[i] == '>')
			fprintf(out, "&#%d;", text[i]);
		else if ((unsigned char)text[i] < ' ')
			fputc('?', out);
		else
			fputc(text[i], out);
	}
}

static void put_text(FILE *out, int x, int y, const char *class, const char *text)
{
	fprintf(out, "<text x='%d' y='%d' class='%s'>", x, y, class);
	put_xml(out, text, strlen(text));
	fputs("</text>\n", out);
}

/* How much of the text stands on one line. */
static size_t line_length(const char *text, size_t letters)
{
	size_t n = strlen(text);

	if (n <= letters)
		return n;
	n = letters;
	while (n > 0 && text[n] != ' ')
		n--;
	return n ? n : letters;
}

static unsigned note_lines(const char *note)
{
	unsigned lines = 0;

	while (*note) {
		note += line_length(note, NOTE_LETTERS);
		note += strspn(note, " ");
		lines++;
	}
	return lines;
}

static void put_note(const struct drawing *d, const struct ladder_row *r, int y)
{
	const char *note = r->note;

	for (y += 4; *note; y += NOTE_HEIGHT) {
		size_t n = line_length(note, NOTE_LETTERS);

		fprintf(d->out, "<text x='%d' y='%d' class='t%s'>", d->notes, y,
			mood_class[r->mood]);
		put_xml(d->out, note, n);
		fputs("</text>\n", d->out);
		note += n;
		note += strspn(note, " ");
	}
}

/* ---- where things are ---- */

static int lane_x(unsigned lane)
{
	return LANE_FIRST + (int)lane * LANE_GAP;
}

static int row_height(const struct ladder_row *r)
{
	unsigned lines = note_lines(r->note);

	return ROW_HEIGHT + (lines > 1 ? (int)(lines - 1) * NOTE_HEIGHT : 0);
}

static bool place(struct drawing *d)
{
	int y = ROWS_TOP;

	d->y = malloc(((size_t)d->l->n_rows + 1) * sizeof(*d->y));
	if (!d->y)
		return false;
	for (uint32_t i = 0; i < d->l->n_rows; i++) {
		d->y[i] = y;
		y += row_height(&d->l->row[i]);
	}
	d->bottom = y;
	d->notes = lane_x(d->l->n_lanes > 1 ? d->l->n_lanes - 1 : 1) + NOTES_GAP;
	d->width = d->notes + NOTES_WIDTH + MARGIN;
	return true;
}

/* ---- head and legend ---- */

static void put_head(const struct drawing *d, const char *title)
{
	time_t seconds = (time_t)(d->l->model->began / 1000000000u);
	char text[80] = "Times in milliseconds";
	struct tm tm;

	put_text(d->out, MARGIN, 30, "title", title ? title : "Packets sent and received");
	if (d->l->model->began && gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "Milliseconds since %Y-%m-%d %H:%M:%S UTC", &tm);
	put_text(d->out, MARGIN, 50, "sub", text);
	for (unsigned i = 0; i < d->l->n_lanes; i++) {
		char host[48], qp[24], program[24];
		int x = lane_x(i);

		ladder_lane_names(d->l, i, host, qp, program);
		fprintf(d->out, "<rect x='%d' y='%d' width='%d' height='%d' rx='8' class='box'/>\n",
			x - BOX_WIDTH / 2, HEAD_TOP, BOX_WIDTH, BOX_HEIGHT);
		put_text(d->out, x, HEAD_TOP + (program[0] ? 18 : 25), "host", host);
		put_text(d->out, x, HEAD_TOP + (program[0] ? 35 : 43), "end", qp);
		put_text(d->out, x, HEAD_TOP + 51, "end", program);
	}
}

static void put_sample(const struct drawing *d, int x, int y, const char *class, const char *text)
{
	fprintf(d->out, "<path d='M%d %d h44' class='arrow %s'/>", x, y, class);
	fprintf(d->out, "<path d='M%d %d l-7 -4 v8 z' class='t%c'/>", x + 48, y,
		class[strlen(class) - 1]);
	put_text(d->out, x + 58, y + 4, "sub", text);
}

static void put_cross(FILE *out, int x, int y, const char *class)
{
	fprintf(out, "<path d='M%d %d l10 10 m0 -10 l-10 10' class='cross %s'/>\n", x - 5, y - 5,
		class);
}

static void put_legend(const struct drawing *d)
{
	int y = d->bottom + 40;

	fprintf(d->out, "<path d='M%d %d H%d' class='lead'/>\n", MARGIN, y - 22, d->width - MARGIN);
	put_sample(d, MARGIN, y, "p", "request");
	put_sample(d, MARGIN + 170, y, "a", "answer");
	put_sample(d, MARGIN + 340, y, "again r", "sent again");
	put_sample(d, MARGIN + 530, y, "m", "changed or made by a rule");
	fprintf(d->out, "<path d='M%d %d h30' class='arrow l'/>", MARGIN, y + 26);
	put_cross(d->out, MARGIN + 35, y + 26, "l");
	put_text(d->out, MARGIN + 58, y + 30, "sub", "lost or dropped");
	fprintf(d->out, "<circle cx='%d' cy='%d' r='5' class='tp'/>", MARGIN + 194, y + 26);
	put_text(d->out, MARGIN + 228, y + 30, "sub", "record of the device");
	fprintf(d->out, "<path d='M%d %d v20' class='laneerr'/>", MARGIN + 364, y + 16);
	put_text(d->out, MARGIN + 398, y + 30, "sub", "QP in an error state");
	put_sample(d, MARGIN + 530, y + 26, "l", "NAK");
}

/* ---- lanes ---- */

/* The row at which the QP of a lane goes to an error state, or leaves it, from row i on. */
static uint32_t next_change(const struct ladder *l, unsigned lane, uint32_t i, bool *error)
{
	for (; i < l->n_rows; i++) {
		const struct ladder_row *r = &l->row[i];
		const struct model_record *k;
		bool now;

		if (r->record == MODEL_NONE || r->from != lane)
			continue;
		k = &l->model->record[r->record];
		if (k->kind != MODEL_STATE || !model_word(k, "to"))
			continue;
		now = model_is_error_state(k);
		if (now != *error) {
			*error = now;
			return i;
		}
	}
	return l->n_rows;
}

static void put_lane(const struct drawing *d, unsigned lane)
{
	int from = HEAD_TOP + BOX_HEIGHT;
	uint32_t row = 0;

	for (bool error = false, was = false; row < d->l->n_rows; was = error, row++) {
		int to;

		row = next_change(d->l, lane, row, &error);
		to = row < d->l->n_rows ? d->y[row] : d->bottom;
		fprintf(d->out, "<path d='M%d %d V%d' class='%s'/>\n", lane_x(lane), from, to,
			was ? "laneerr" : "lane");
		from = to;
	}
	if (d->l->n_rows == 0 || from < d->bottom)
		fprintf(d->out, "<path d='M%d %d V%d' class='lane'/>\n", lane_x(lane), from,
			d->bottom);
}

/* ---- rows ---- */

static void put_tip(const struct drawing *d, int x, int y, bool right, const char *mood)
{
	fprintf(d->out, "<path d='M%d %d l%d -4 v8 z' class='t%s'/>\n", x, y, right ? -9 : 9, mood);
}

static void put_label(const struct drawing *d, const struct ladder_row *r, int x, int y)
{
	char class[16];
	char text[sizeof(r->label)];
	size_t room = (LANE_GAP - 30) / LABEL_CHAR;

	snprintf(class, sizeof(class), "label t%s", mood_class[r->mood]);
	snprintf(text, sizeof(text), "%.*s", (int)room, r->label);
	put_text(d->out, x, y, class, text);
}

/* A packet from one lane to another: to y2 at its arrival, or to where it was lost. */
static void put_arrow(const struct drawing *d, const struct ladder_row *r, int y1, int y2)
{
	const struct model_arrow *a = &d->l->model->arrow[r->arrow];
	const char *mood = mood_class[r->mood];
	bool right = r->from < r->to;
	int x1 = lane_x(r->from), x2 = lane_x(r->to) + (right ? -2 : 2);
	bool on_the_way = a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING;
	int label_x = (x1 + x2) / 2;

	if (on_the_way) {
		x2 = x1 + (x2 - x1) * 3 / 4;
		y2 = y1 + (y2 - y1) * 3 / 4;
		label_x = (x1 + x2) / 2;
	}
	fprintf(d->out, "<path d='M%d %d L%d %d' class='arrow %s %s'/>\n", x1, y1, x2, y2,
		r->again ? "again" : "", mood);
	if (on_the_way || a->fate == MODEL_REFUSED)
		put_cross(d->out, x2, y2, mood);
	else
		put_tip(d, x2, y2, right, mood);
	if (y2 - y1 > ROW_HEIGHT) {
		label_x = x1 + (x2 - x1) / 3;
		put_label(d, r, label_x, y1 - 6);
	} else {
		put_label(d, r, label_x, (y1 + y2) / 2 - 8);
	}
}

static void put_packet(const struct drawing *d, uint32_t row)
{
	const struct ladder_row *r = &d->l->row[row];
	int y = d->y[row];
	int x = lane_x(r->from);

	if (r->from == r->to)
		fprintf(d->out,
			"<path d='M%d %d c60 -6 60 14 4 10' class='arrow %s'/>"
			"<text x='%d' y='%d' class='t%s'>%s</text>\n",
			x, y - 5, mood_class[r->mood], x + 54, y + 4, mood_class[r->mood],
			r->label);
	else if (r->kind == LADDER_ARROW)
		put_arrow(d, r, y - SLANT, y + SLANT);
	else if (r->kind == LADDER_LEAVES)
		put_arrow(d, r, y,
			  r->other != MODEL_NONE ? d->y[r->other] : d->bottom - ROW_HEIGHT / 2);
	else if (r->other == MODEL_NONE)
		put_arrow(d, r, y - SLANT, y + SLANT);
}

static void put_row(const struct drawing *d, uint32_t row)
{
	const struct ladder_row *r = &d->l->row[row];
	char text[32];
	int y = d->y[row];

	snprintf(text, sizeof(text), "%.3f", (double)r->ns / 1e6);
	put_text(d->out, TIME_RIGHT, y + 4, "time", text);
	if (r->kind != LADDER_EVENT) {
		put_packet(d, row);
	} else if (r->from < d->l->n_lanes) {
		fprintf(d->out, "<path d='M%d %d H%d' class='lead'/>", lane_x(r->from), y,
			d->notes - 8);
		fprintf(d->out, "<circle cx='%d' cy='%d' r='5' class='t%s'/>\n", lane_x(r->from), y,
			mood_class[r->mood]);
	}
	put_note(d, r, y);
}

/* Every second row on a band, so that the eye finds from a note to its time. */
static void put_bands(const struct drawing *d)
{
	for (uint32_t i = 1; i < d->l->n_rows; i += 2)
		fprintf(d->out, "<rect x='%d' y='%d' width='%d' height='%d' class='band'/>\n",
			MARGIN, d->y[i] - ROW_HEIGHT / 2, d->width - 2 * MARGIN,
			row_height(&d->l->row[i]));
}

void ladder_print_svg(FILE *out, const struct ladder *l, const char *title)
{
	struct drawing d = {.out = out, .l = l};
	int height;

	if (!place(&d))
		return;
	height = d.bottom + LEGEND_HEIGHT;
	fprintf(out,
		"<!-- SPDX-License-Identifier: BSD-2-Clause -->\n"
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"viewBox='0 0 %d %d'>\n<style>%s</style>\n"
		"<rect width='%d' height='%d' class='paper'/>\n",
		d.width, height, d.width, height, style, d.width, height);
	put_bands(&d);
	put_head(&d, title);
	for (unsigned i = 0; i < l->n_lanes; i++)
		put_lane(&d, i);
	for (uint32_t i = 0; i < l->n_rows; i++)
		put_row(&d, i);
	put_legend(&d);
	fputs("</svg>\n", out);
	free(d.y);
}
