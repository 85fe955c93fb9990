/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See connection.h; unix(7).
 */
#include "connection.h"

#include "emu/abi/ctl.h"
#include "exit_status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define REPLY_TIME 10 /* seconds: a daemon that is stopped must not hang us */

static int say(struct ctl_failure *f, int status, const char *dir, const char *what)
{
	f->status = status;
	snprintf(f->text, sizeof(f->text), "%.300s: %s", dir, what);
	return status;
}

static int say_errno(struct ctl_failure *f, const char *dir)
{
	switch (errno) {
	case ENOENT:
	case ECONNREFUSED:
		return say(f, CTL_EXIT_NO_PEER, dir, "no daemon runs there (uhca-run starts one)");
	case EAGAIN:
		return say(f, CTL_EXIT_NO_PEER, dir, "the daemon does not respond");
	default:
		return say(f, CTL_EXIT_NO_PEER, dir, strerror(errno));
	}
}

/* A connected stream, or NULL with errno. */
static FILE *open_daemon(const char *dir)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct timeval limit = {.tv_sec = REPLY_TIME};
	FILE *stream = NULL;
	int fd;

	if ((size_t)snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", dir, UHCA_CTL_SOCKET) >=
	    sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return NULL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		stream = fdopen(fd, "r+");
	if (!stream) {
		int error = errno;

		close(fd);
		errno = error;
	}
	return stream;
}

/* Nobody gets a signal when the daemon has just ended. 0, or -1 with errno. */
static int send_line(FILE *daemon, const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len = text ? strlen(text) : 0;
	size_t done = 0;

	if (!text) {
		errno = ENOMEM;
		return -1;
	}
	text[len++] = '\n'; /* in place of its end */
	while (done < len) {
		ssize_t n = send(fileno(daemon), text + done, len - done, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			break;
		if (n > 0)
			done += (size_t)n;
	}
	free(text);
	return done == len ? 0 : -1;
}

static unsigned place(const json_t *reply, const char *member)
{
	return (unsigned)json_integer_value(json_object_get(reply, member));
}

/* What the reply says; takes it over. */
static int judge(const char *dir, json_t *reply, json_t **result, struct ctl_failure *f)
{
	const char *error = json_string_value(json_object_get(reply, UHCA_CTL_ERROR));

	*result = json_incref(json_object_get(reply, UHCA_CTL_RESULT));
	if (error) {
		f->status = CTL_EXIT_FAILED;
		snprintf(f->text, sizeof(f->text), "%s", error);
		f->line = place(reply, UHCA_CTL_LINE);
		f->column = place(reply, UHCA_CTL_COLUMN);
	} else if (!*result) {
		say(f, CTL_EXIT_NO_PEER, dir, "the daemon's reply is malformed");
	}
	json_decref(reply);
	return f->status;
}

int ctl_exchange(const char *dir, json_t *request, json_t **result, struct ctl_failure *f)
{
	FILE *daemon = open_daemon(dir);
	json_error_t error;
	json_t *reply;

	*result = NULL;
	*f = (struct ctl_failure){.status = 0};
	if (!daemon || send_line(daemon, request) < 0) {
		say_errno(f, dir);
		goto out;
	}
	errno = 0;
	reply = json_loadf(daemon, JSON_DISABLE_EOF_CHECK, &error);
	if (reply)
		judge(dir, reply, result, f);
	else if (errno != 0)
		say_errno(f, dir);
	else
		say(f, CTL_EXIT_NO_PEER, dir, "the daemon closed the connection");
out:
	json_decref(request);
	if (daemon)
		fclose(daemon);
	return f->status;
}

int ctl_request(const char *dir, json_t *request, json_t **result)
{
	struct ctl_failure f;
	int status = ctl_exchange(dir, request, result, &f);

	if (status != 0)
		fprintf(stderr, "uhcactl: %s\n", f.text);
	return status;
}
