/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_cm.h"

#include "tests/support/wire/cmocka_all.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct message {
	struct uhca_ucma_request h;
	uint8_t body[UHCA_UCMA_MAX];
};

uint64_t fake_cm_number(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len), 0);
	return cookie;
}

/* The bytes of the message; 0 at the end. */
static size_t receive(int sock, struct message *m, int fd[2], unsigned *n_fds)
{
	char control[CMSG_SPACE(2 * sizeof(int))];
	struct iovec iov = {m, sizeof(*m)};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

	*n_fds = c ? (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int)) : 0;
	if (c)
		memcpy(fd, CMSG_DATA(c), *n_fds * sizeof(int));
	return n > 0 ? (size_t)n : 0;
}

static void note(struct fake_cm *cm, unsigned from, const struct message *m, size_t n,
		 const int *fd, unsigned n_fds)
{
	if (m->h.cmd == UHCA_UCMA_TOKEN) {
		cm->tokens++;
		cm->token_of = from;
		return;
	}
	cm->hellos += m->h.cmd == UHCA_UCMA_HELLO;
	cm->h = m->h;
	cm->n_body = n - sizeof(m->h);
	memcpy(cm->body, m->body, cm->n_body);
	cm->n_fds = n_fds;
	cm->second = n_fds == 2 ? fake_cm_number(fd[1]) : 0;
	cm->from = from;
}

static void reply(struct fake_cm *cm, unsigned from, uint32_t cmd, int to)
{
	static const struct fake_cm_answer success;
	bool ready = cmd != UHCA_UCMA_TOKEN && cm->n_answered < cm->n_answers;
	const struct fake_cm_answer *a = ready ? &cm->answer[cm->n_answered++] : &success;
	struct {
		struct uhca_ucma_reply h;
		uint8_t response[sizeof(a->response)];
	} r = {.h = {.status = a->status, .length = a->length, .flags = a->flags}};

	memcpy(r.response, a->response, sizeof(r.response));
	if (a->closes)
		close(a->closes);
	if (a->no_answer)
		return;
	send(to, &r, sizeof(r.h) + a->length - (size_t)a->cut, MSG_NOSIGNAL);
	if (a->token_after)
		fake_cm_token(cm, from);
}

static void serve(struct fake_cm *cm, unsigned i)
{
	struct message m;
	unsigned n_fds;
	int fd[2] = {-1, -1};
	size_t n = receive(cm->file[i], &m, fd, &n_fds);

	if (n < sizeof(m.h)) {
		close(cm->file[i]);
		cm->file[i] = -1;
		return;
	}
	note(cm, i, &m, n, fd, n_fds);
	reply(cm, i, m.h.cmd, fd[0]);
	for (unsigned k = 0; k < n_fds; k++)
		close(fd[k]);
}

static void *run(void *arg)
{
	struct fake_cm *cm = arg;

	for (;;) {
		struct pollfd p[2 + FAKE_CM_FILES] = {{.fd = cm->stop_fd[0], .events = POLLIN},
						      {.fd = cm->listen_fd, .events = POLLIN}};
		unsigned n = cm->n_files;

		for (unsigned i = 0; i < n; i++)
			p[2 + i] = (struct pollfd){.fd = cm->file[i], .events = POLLIN};
		poll(p, 2 + n, -1);
		if (p[0].revents)
			return NULL;
		for (unsigned i = 0; i < n; i++)
			if (p[2 + i].revents)
				serve(cm, i);
		if (p[1].revents && n < FAKE_CM_FILES)
			cm->file[cm->n_files++] = accept(cm->listen_fd, NULL, NULL);
	}
}

void fake_cm_start(struct fake_cm *cm)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	*cm = (struct fake_cm){.listen_fd = -1};
	assert_non_null(getenv("UHCA_DIR"));
	assert_true(snprintf(un.sun_path, sizeof(un.sun_path), "%s/" UHCA_UCMA_SOCKET,
			     getenv("UHCA_DIR")) < (int)sizeof(un.sun_path));
	unlink(un.sun_path);
	cm->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(cm->listen_fd, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(listen(cm->listen_fd, FAKE_CM_FILES), 0);
	assert_int_equal(pipe(cm->stop_fd), 0);
	assert_int_equal(pthread_create(&cm->thread, NULL, run, cm), 0);
}

void fake_cm_stop(struct fake_cm *cm)
{
	if (cm->listen_fd < 0)
		return;
	assert_int_equal(write(cm->stop_fd[1], "", 1), 1);
	pthread_join(cm->thread, NULL);
	close(cm->stop_fd[0]);
	close(cm->stop_fd[1]);
	close(cm->listen_fd);
	cm->listen_fd = -1;
	for (unsigned i = 0; i < cm->n_files; i++)
		if (cm->file[i] >= 0)
			close(cm->file[i]);
}

struct fake_cm_answer *fake_cm_will(struct fake_cm *cm, const void *response, size_t length)
{
	struct fake_cm_answer *a;

	if (cm->n_answered == cm->n_answers)
		cm->n_answered = cm->n_answers = 0;
	a = &cm->answer[cm->n_answers++];
	assert_true(cm->n_answers <= FAKE_CM_ANSWERS && length <= sizeof(a->response));
	*a = (struct fake_cm_answer){.length = (uint32_t)length};
	if (length > 0)
		memcpy(a->response, response, length);
	return a;
}

void fake_cm_token(const struct fake_cm *cm, unsigned i)
{
	assert_int_equal(send(cm->file[i], "", 1, MSG_NOSIGNAL), 1);
}
