/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams of events to pages (server.h), as text/event-stream of HTML: "trace" when there is
 * another model, "state" with what the daemon's tables say, "lab" when a check begins or ends. A
 * page that has not fetched an event gets the newest one afterwards, and none of those between.
 */
#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SIGN_OF_LIFE_NS 10000000000ull

struct stream {
	struct server *server;
	struct stream *next;
	struct MHD_Connection *connection;
	uint64_t generation, version; /* that it has */
	unsigned lab;                 /* version of the lab that it has */
	uint64_t wrote;               /* when */
	char *text;                   /* what is being written; owned */
	size_t length, done;
	bool waits;
	bool closed; /* by the page */
};

static void put_lab(FILE *f, const struct serve_lab *l)
{
	json_t *state = lab_state(l);
	char *text = json_dumps(state, JSON_COMPACT);

	fprintf(f, "event: lab\ndata: %s\n\n", text ? text : "null");
	free(text);
	json_decref(state);
}

static char *make_event(struct stream *st, size_t *length)
{
	const struct serve_source *s = &st->server->source;
	const struct serve_lab *l = &st->server->lab;
	char *text = NULL;
	FILE *f = open_memstream(&text, length);

	if (!f)
		return NULL;
	if (st->generation != s->watch.generation)
		fprintf(f, "event: trace\ndata: {\"generation\":%" PRIu64 "}\n\n",
			s->watch.generation);
	if (st->version != s->version)
		fprintf(f, "event: state\ndata: %s\n\n", s->state ? s->state : "null");
	if (st->lab != l->version)
		put_lab(f, l);
	st->lab = l->version;
	st->generation = s->watch.generation;
	st->version = s->version;
	if (ftell(f) == 0)
		fputs(": here\n\n", f);
	return fclose(f) == 0 ? text : NULL;
}

static bool has_news(const struct stream *st)
{
	const struct serve_source *s = &st->server->source;

	return st->generation != s->watch.generation || st->version != s->version ||
	       st->lab != st->server->lab.version || ctl_now() > st->wrote + SIGN_OF_LIFE_NS;
}

static ssize_t read_events(void *cls, uint64_t at, char *buf, size_t max)
{
	struct stream *st = cls;
	size_t n;

	(void)at;
	if (st->closed)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!st->text && !has_news(st)) {
		st->waits = true;
		MHD_suspend_connection(st->connection);
		return 0;
	}
	if (!st->text) {
		st->text = make_event(st, &st->length);
		st->done = 0;
	}
	if (!st->text)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	n = st->length - st->done < max ? st->length - st->done : max;
	memcpy(buf, st->text + st->done, n);
	st->done += n;
	st->wrote = ctl_now();
	if (st->done == st->length) {
		free(st->text);
		st->text = NULL;
	}
	return (ssize_t)n;
}

static void end_stream(void *cls)
{
	struct stream *st = cls, **p = &st->server->streams;

	while (*p != st)
		p = &(*p)->next;
	*p = st->next;
	st->server->n_streams--;
	free(st->text);
	free(st);
}

enum MHD_Result events_begin(struct server *s, struct MHD_Connection *c)
{
	struct stream *st = calloc(1, sizeof(*st));
	struct MHD_Response *r;
	enum MHD_Result result;

	if (!st)
		return MHD_NO;
	*st = (struct stream){.server = s, .next = s->streams, .connection = c};
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 16384, read_events, st, end_stream);
	if (!r) {
		free(st);
		return MHD_NO;
	}
	s->streams = st;
	s->n_streams++;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	result = MHD_queue_response(c, MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return result;
}

/* libmicrohttpd does not look at a connection that waits. */
static bool has_closed(const struct stream *st)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(st->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	char byte;
	ssize_t n = info ? recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 1;

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

void events_wake(struct server *s)
{
	for (struct stream *st = s->streams; st; st = st->next) {
		if (!st->waits)
			continue;
		st->closed = s->ends || has_closed(st);
		if (!st->closed && !has_news(st))
			continue;
		st->waits = false;
		MHD_resume_connection(st->connection);
	}
}
