/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP of the page's server (server.h): judges each request, adds headers to each answer. */
#include "http.h"

#include "emu/model/page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define API       "/api/"
#define API_BYTES (sizeof(API) - 1)

/* The page may load what this server has, and nothing else; no other page may frame it. */
static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	"require-trusted-types-for 'script'; trusted-types 'none'";

/* A request while its body comes. */
struct exchange {
	bool started;
	size_t used;
	char body[REQUEST_BODY_MAX + 1];
};

/* ---- answers ---- */

static enum MHD_Result queue(struct MHD_Connection *c, const struct answer *a)
{
	static char empty[] = "";
	struct MHD_Response *r = MHD_create_response_from_buffer(
		a->text ? a->length : 0, a->text ? a->text : empty,
		a->text && !a->is_static ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result;

	if (!r) {
		if (!a->is_static)
			free(a->text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "Content-Security-Policy", policy);
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Cross-Origin-Opener-Policy", "same-origin");
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	result = MHD_queue_response(c, a->text ? a->status : MHD_HTTP_INTERNAL_SERVER_ERROR, r);
	MHD_destroy_response(r);
	return result;
}

/* The page's own parts: nothing in them is secret. */
static struct answer part(const char *path)
{
	if (strcmp(path, "/") == 0)
		return answer_lines("text/html; charset=utf-8", page_shell);
	if (strcmp(path, "/page.js") == 0)
		return answer_lines("text/javascript; charset=utf-8", page_js);
	if (strcmp(path, "/page.css") == 0)
		return answer_lines("text/css; charset=utf-8", page_css);
	return api_error(MHD_HTTP_NOT_FOUND, "there is no such page");
}

/* ---- judging ---- */

static enum MHD_Result count_host(void *cls, enum MHD_ValueKind kind, const char *key,
				  const char *value)
{
	(void)kind;
	(void)value;
	*(unsigned *)cls += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
	return MHD_YES;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* On a Unix socket the kernel says whose program is at the other end. */
static bool is_another_user(const struct server *s, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (!s->options.socket)
		return false;
	return !info || getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ||
	       (peer.uid != geteuid() && peer.uid != 0);
}

static bool judge(struct server *s, struct MHD_Connection *c, const char *path, bool posts,
		  struct answer *out)
{
	struct request_headers r = {.api = strncmp(path, API, API_BYTES) == 0,
				    .posts = posts,
				    .host = header(c, MHD_HTTP_HEADER_HOST),
				    .origin = header(c, "Origin"),
				    .fetch_site = header(c, "Sec-Fetch-Site"),
				    .authorization = header(c, MHD_HTTP_HEADER_AUTHORIZATION),
				    .content_type = header(c, MHD_HTTP_HEADER_CONTENT_TYPE)};
	const char *why = "the socket belongs to another user";
	unsigned status = MHD_HTTP_FORBIDDEN;

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_host, &r.hosts);
	if (!is_another_user(s, c))
		status = request_filter_judge(&s->filter, &r, &why);
	if (status)
		*out = api_error(status, why);
	return status == 0;
}

/* ---- a request ---- */

static enum MHD_Result answer_get(struct server *s, struct MHD_Connection *c, const char *path)
{
	struct answer a;

	if (strcmp(path, API "events") == 0 && s->n_streams < STREAMS_MAX)
		return events_begin(s, c);
	if (strcmp(path, API "events") == 0)
		a = api_error(MHD_HTTP_SERVICE_UNAVAILABLE, "too many pages look at once");
	else if (strncmp(path, API, API_BYTES) == 0)
		a = api_answer(s, c, path + API_BYTES, NULL);
	else
		a = part(path);
	return queue(c, &a);
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned status, const char *why)
{
	const struct answer a = api_error(status, why);

	return queue(c, &a);
}

/* Called with the headers, then for each part of the body, then at its end. */
static enum MHD_Result serve(void *cls, struct MHD_Connection *c, const char *path,
			     const char *method, const char *version, const char *data,
			     size_t *size, void **state)
{
	bool posts = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	struct exchange *x = *state;
	struct server *s = cls;
	struct answer a;

	(void)version;
	if (!x) {
		*state = x = calloc(1, sizeof(*x));
		return x ? MHD_YES : MHD_NO;
	}
	if (*size) {
		size_t room = REQUEST_BODY_MAX + 1 - x->used, n = *size < room ? *size : room;

		memcpy(x->body + x->used, data, n);
		x->used += n;
		*size = 0; /* what is too much is read and forgotten */
		return MHD_YES;
	}
	if (!posts && strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or POST is needed");
	if (!judge(s, c, path, posts, &a))
		return queue(c, &a);
	if (!posts)
		return answer_get(s, c, path);
	if (x->used > REQUEST_BODY_MAX)
		return refuse(c, 413, "a request has at most 65536 bytes");
	x->body[x->used] = '\0';
	if (strncmp(path, API, API_BYTES) != 0)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET is needed");
	a = api_answer(s, c, path + API_BYTES, x->body);
	return queue(c, &a);
}

static void finish(void *cls, struct MHD_Connection *c, void **state,
		   enum MHD_RequestTerminationCode code)
{
	(void)cls;
	(void)c;
	(void)code;
	free(*state);
	*state = NULL;
}

struct MHD_Daemon *http_begin(struct server *s, int listening)
{
	return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, serve, s,
				MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT,
				(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned)IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)32768, MHD_OPTION_NOTIFY_COMPLETED, finish, NULL,
				MHD_OPTION_END);
}
