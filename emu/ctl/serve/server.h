/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server of the page: HTTP by libmicrohttpd in one thread, which also looks at the daemon.
 * Nothing waits for a page: what a page does not fetch stays where it is, and a stream of events
 * has one event in memory, the newest.
 */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "acts.h"
#include "lab.h"
#include "request_filter.h"
#include "source.h"

#include <microhttpd.h>
#include <stdbool.h>

#define STREAMS_MAX     16
#define CONNECTIONS_MAX 48
#define IDLE_SECONDS    30

struct stream;

struct serve_options {
	const char *dir;     /* of the instance; NULL with file */
	const char *file;    /* a capture; NULL: the daemon of dir */
	const char *socket;  /* path of a Unix socket instead of TCP; NULL */
	const char *listen;  /* numeric address instead of 127.0.0.1; NULL */
	const char *command; /* what uhca-run runs, for the scenario; NULL */
	const char *lab;     /* folder of a lab's texts; with file, which may come later. NULL */
	const char *work;    /* folder of the student; with lab */
	unsigned port;       /* 0: any */
	int life_fd;         /* ends the server when it is closed and no page looks; -1 */
	int ready_fd;        /* gets a byte when the server serves; -1 */
	bool read_only;
	bool quiet; /* the address goes to standard error */
};

struct server {
	struct serve_options options;
	struct request_filter filter;
	struct serve_source source;
	struct acts acts;
	struct serve_lab lab;
	struct MHD_Daemon *http;
	struct stream *streams;
	unsigned n_streams;
	bool ending; /* life_fd was closed */
	bool ends;   /* now: streams, too */
};

/* An answer: text from malloc, or NULL (no memory). */
struct answer {
	unsigned status;
	const char *type;
	char *text;
	size_t length;
	bool is_static; /* text is not from malloc */
};

/* A file of the build, which ends with NULL. */
struct answer answer_lines(const char *type, const char *const *line);

/* What comes to a request below /api/ that has passed the filter (api.c). body: of a POST. */
struct answer api_answer(struct server *s, struct MHD_Connection *c, const char *path,
			 const char *body);

/* {"error": text} */
struct answer api_error(unsigned status, const char *text);

/* The stream of events (events.c). */
enum MHD_Result events_begin(struct server *s, struct MHD_Connection *c);
/* Those that wait go on: there may be news, or it is time for a sign of life. */
void events_wake(struct server *s);

/* Serves until it is ended: an exit status. */
int server_run(struct server *s);

/* Gives up what a server does not need (confine.c). */
void confine(void);

#endif
