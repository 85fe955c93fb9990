/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sessions of uhcactl: requests and replies in order, however they are cut; lines that are too
 * long, garbage, readers that do not read; and who gives way when there are too many.
 */
#include "emu/abi/ctl.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	int sock;
	char *text; /* received so far */
	size_t len;
	bool closed;
	unsigned lines; /* wanted */
};

static int open_session(struct fixture *f)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", f->t.dir, UHCA_CTL_SOCKET);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	return fd;
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	io_test_daemon_begin(&f.t, 1);
	f.sock = open_session(&f);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	close(f->sock);
	free(f->text);
	io_test_loop_pass(f->t.d.loop);
	io_test_daemon_end(&f->t);
	return 0;
}

static void say(struct fixture *f, const char *text)
{
	assert_int_equal(send(f->sock, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Takes what has come; true when all lines that are wanted are here, or the end. */
static bool has_lines(void *arg)
{
	struct fixture *f = arg;
	char buf[4096];
	ssize_t n;
	unsigned lines = 0;

	while ((n = recv(f->sock, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		f->text = realloc(f->text, f->len + (size_t)n + 1);
		memcpy(f->text + f->len, buf, (size_t)n);
		f->len += (size_t)n;
		f->text[f->len] = '\0';
	}
	f->closed |= n == 0 || (n < 0 && errno != EAGAIN);
	for (size_t i = 0; i < f->len; i++)
		lines += f->text[i] == '\n';
	return f->closed || (f->lines > 0 && lines >= f->lines);
}

/* Waits for so many lines; returns the text. */
static const char *listen_for(struct fixture *f, unsigned lines)
{
	free(f->text);
	f->text = NULL;
	f->len = 0;
	f->lines = lines;
	assert_true(io_test_run(f->t.d.loop, has_lines, f));
	return f->text ? f->text : "";
}

static const char *ask(struct fixture *f, const char *text)
{
	say(f, text);
	return listen_for(f, 1);
}

static void test_one(void **state)
{
	struct fixture *f = *state;

	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	assert_non_null(strstr(f->text, UHCA_VERSION));
	assert_int_equal(f->t.d.ctl.n_sessions, 1);
}

/* Long tables come in parts, whole, and in the order of the requests. */
static void test_tables(void **state)
{
	struct fixture *f = *state;
	struct io_test_client c;
	const char *at;

	io_test_hello(&c, &f->t.d, "uhca0");
	for (unsigned i = 0; i < 2000; i++)
		assert_int_equal(io_test_handle(&c, UHCA_CMD_ALLOC_PD, 0, NULL), 0);
	say(f, "{\"cmd\":\"show\",\"what\":\"pd\"}\n{\"cmd\":\"version\"}\n"
	       "{\"cmd\":\"show\",\"what\":\"mr\"}\n");
	at = listen_for(f, 3);
	for (unsigned i = 0; i < 2000; i++)
		assert_non_null(at = strstr(at + 1, "[\"uhca0\","));
	assert_non_null(at = strstr(at, UHCA_VERSION));
	assert_non_null(strstr(at, "\"rows\":[]"));
	io_test_disconnect(&c);
}

static bool has_no_session(void *arg)
{
	return ((struct fixture *)arg)->t.d.ctl.n_sessions == 0;
}

/* Who asked goes before the table is whole. */
static void test_table_for_nobody(void **state)
{
	struct fixture *f = *state;
	struct io_test_client c;

	io_test_hello(&c, &f->t.d, "uhca0");
	for (unsigned i = 0; i < 2000; i++)
		assert_int_equal(io_test_handle(&c, UHCA_CMD_ALLOC_PD, 0, NULL), 0);
	say(f, "{\"cmd\":\"show\",\"what\":\"pd\"}\n");
	io_test_loop_pass(f->t.d.loop);
	close(f->sock);
	assert_true(io_test_run(f->t.d.loop, has_no_session, f));
	f->sock = open_session(f);
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	io_test_disconnect(&c);
}

static void test_many_at_once(void **state)
{
	struct fixture *f = *state;
	const char *at;

	say(f, "{\"cmd\":\"version\"}\n{\"cmd\":\"nothing\"}\n{\"cmd\":\"version\"}\n");
	at = listen_for(f, 3);
	assert_non_null(at = strstr(at, "\"ok\":true"));
	assert_non_null(at = strstr(at + 1, "\"ok\":false"));
	assert_non_null(strstr(at + 1, "\"ok\":true"));
}

static void test_piece_by_piece(void **state)
{
	struct fixture *f = *state;
	const char *request = "{\"cmd\":\"version\"}\n";

	for (const char *p = request; *p; p++) {
		assert_int_equal(send(f->sock, p, 1, 0), 1);
		io_test_loop_pass(f->t.d.loop);
	}
	assert_non_null(strstr(listen_for(f, 1), "\"ok\":true"));
}

static void test_garbage(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(ask(f, "\n"), "{\"ok\":false,\"error\":\"not a line of JSON\"}\n");
	assert_non_null(strstr(ask(f, "\x01\xff\xfe{{{\n"), "\"ok\":false"));
	assert_non_null(strstr(ask(f, "{\"cmd\":1}\n"), "\"ok\":false"));
	assert_non_null(strstr(ask(f, "[1,2]\n"), "\"ok\":false"));
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
}

static void test_line_too_long(void **state)
{
	struct fixture *f = *state;
	static char line[UHCA_CTL_MAX_LINE + 1];

	memset(line, 'x', sizeof(line) - 1);
	assert_non_null(strstr(ask(f, line), "too long"));
	listen_for(f, 0);
	assert_true(f->closed);
	assert_int_equal(f->t.d.ctl.n_sessions, 0);
}

/* Replies that nobody reads wait in the socket, then one in the daemon, and requests in turn. */
static void test_reader_does_not_read(void **state)
{
	struct fixture *f = *state;
	static const char request[] = "{\"cmd\":\"counters\"}\n";
	unsigned sent = 0;

	while (send(f->sock, request, sizeof(request) - 1, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       sizeof(request) - 1) {
		sent++;
		io_test_loop_pass(f->t.d.loop);
		assert_in_range(sent, 1, 1000000);
	}
	listen_for(f, sent);
	assert_false(f->closed);
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":"));
}

static void test_gone_while_writing(void **state)
{
	struct fixture *f = *state;
	static const char request[] = "{\"cmd\":\"counters\"}\n";

	for (unsigned i = 0; i < 3000; i++) {
		send(f->sock, request, sizeof(request) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		io_test_loop_pass(f->t.d.loop);
	}
	close(f->sock);
	for (unsigned i = 0; i < 100 && f->t.d.ctl.n_sessions > 0; i++)
		io_test_loop_pass(f->t.d.loop);
	assert_int_equal(f->t.d.ctl.n_sessions, 0);
	f->sock = open_session(f);
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
}

static bool is_readable(void *arg)
{
	return poll(arg, 1, 0) == 1;
}

static bool nobody_knocks(void *arg)
{
	return !is_readable(arg);
}

static void open_sessions(struct fixture *f, unsigned n, int fd[])
{
	struct pollfd p = {.fd = f->t.d.ctl.listener.fd, .events = POLLIN};

	assert_true(io_test_run(f->t.d.loop, nobody_knocks, &p));
	for (unsigned i = 0; i < n; i++) {
		fd[i] = open_session(f);
		assert_true(io_test_run(f->t.d.loop, nobody_knocks, &p));
	}
}

static void close_sessions(unsigned n, const int fd[])
{
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
}

/* This one was ended: there is nothing to read but that. */
static void assert_gave_way(struct fixture *f, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char byte;

	assert_true(io_test_run(f->t.d.loop, is_readable, &p));
	assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT), 0);
}

static void test_idle_sessions_yield_backoff(void **state)
{
	struct fixture *f = *state;
	struct fixture late = *f;
	int fd[63];

	open_sessions(f, 63, fd);
	assert_int_equal(f->t.d.ctl.n_sessions, 64);
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	late.text = NULL;
	late.sock = open_session(f);
	assert_non_null(strstr(ask(&late, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	assert_gave_way(f, fd[0]); /* f is older, but was heard after it */
	assert_int_equal(f->t.d.ctl.n_sessions, 64);
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	free(late.text);
	close(late.sock);
	close_sessions(63, fd);
}

/* Nor do those that have much to read, and do not. */
static void test_deaf_sessions_yield_backoff(void **state)
{
	struct fixture *f = *state;
	static const char request[] = "{\"cmd\":\"counters\"}\n";
	struct fixture late = *f;
	int fd[63];

	open_sessions(f, 63, fd);
	for (unsigned i = 0; i < 63 * 2000; i++) {
		send(fd[i % 63], request, sizeof(request) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (i % 63 == 62)
			io_test_loop_pass(f->t.d.loop);
	}
	late.text = NULL;
	late.sock = open_session(f);
	assert_non_null(strstr(ask(&late, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	free(late.text);
	close(late.sock);
	close_sessions(63, fd);
}

/* Root's sessions are few, and older: those of the other user, who has more, give way. */
static void test_who_has_most(void **state)
{
	struct fixture *f = *state;
	char path[128];
	int fd[64];

	if (geteuid() != 0)
		return; /* nobody else can be two users */
	snprintf(path, sizeof(path), "%s/%s", f->t.dir, UHCA_CTL_SOCKET);
	assert_int_equal(chmod(f->t.dir, 0755), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(seteuid(4711), 0);
	open_sessions(f, 64, fd);
	assert_int_equal(seteuid(0), 0);
	assert_gave_way(f, fd[0]);
	assert_int_equal(f->t.d.ctl.n_sessions, 64);
	assert_non_null(strstr(ask(f, "{\"cmd\":\"version\"}\n"), "\"ok\":true"));
	close_sessions(64, fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one),
		TEST(test_tables),
		TEST(test_table_for_nobody),
		TEST(test_many_at_once),
		TEST(test_piece_by_piece),
		TEST(test_garbage),
		TEST(test_line_too_long),
		TEST(test_reader_does_not_read),
		TEST(test_gone_while_writing),
		TEST(test_idle_sessions_yield_backoff),
		TEST(test_deaf_sessions_yield_backoff),
		TEST(test_who_has_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
