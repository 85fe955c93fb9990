/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ctl_server.h. What a request means is ctl_request.c's business.
 */
#include "ctl_server.h"

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

struct io_ctl_session {
	struct io_ctl *ctl;
	struct io_ctl_session *next;
	int fd;
	uid_t uid;
	ev_io readable;
	ev_io writable;
	size_t in_used;
	char in[UHCA_CTL_MAX_LINE];
	char *out; /* the reply that is being written; NULL: none */
	size_t out_len;
	size_t out_done;
	bool last; /* close when out has been written */
};

/* ---- the list: who was heard last stands first ---- */

static void list_remove(struct io_ctl_session *s)
{
	struct io_ctl_session **p = &s->ctl->sessions;

	while (*p != s)
		p = &(*p)->next;
	*p = s->next;
}

static void list_add(struct io_ctl_session *s)
{
	s->next = s->ctl->sessions;
	s->ctl->sessions = s;
}

static unsigned sessions_of(const struct io_ctl *ctl, uid_t uid)
{
	unsigned n = 0;

	for (const struct io_ctl_session *s = ctl->sessions; s; s = s->next)
		n += s->uid == uid;
	return n;
}

/* Of those of the user who has most of them, the one that was silent for longest. */
static struct io_ctl_session *who_gives_way(const struct io_ctl *ctl)
{
	struct io_ctl_session *found = NULL;
	unsigned most = 0;

	for (struct io_ctl_session *s = ctl->sessions; s; s = s->next) {
		unsigned n = sessions_of(ctl, s->uid);

		if (n < most)
			continue;
		most = n;
		found = s;
	}
	return found;
}

/* ---- a session ---- */

static void end_session(struct io_ctl_session *s)
{
	struct io_ctl *ctl = s->ctl;

	list_remove(s);
	ctl->n_sessions--;
	ev_io_stop(ctl->loop, &s->readable);
	ev_io_stop(ctl->loop, &s->writable);
	io_undertaker_hang_up(s->fd);
	free(s->out);
	free(s);
	io_linger_go(ctl->linger);
}

/*
 * True when the whole reply has been written and the session is ready for the next request; the
 * session may be gone when it is false.
 */
static bool write_out(struct io_ctl_session *s)
{
	struct ev_loop *loop = s->ctl->loop;

	while (s->out_done < s->out_len) {
		ssize_t n = send(s->fd, s->out + s->out_done, s->out_len - s->out_done,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			ev_io_stop(loop, &s->readable);
			ev_io_start(loop, &s->writable);
			return false;
		}
		if (n < 0) {
			end_session(s);
			return false;
		}
		s->out_done += (size_t)n;
	}
	free(s->out);
	s->out = NULL;
	if (s->last) {
		end_session(s);
		return false;
	}
	return true;
}

/* Takes over the reply. As write_out. */
static bool answer(struct io_ctl_session *s, char *reply)
{
	if (!reply) {
		end_session(s);
		return false;
	}
	s->out = reply;
	s->out_len = strlen(reply);
	s->out_done = 0;
	return write_out(s);
}

/* Serves the complete lines that have come, as long as replies go out at once. */
static void serve(struct io_ctl_session *s)
{
	char *newline;

	while (!s->out && (newline = memchr(s->in, '\n', s->in_used))) {
		size_t len = (size_t)(newline - s->in);
		char *reply = io_ctl_request(&s->ctl->house, s->in, len);

		s->in_used -= len + 1;
		memmove(s->in, newline + 1, s->in_used);
		if (!answer(s, reply))
			return;
	}
	if (!s->out && s->in_used == sizeof(s->in)) {
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
	list_remove(s);
	list_add(s);
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
		io_undertaker_close(sock);
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
	list_add(s);
	ctl->n_sessions++;
	ev_io_init(&s->readable, on_readable, sock, EV_READ);
	ev_io_init(&s->writable, on_writable, sock, EV_WRITE);
	s->readable.data = s->writable.data = s;
	ev_io_start(ctl->loop, &s->readable);
	io_linger_come(ctl->linger);
}

int io_ctl_open(struct io_ctl *ctl, const char *path)
{
	ctl->listener.accept = add_session;
	ctl->listener.arg = ctl;
	return io_listener_open(&ctl->listener, ctl->loop, path, SOCK_STREAM);
}

void io_ctl_close(struct io_ctl *ctl)
{
	while (ctl->sessions)
		end_session(ctl->sessions);
	io_listener_close(&ctl->listener);
}
