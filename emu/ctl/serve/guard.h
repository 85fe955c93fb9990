/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access control of the page's server. The server listens on this machine only, but programs of
 * all users, and all pages in the user's browser, reach that address. So a request must have the
 * token, which only the printed address holds. It must name this server as its host, against DNS
 * rebinding. A request that changes something must come from a page of this server. There are no
 * cookies, so a browser adds no credential by itself.
 */
#ifndef SERVE_GUARD_H
#define SERVE_GUARD_H

#include <stdbool.h>

#define GUARD_TOKEN_BYTES 32
#define GUARD_TOKEN_TEXT  (2 * GUARD_TOKEN_BYTES + 1)
#define GUARD_BODY_MAX    65536u /* bytes that a request may carry */

struct guard {
	char token[GUARD_TOKEN_TEXT]; /* hexadecimal */
	unsigned port;                /* 0: a Unix socket; whoever forwards it has any port */
	bool beyond;                  /* --listen: any numeric address of this port is right */
};

/* What of a request is looked at; a header that is not there is NULL. */
struct guard_request {
	bool api;       /* below /api/ */
	bool posts;     /* POST; else GET */
	unsigned hosts; /* how many headers Host there are */
	const char *host;
	const char *origin;
	const char *fetch_site; /* Sec-Fetch-Site */
	const char *authorization;
	const char *content_type;
};

/* A new token. 0 or -errno. */
int guard_begin(struct guard *g);

/* 0: it may go on; else the HTTP status that refuses it, with the reason in *why. */
unsigned guard_judge(const struct guard *g, const struct guard_request *r, const char **why);

#endif
