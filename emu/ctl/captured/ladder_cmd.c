/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl ladder: the packets of a capture, or of the running daemon, as a sequence diagram. */
#include "captured.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/model/ladder/ladders.h"
#include "model_source.h"

#include <errno.h>
#include <jansson.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define WIDTH_DEFAULT 100u
#define SETTLED_NS    2000000ull
#define QUIET_NS      50000000ull

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- how it is drawn ---- */

static unsigned terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	if (columns && ctl_model_number(columns, LADDER_WIDTH_MAX, &n))
		return (unsigned)n;
	return WIDTH_DEFAULT;
}

static int choose_style(const struct ctl_options *o, struct ladder_style *style)
{
	uint64_t width = terminal_width();

	setlocale(LC_CTYPE, "");
	style->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	style->colours = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	if (o->width &&
	    (!ctl_model_number(o->width, LADDER_WIDTH_MAX, &width) || width < LADDER_WIDTH_MIN))
		return ctl_usage_error("--width needs a number of columns, 60 to 400");
	if (width < LADDER_WIDTH_MIN)
		width = LADDER_WIDTH_MIN;
	if (width > LADDER_WIDTH_MAX)
		width = LADDER_WIDTH_MAX;
	style->width = (unsigned)width;
	return 0;
}

static int choose_rows(const struct ctl_options *o, struct ladder_options *l)
{
	uint64_t qp = 0;

	if (o->qp && !ctl_model_number(o->qp, 0xffffff, &qp))
		return ctl_usage_error("--qp needs a QP number, such as 0x11");
	if ((o->from && !ctl_model_time(o->from, &l->from)) ||
	    (o->to && !ctl_model_time(o->to, &l->to)))
		return ctl_usage_error("--from and --to need times, such as 1.5ms");
	if (o->to && l->to <= l->from)
		return ctl_usage_error("--to must be later than --from");
	l->has_qp = o->qp != NULL;
	l->qp = (uint32_t)qp;
	l->all = o->all;
	l->no_setup = o->no_setup;
	return 0;
}

/* ---- a file ---- */

static int no_memory(void)
{
	fprintf(stderr, "uhcactl: %s\n", strerror(ENOMEM));
	return CTL_EXIT_FAILED;
}

static int draw_svg(const char *file, const struct ladder *l, const char *title)
{
	FILE *f = ctl_file_open("uhcactl", file);

	if (!f)
		return CTL_EXIT_FAILED;
	ladder_print_svg(f, l, title);
	return ctl_file_close("uhcactl", file, f) ? 0 : CTL_EXIT_FAILED;
}

static void print_text(const struct ladder *l, const struct ladder_style *style)
{
	if (l->n_rows == 0 && l->model->cut == 0)
		puts("Nothing to draw: the capture has no RoCEv2 packet and no record of a "
		     "device.");
	else if (l->n_rows > 0)
		ladder_print_head(stdout, l, style);
	ladder_print_rows(stdout, l, style, 0, l->n_rows);
	ladder_print_foot(stdout, l);
}

static void print_title(const struct ctl_options *o)
{
	if (o->title)
		printf("%s\n\n", o->title);
}

/* False: there are more names than lanes. */
static bool name_lanes(const struct ctl_options *o, struct ladder *l)
{
	unsigned n = o->names ? ladder_name_lanes(l, o->names) : 0;

	if (n <= l->n_lanes)
		return true;
	fprintf(stderr, "uhcactl: --names has %u names, but the ladder has %u lanes\n", n,
		l->n_lanes);
	return false;
}

/* ---- as JSON ---- */

static json_t *lanes_of(const struct ladder *l)
{
	json_t *lanes = json_array();

	for (unsigned i = 0; i < l->n_lanes; i++) {
		char host[48], qp[24], program[24];

		ladder_lane_names(l, i, host, qp, program);
		json_array_append_new(lanes, json_pack("{s:s, s:s, s:s}", "host", host, "qp", qp,
						       "program", program));
	}
	return lanes;
}

static json_t *lane_of(unsigned lane)
{
	return lane < LADDER_LANES_MAX ? json_integer(lane) : json_null();
}

static json_t *row_of(const struct ladder_row *r)
{
	static const char *const kinds[] = {[LADDER_ARROW] = "arrow",
					    [LADDER_LEAVES] = "leaves",
					    [LADDER_ARRIVES] = "arrives",
					    [LADDER_EVENT] = "event"};
	static const char *const moods[] = {[LADDER_PLAIN] = "plain",
					    [LADDER_ANSWER] = "answer",
					    [LADDER_AGAIN] = "again",
					    [LADDER_LOST] = "lost",
					    [LADDER_MADE] = "rule"};

	return json_pack("{s:I, s:s, s:s, s:o, s:o, s:i, s:s, s:s}", "ns", (json_int_t)r->ns,
			 "kind", kinds[r->kind], "mood", moods[r->mood], "from", lane_of(r->from),
			 "to", lane_of(r->to), "count", (int)r->count, "label", r->label, "note",
			 r->note);
}

/* Row by row: a ladder may be long. */
static void print_json(const struct ladder *l)
{
	json_t *lanes = lanes_of(l);

	fputs("{\"lanes\": ", stdout);
	json_dumpf(lanes, stdout, 0);
	json_decref(lanes);
	printf(", \"hidden\": %u, \"truncated\": %zu, \"rows\": [", l->hidden, l->model->cut);
	for (uint32_t i = 0; i < l->n_rows; i++) {
		json_t *row = row_of(&l->row[i]);

		fputs(i ? ",\n " : "\n ", stdout);
		json_dumpf(row, stdout, 0);
		json_decref(row);
	}
	fputs("\n]}\n", stdout);
}

static int draw(const struct ctl_options *o, const struct model *s, struct ladder_options *rows,
		const struct ladder_style *style)
{
	struct ladder l;
	int status = 0;

	rows->lanes = o->svg || o->json ? 0 : ladder_lanes_for(style->width);
	if (ladder_make(&l, s, rows) < 0)
		status = no_memory();
	else if (!o->json && !name_lanes(o, &l))
		status = CTL_EXIT_FAILED;
	else if (o->svg)
		status = draw_svg(o->svg, &l, o->title);
	else if (o->json)
		print_json(&l);
	else {
		print_title(o);
		print_text(&l, style);
	}
	if (status == 0 && (o->svg || o->json) && s->error[0])
		fprintf(stderr, "uhcactl: the capture is broken: %s\n", s->error);
	ladder_free(&l);
	return status ? status : s->error[0] ? CTL_EXIT_FAILED : 0;
}

/* ---- live ---- */

/* What has been drawn so far. */
struct live {
	struct ladder_lane lane[LADDER_LANES_MAX];
	unsigned n_lanes;
	uint64_t base;    /* when the first capture began */
	uint64_t printed; /* all rows until this time */
};

/* Rows after "printed", until "end". */
static void print_new(struct live *live, const struct ladder *l, const struct ladder_style *style,
		      uint64_t end)
{
	uint32_t first = 0, last;

	while (first < l->n_rows && live->base + l->row[first].ns <= live->printed)
		first++;
	last = first;
	while (last < l->n_rows && live->base + l->row[last].ns <= end)
		last++;
	if (last > first && l->n_lanes != live->n_lanes)
		ladder_print_head(stdout, l, style);
	if (last > first) {
		memcpy(live->lane, l->lane, sizeof(live->lane));
		live->n_lanes = l->n_lanes;
	}
	ladder_print_rows(stdout, l, style, first, last);
	live->printed = end;
}

/* What is older has arrived, if it does at all; when nothing happens, nothing is awaited. */
static uint64_t settled(const struct model *s)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec > s->ended + QUIET_NS)
		return s->ended;
	return s->ended - SETTLED_NS;
}

/* With much traffic the recorder forgets faster than we look. */
static void print_gap(const struct live *live, const struct model *s)
{
	if (live->printed && s->began > live->printed && model_has_forgotten(s))
		printf("\nThe flight recorder has forgotten %.3f ms.\n\n",
		       (double)(s->began - live->printed) / 1e6);
}

/* Draws what the model has more than what has been drawn. */
static int draw_on(const struct ctl_options *o, struct live *live, struct model *s,
		   struct ladder_options *rows, const struct ladder_style *style)
{
	struct ladder l = {0};
	int status = 0;

	print_gap(live, s);
	live->base = live->base ? live->base : s->began;
	s->began = live->base;
	rows->before = live->lane;
	rows->n_before = live->n_lanes;
	if (ladder_make(&l, s, rows) < 0)
		status = no_memory();
	else if (o->names)
		ladder_name_lanes(&l, o->names);
	if (status == 0)
		print_new(live, &l, style, settled(s));
	ladder_free(&l);
	return fflush(stdout) == 0 ? status : CTL_EXIT_FAILED;
}

static int follow(const struct ctl_options *o, struct ladder_options *rows,
		  const struct ladder_style *style)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct ctl_watch watch = {.from = o, .running = true};
	struct live live = {.n_lanes = 0};
	int status = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	rows->lanes = ladder_lanes_for(style->width);
	print_title(o);
	while (status == 0 && !interrupted) {
		status = ctl_watch_look(&watch, ctl_now(), false);
		if (status == 0 && watch.model.n_moments > 0)
			status = draw_on(o, &live, &watch.model, rows, style);
		if (status == 0 && !interrupted)
			poll(NULL, 0, ctl_watch_wait(&watch));
	}
	if (!watch.running)
		fprintf(stderr, "uhcactl: %s: no daemon runs there (uhca-run starts one)\n",
			o->dir);
	model_free(&watch.model);
	free(watch.counted);
	return status;
}

int ctl_ladder(const struct ctl_options *o)
{
	struct ladder_options rows = {.has_qp = false};
	struct ladder_style style;
	struct model s;
	int status;

	if (o->n_words != 2)
		return ctl_expected("ladder FILE, or ladder live");
	status = choose_style(o, &style);
	if (status == 0)
		status = choose_rows(o, &rows);
	if (status != 0)
		return status;
	if (strcmp(o->word[1], CTL_MODEL_LIVE) == 0 && !o->once && !o->svg && !o->json)
		return follow(o, &rows, &style);
	status = ctl_model_open(o, &s);
	if (status == 0 && rows.has_qp)
		status = ctl_model_has_qp(o, &s, rows.qp);
	if (status == 0)
		status = draw(o, &s, &rows, &style);
	model_free(&s);
	return status;
}
