/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ctl_server.h. What a request means is ctl_request.c's business.
 */
#include "ctl_server.h"

#include "ctl_file_request.h"
#include "ctl_request.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SESSIONS_MAX 64
#define LONG         (1u << 20)  /* bytes of a reply */
#define PART         (64u << 10) /* of them that are written in one pass of the loop */

struct io_ctl_session {
	struct io_ctl *ctl;
	LIST_ENTRY(io_ctl_session) link;
	int fd;
	uid_t uid;
	ev_io readable;
	ev_io writable;
	size_t in_used;
	char in[UHCA_CTL_MAX_LINE];
	char *out; /* the reply that is being written; NULL: none */
	size_t out_len;
	size_t out_done;
	bool last;                             /* close when out has been written */
	struct ctl_file_request *file_request; /* whose reply it waits for; NULL: none */
};

static unsigned sessions_of(const struct io_ctl *ctl, uid_t uid)
{
	const struct io_ctl_session *s;
	unsigned n = 0;

	LIST_FOREACH(s, &ctl->sessions, link)
	n += s->uid == uid;
	return n;
}

/* Of those of the user who has most of them, the one that was silent for longest. */
static struct io_ctl_session *who_gives_way(const struct io_ctl *ctl)
{
	struct io_ctl_session *s, *found = NULL;
	unsigned most = 0;

	LIST_FOREACH(s, &ctl->sessions, link)
	{
		unsigned n = sessions_of(ctl, s->uid);

		if (n < most)
			continue;
		most = n;
		found = s;
	}
	return found;
}

/* ---- a session ---- */

/* To give back many megabytes takes long. */
static void drop_out(struct io_ctl_session *s)
{
	if (s->out && s->out_len > LONG)
		io_reaper_do(free, s->out);
	else
		free(s->out);
	s->out = NULL;
}

static void end_session(struct io_ctl_session *s)
{
	struct io_ctl *ctl = s->ctl;

	if (s->file_request)
		io_ctl_file_request_leave(s->file_request);
	LIST_REMOVE(s, link);
	ctl->n_sessions--;
	ev_io_stop(ctl->loop, &s->readable);
	ev_io_stop(ctl->loop, &s->writable);
	io_reaper_hang_up(s->fd);
	drop_out(s);
	free(s);
	io_idle_timeout_go(ctl->idle_timeout);
}

/* A part of the reply, while who reads it may go on emptying the socket. 0 or -errno. */
static int write_part(struct io_ctl_session *s)
{
	size_t left = s->out_len - s->out_done;
	ssize_t n = send(s->fd, s->out + s->out_done, left < PART ? left : PART,
			 MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	s->out_done += n > 0 ? (size_t)n : 0;
	return 0;
}

/*
 * True when the whole reply has been written and the session is ready for the next request; the
 * session may be gone when it is false.
 */
static bool write_out(struct io_ctl_session *s)
{
	struct ev_loop *loop = s->ctl->loop;

	if (write_part(s) < 0) {
		end_session(s);
		return false;
	}
	if (s->out_done < s->out_len) {
		ev_io_stop(loop, &s->readable);
		ev_io_start(loop, &s->writable);
		return false;
	}
	drop_out(s);
	if (s->last) {
		end_session(s);
		return false;
	}
	return true;
}

/* Takes over the reply. As write_out. */
static bool answer_long(struct io_ctl_session *s, char *reply, size_t length)
{
	if (!reply) {
		end_session(s);
		return false;
	}
	s->out = reply;
	s->out_len = length;
	s->out_done = 0;
	return write_out(s);
}

static bool answer(struct io_ctl_session *s, char *reply)
{
	return answer_long(s, reply, reply ? strlen(reply) : 0);
}

static void serve(struct io_ctl_session *s);

/* Of an file_request. */
static void answer_late(void *session, char *line, size_t length)
{
	struct io_ctl_session *s = session;

	s->file_request = NULL;
	if (!answer_long(s, line, length))
		return;
	ev_io_start(s->ctl->loop, &s->readable);
	serve(s);
}

static void wait_for_file_request(struct io_ctl_session *s, struct ctl_file_request *e)
{
	e->answer = answer_late;
	e->user = s;
	s->file_request = e;
	ev_io_stop(s->ctl->loop, &s->readable);
}

/* Serves the complete lines that have come, as long as replies go out at once. */
static void serve(struct io_ctl_session *s)
{
	char *newline;

	while (!s->out && !s->file_request && (newline = memchr(s->in, '\n', s->in_used))) {
		size_t len = (size_t)(newline - s->in);
		struct ctl_file_request *file_request;
		char *reply = io_ctl_begin(&s->ctl->services, s->in, len, &file_request);

		io_loop_pass_did("a request of uhcactl");
		s->in_used -= len + 1;
		memmove(s->in, newline + 1, s->in_used);
		if (file_request)
			wait_for_file_request(s, file_request);
		else if (!answer(s, reply))
			return;
	}
	if (!s->out && !s->file_request && s->in_used == sizeof(s->in)) {
		s->last = true;
		answer(s, io_ctl_error("the line is too long"));
	}
}

static void on_readable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_ctl_session *s = w->data;
	ssize_t n = recv(s->fd, s->in + s->in_used, sizeof(s->in) - s->in_used, MSG_DONTWAIT);

	(void)loop;
	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_session(s);
		return;
	}
	s->in_used += (size_t)n;
	LIST_REMOVE(s, link);
	LIST_INSERT_HEAD(&s->ctl->sessions, s, link);
	serve(s);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int revents)
{
	struct io_ctl_session *s = w->data;

	(void)revents;
	if (!write_out(s))
		return;
	ev_io_stop(loop, &s->writable);
	ev_io_start(loop, &s->readable);
	serve(s);
}

static void add_session(void *arg, int sock, const struct ucred *peer)
{
	struct io_ctl *ctl = arg;
	struct io_ctl_session *s = malloc(sizeof(*s));

	if (!s) {
		io_reaper_close(sock);
		return;
	}
	if (ctl->n_sessions == SESSIONS_MAX)
		end_session(who_gives_way(ctl));
	s->ctl = ctl;
	s->fd = sock;
	s->uid = peer->uid;
	s->in_used = 0;
	s->out = NULL;
	s->last = false;
	s->file_request = NULL;
	LIST_INSERT_HEAD(&ctl->sessions, s, link);
	ctl->n_sessions++;
	ev_io_init(&s->readable, on_readable, sock, EV_READ);
	ev_io_init(&s->writable, on_writable, sock, EV_WRITE);
	s->readable.data = s->writable.data = s;
	ev_io_start(ctl->loop, &s->readable);
	io_idle_timeout_come(ctl->idle_timeout);
}

int io_ctl_open(struct io_ctl *ctl, const char *path)
{
	io_ctl_shows_open(&ctl->shows, ctl->loop);
	ctl->services.shows = &ctl->shows;
	ctl->listener.accept = add_session;
	ctl->listener.arg = ctl;
	return io_listener_open(&ctl->listener, ctl->loop, path, SOCK_STREAM);
}

void io_ctl_close(struct io_ctl *ctl)
{
	while (!LIST_EMPTY(&ctl->sessions))
		end_session(LIST_FIRST(&ctl->sessions));
	io_ctl_shows_close(&ctl->shows);
	io_listener_close(&ctl->listener);
}
