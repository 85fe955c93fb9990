/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See connection.h; unix(7).
 */
#include "connection.h"

#include "ctl.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE 10 /* seconds: a daemon that is stopped must not hang us */

static int say(int status, const char *dir, const char *what)
{
	fprintf(stderr, "uhcactl: %s: %s\n", dir, what);
	return status;
}

static int say_errno(const char *dir)
{
	switch (errno) {
	case ENOENT:
	case ECONNREFUSED:
		return say(CTL_EXIT_NO_PEER, dir, "no daemon runs there");
	case EAGAIN:
		return say(CTL_EXIT_NO_PEER, dir, "the daemon does not answer");
	default:
		return say(CTL_EXIT_NO_PEER, dir, strerror(errno));
	}
}

/* A connected stream, or NULL with errno. */
static FILE *open_daemon(const char *dir)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = PATIENCE};
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
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0)
		stream = fdopen(fd, "r+");
	if (!stream) {
		int error = errno;

		close(fd);
		errno = error;
	}
	return stream;
}

static int send_line(FILE *daemon, json_t *request)
{
	return json_dumpf(request, daemon, JSON_COMPACT) < 0 || fputc('\n', daemon) == EOF ||
			       fflush(daemon) == EOF
		       ? -1
		       : 0;
}

/* What the reply says; takes it over. */
static int judge(const char *dir, json_t *reply, json_t **result)
{
	const char *error = json_string_value(json_object_get(reply, UHCA_CTL_ERROR));
	int status = 0;

	*result = json_incref(json_object_get(reply, UHCA_CTL_RESULT));
	if (error) {
		fprintf(stderr, "uhcactl: %s\n", error);
		status = CTL_EXIT_FAILED;
	} else if (!*result) {
		status = say(CTL_EXIT_NO_PEER, dir, "the daemon's reply makes no sense");
	}
	json_decref(reply);
	return status;
}

int ctl_request(const char *dir, json_t *request, json_t **result)
{
	FILE *daemon = open_daemon(dir);
	json_error_t error;
	json_t *reply;
	int status;

	*result = NULL;
	if (!daemon || send_line(daemon, request) < 0) {
		status = say_errno(dir);
		goto out;
	}
	errno = 0;
	reply = json_loadf(daemon, JSON_DISABLE_EOF_CHECK, &error);
	if (reply)
		status = judge(dir, reply, result);
	else if (errno != 0)
		status = say_errno(dir);
	else
		status = say(CTL_EXIT_NO_PEER, dir, "the daemon closed the connection");
out:
	json_decref(request);
	if (daemon)
		fclose(daemon);
	return status;
}
