/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl serve: checks what was said and becomes the server of the page, a program of its own. */
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/run/run_env.h"
#include "live.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 8

struct words {
	char *word[WORDS_MAX + 1];
	int n;
};

/* NAME=VALUE; nothing where there is no value. */
static void add(struct words *w, const char *name, const char *value)
{
	if (value && asprintf(&w->word[w->n], "%s=%s", name, value) >= 0)
		w->n++;
}

static bool is_address(const char *text)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

/* NULL: nothing. */
static const char *mistake_of(const struct ctl_options *o)
{
	uint64_t port;

	if (o->n_words > 2)
		return "serve, or serve FILE";
	if (o->port && !ctl_number(o->port, 10, 65535, &port))
		return "--port needs a number from 0 to 65535";
	if (o->listen && !is_address(o->listen))
		return "--listen needs a numeric address, such as 0.0.0.0";
	if (o->socket && (o->port || o->listen))
		return "--socket excludes --port and --listen";
	return NULL;
}

int ctl_serve(const struct ctl_options *o)
{
	const char *mistake = mistake_of(o);
	struct words w = {.n = 0};

	if (mistake)
		return ctl_usage_error(mistake);
	if (ctl_look_beside() < 0) {
		fprintf(stderr, "uhcactl: cannot find its own path in /proc\n");
		return CTL_EXIT_FAILED;
	}
	w.word[w.n++] = strdup(run_env_server());
	add(&w, o->n_words == 2 ? "file" : "dir", o->n_words == 2 ? o->word[1] : o->dir);
	add(&w, "port", o->port);
	add(&w, "socket", o->socket);
	add(&w, "listen", o->listen);
	if (o->read_only)
		w.word[w.n++] = strdup("read-only");
	execv(run_env_server(), w.word);
	if (errno == ENOENT)
		fprintf(stderr, "uhcactl: this installation has no server of the page: %s\n",
			run_env_server());
	else
		fprintf(stderr, "uhcactl: %s: %s\n", run_env_server(), strerror(errno));
	return CTL_EXIT_FAILED;
}
