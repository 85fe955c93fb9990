/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds large tables in slices; a thread formats the reply. */
#include "ctl_show.h"

#include "ctl_file_request.h"
#include "ctl_handler.h"
#include "ctl_table.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"

#include <stdlib.h>

#define SLICE (200 * IO_USEC)
#define MS    60000 /* the thread has no file to wait for */

struct ctl_show {
	struct ctl_file_request e;
	TAILQ_ENTRY(ctl_show) link;
	struct io_ctl_table *table;
};

static struct ctl_show *of(struct ctl_file_request *e)
{
	return (struct ctl_show *)e;
}

/* ---- by the thread ---- */

static void write_line(struct ctl_file_request *e)
{
	e->line = io_ctl_table_end(of(e)->table,
				   "{\"" UHCA_CTL_OK "\":true,\"" UHCA_CTL_RESULT "\":", "}\n",
				   &e->length);
	io_ctl_table_free(of(e)->table);
	of(e)->table = NULL;
}

/* ---- by the loop ---- */

/* Only when there is no memory for the line. */
static json_t *no_line(struct ctl_file_request *e, struct ctl_outcome *o)
{
	(void)e;
	(void)o;
	return NULL;
}

static void free_table(void *table)
{
	io_ctl_table_free(table);
}

static void drop(struct ctl_file_request *e)
{
	if (of(e)->table)
		io_reaper_do(free_table, of(e)->table);
	free(e);
}

static void take_off(struct io_ctl_shows *s, struct ctl_show *show)
{
	TAILQ_REMOVE(&s->list, show, link);
	if (!TAILQ_EMPTY(&s->list))
		return;
	ev_idle_stop(s->loop, &s->next);
}

/* A part of one, then of the next. */
static void on_next(struct ev_loop *loop, ev_idle *w, int revents)
{
	struct io_ctl_shows *s = w->data;
	struct ctl_show *show = TAILQ_FIRST(&s->list);
	uint64_t until = io_clock_now() + SLICE;
	bool more = show->e.answer != NULL; /* somebody waits for it */

	(void)loop;
	(void)revents;
	if (!more) {
		take_off(s, show);
		drop(&show->e);
		return;
	}
	while (more && io_clock_now() < until)
		more = io_ctl_table_add(show->table);
	io_loop_pass_did("a table of uhcactl");
	take_off(s, show);
	if (!more) {
		io_ctl_file_request_go(&show->e);
		return;
	}
	TAILQ_INSERT_TAIL(&s->list, show, link);
	ev_idle_start(s->loop, &s->next);
}

static json_t *at_once(struct io_ctl_table *t)
{
	json_t *whole;
	size_t length;
	char *text;

	while (io_ctl_table_add(t))
		;
	text = io_ctl_table_end(t, "", "", &length);
	io_ctl_table_free(t);
	whole = text ? json_loadb(text, length, 0, NULL) : NULL;
	free(text);
	return whole;
}

json_t *io_ctl_show(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *what = io_ctl_text(request, UHCA_CTL_WHAT);
	struct ctl_show *show;
	struct io_ctl_table *t;

	if (!what)
		return io_ctl_refuse(o, "show needs \"%s\"", UHCA_CTL_WHAT);
	t = io_ctl_table_begin(h, what);
	if (!t)
		return io_ctl_no_such(o, "table", what, io_ctl_table_at, NULL);
	if (!h->tasks)
		return at_once(t);
	show = calloc(1, sizeof(*show));
	if (!show) {
		io_ctl_table_free(t);
		return NULL;
	}
	show->e = (struct ctl_file_request){.services = h,
					    .work = write_line,
					    .finish = no_line,
					    .late = no_line,
					    .drop = drop,
					    .ms = MS};
	show->table = t;
	TAILQ_INSERT_TAIL(&h->shows->list, show, link);
	ev_idle_start(h->shows->loop, &h->shows->next);
	o->file_request = &show->e;
	return NULL;
}

void io_ctl_shows_open(struct io_ctl_shows *s, struct ev_loop *loop)
{
	s->loop = loop;
	TAILQ_INIT(&s->list);
	ev_idle_init(&s->next, on_next);
	ev_set_priority(&s->next, EV_MAXPRI); /* whatever else comes */
	s->next.data = s;
}

void io_ctl_shows_close(struct io_ctl_shows *s)
{
	struct ctl_show *show;

	while (s->loop && (show = TAILQ_FIRST(&s->list))) {
		take_off(s, show);
		drop(&show->e);
	}
}
