/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl's end of the conversation, against a daemon that answers well, refuses, talks nonsense,
 * hangs up, or is not there.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/connection.h"
#include "emu/ctl/line/options.h"
#include "tests/support/wire/cmocka_all.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct fixture {
	char dir[64];
	int listener;
	const char *answer; /* to one request; NULL: none */
	char request[4096]; /* that came */
	pthread_t thread;
};

static int setup(void **state)
{
	static struct fixture f;
	struct sockaddr_un un = {.sun_family = AF_UNIX};

	memset(&f, 0, sizeof(f));
	strcpy(f.dir, "/tmp/uhca-test-XXXXXX");
	assert_non_null(mkdtemp(f.dir));
	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", f.dir, UHCA_CTL_SOCKET);
	f.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(f.listener, (struct sockaddr *)&un, sizeof(un)), 0);
	assert_int_equal(listen(f.listener, 5), 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char path[128];

	close(f->listener);
	snprintf(path, sizeof(path), "%s/%s", f->dir, UHCA_CTL_SOCKET);
	unlink(path);
	return rmdir(f->dir);
}

static void *serve(void *arg)
{
	struct fixture *f = arg;
	int fd = accept(f->listener, NULL, NULL);
	ssize_t n = recv(fd, f->request, sizeof(f->request) - 1, 0);

	f->request[n > 0 ? n : 0] = '\0';
	if (f->answer)
		send(fd, f->answer, strlen(f->answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

/* One request with standard error thrown away. */
static int request(struct fixture *f, json_t **result)
{
	int saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);
	int status;

	dup2(null, STDERR_FILENO);
	status = ctl_request(f->dir, json_pack("{s:s}", "cmd", "test"), result);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	return status;
}

static int ask(struct fixture *f, const char *answer, json_t **result)
{
	int status;

	f->answer = answer;
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	status = request(f, result);
	pthread_join(f->thread, NULL);
	assert_string_equal(f->request, "{\"cmd\":\"test\"}\n");
	return status;
}

static void test_success(void **state)
{
	json_t *result;

	assert_int_equal(ask(*state, "{\"ok\":true,\"result\":{\"a\":5}}\n", &result), 0);
	assert_int_equal(json_integer_value(json_object_get(result, "a")), 5);
	json_decref(result);
}

static void test_refused(void **state)
{
	json_t *result;

	assert_int_equal(ask(*state, "{\"ok\":false,\"error\":\"no\"}\n", &result),
			 CTL_EXIT_FAILED);
	assert_null(result);
}

static void test_nonsense(void **state)
{
	static const char *const answer[] = {"{}\n", "[1]\n", "hello\n", "{\"ok\":tr", "", NULL};
	json_t *result;

	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(ask(*state, answer[i], &result), CTL_EXIT_NO_PEER);
		assert_null(result);
	}
}

static void test_nobody(void **state)
{
	struct fixture *f = *state;
	json_t *result;

	shutdown(f->listener, SHUT_RDWR);
	close(f->listener);
	assert_int_equal(request(f, &result), CTL_EXIT_NO_PEER);
	strcat(f->dir, "/nonexistent");
	assert_int_equal(request(f, &result), CTL_EXIT_NO_PEER);
	*strrchr(f->dir, '/') = '\0';
	f->listener = -1;
}

static void test_name_too_long(void **state)
{
	char dir[200];
	json_t *result;
	int saved = dup(STDERR_FILENO);
	int null = open("/dev/null", O_WRONLY);

	(void)state;
	memset(dir, 'x', sizeof(dir) - 1);
	dir[sizeof(dir) - 1] = '\0';
	dup2(null, STDERR_FILENO);
	assert_int_equal(ctl_request(dir, json_object(), &result), CTL_EXIT_NO_PEER);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_success), TEST(test_refused),       TEST(test_nonsense),
		TEST(test_nobody),  TEST(test_name_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
