/* SPDX-License-Identifier: BSD-2-Clause */
/* Judges requests to the server of the page (request_filter.h). */
#include "request_filter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define HOST_MAX 128

int request_filter_begin(struct request_filter *g)
{
	uint8_t bytes[REQUEST_FILTER_TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return errno ? -errno : -EIO;
	for (unsigned i = 0; i < sizeof(bytes); i++)
		snprintf(g->token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* Takes as long for each text of this length. */
static bool same(const char *a, const char *b, size_t n)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(a[i] ^ b[i]);
	return differs == 0;
}

static bool has_token(const struct request_filter *g, const char *authorization)
{
	static const char scheme[] = "Bearer ";
	const size_t n = sizeof(scheme) - 1;

	return authorization && strncmp(authorization, scheme, n) == 0 &&
	       strlen(authorization + n) == strlen(g->token) &&
	       same(authorization + n, g->token, strlen(g->token));
}

/* "127.0.0.1", "[::1]": no name that somebody else may give to this machine. */
static bool is_numeric(const char *name)
{
	unsigned char address[sizeof(struct in6_addr)];
	char inner[HOST_MAX];
	size_t n = strlen(name);

	if (name[0] != '[' || n < 3 || name[n - 1] != ']')
		return inet_pton(AF_INET, name, address) == 1;
	snprintf(inner, sizeof(inner), "%.*s", (int)(n - 2), name + 1);
	return inet_pton(AF_INET6, inner, address) == 1;
}

/* The host without its port: false where the port is not ours. */
static bool split_port(const struct request_filter *g, const char *host, char name[HOST_MAX])
{
	const char *colon = strrchr(host, ':');
	char *end;
	unsigned long port;

	if (strlen(host) >= HOST_MAX)
		return false;
	strcpy(name, host);
	if (!colon || strchr(colon, ']'))
		return g->port == 0 || g->port == 80;
	name[colon - host] = '\0';
	port = strtoul(colon + 1, &end, 10);
	return colon[1] >= '0' && colon[1] <= '9' && !*end && (g->port == 0 || port == g->port);
}

static bool is_ours(const struct request_filter *g, const char *host)
{
	char name[HOST_MAX];

	if (!split_port(g, host, name))
		return false;
	if (strcmp(name, "127.0.0.1") == 0 || strcmp(name, "localhost") == 0)
		return true;
	return g->beyond && is_numeric(name);
}

/* A page of this server has its host as origin. */
static bool is_same_origin(const struct request_headers *r)
{
	static const char scheme[] = "http://";

	if (r->fetch_site && strcmp(r->fetch_site, "same-origin") != 0 &&
	    strcmp(r->fetch_site, "none") != 0)
		return false;
	if (!r->origin)
		return true;
	return strncmp(r->origin, scheme, sizeof(scheme) - 1) == 0 &&
	       strcmp(r->origin + sizeof(scheme) - 1, r->host) == 0;
}

static bool is_json(const char *type)
{
	static const char json[] = "application/json";

	return type && strncmp(type, json, sizeof(json) - 1) == 0 &&
	       (type[sizeof(json) - 1] == '\0' || type[sizeof(json) - 1] == ';');
}

unsigned request_filter_judge(const struct request_filter *g, const struct request_headers *r,
			      const char **why)
{
	*why = "the request needs one header Host";
	if (r->hosts != 1 || !r->host || !*r->host)
		return 400;
	*why = "this server is not the host that the request names";
	if (!is_ours(g, r->host))
		return 421;
	*why = "the request comes from a page of another origin";
	if ((r->api || r->posts) && !is_same_origin(r))
		return 403;
	*why = "the request lacks the token of the printed address, as Authorization: Bearer TOKEN";
	if ((r->api || r->posts) && !has_token(g, r->authorization))
		return 401;
	*why = "the request's Content-Type must be application/json";
	if (r->posts && !is_json(r->content_type))
		return 415;
	*why = NULL;
	return 0;
}
