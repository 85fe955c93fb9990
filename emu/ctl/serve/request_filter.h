/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access control of the page's server. The server listens on this machine only, but programs of
 * all users, and all pages in the user's browser, reach that address. So a request must have the
 * token, which only the printed address holds. It must name this server as its host, against DNS
 * rebinding. A request that changes something must come from a page of this server. There are no
 * cookies, so a browser adds no credential by itself.
 */
#ifndef SERVE_REQUEST_FILTER_H
#define SERVE_REQUEST_FILTER_H

#include <stdbool.h>

#define REQUEST_FILTER_TOKEN_BYTES 32
#define REQUEST_FILTER_TOKEN_TEXT  (2 * REQUEST_FILTER_TOKEN_BYTES + 1)
#define REQUEST_BODY_MAX           65536u /* bytes that a request may carry */

struct request_filter {
	char token[REQUEST_FILTER_TOKEN_TEXT]; /* hexadecimal */
	unsigned port; /* 0: a Unix socket; whoever forwards it has any port */
	bool beyond;   /* --listen: any numeric address of this port is right */
};

/* What of a request is looked at; a header that is not there is NULL. */
struct request_headers {
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
int request_filter_begin(struct request_filter *g);

/* 0: it may go on; else the HTTP status that refuses it, with the reason in *why. */
unsigned request_filter_judge(const struct request_filter *g, const struct request_headers *r,
			      const char **why);

#endif
