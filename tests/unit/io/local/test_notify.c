/* SPDX-License-Identifier: BSD-2-Clause */
/* A service manager's socket, with and without a file, and names that are none. */
#include "emu/io/local/notify.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A socket of this name (of no file where it begins with @), which NOTIFY_SOCKET then names. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	strcpy(address.sun_path, name);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
	return fd;
}

static void assert_notified(int fd)
{
	char text[64] = "";

	assert_int_equal(io_notify("READY=1"), 0);
	assert_int_equal(recv(fd, text, sizeof(text), 0), 7);
	assert_string_equal(text, "READY=1");
	close(fd);
	assert_int_equal(io_notify("READY=1"), -ECONNREFUSED);
}

static void test_file(void **state)
{
	char folder[] = "/tmp/test_notify.XXXXXX", name[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/notify", folder);
	assert_notified(listen_at(name));
	assert_int_equal(unlink(name), 0);
	assert_int_equal(io_notify("READY=1"), -ENOENT);
	assert_int_equal(rmdir(folder), 0);
}

static void test_no_file(void **state)
{
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "@test_notify.%d", (int)getpid());
	assert_notified(listen_at(name));
}

static void test_nobody_asked(void **state)
{
	char longer[128];

	(void)state;
	assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
	assert_int_equal(io_notify("READY=1"), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", "", 1), 0);
	assert_int_equal(io_notify("READY=1"), 0);
	assert_int_equal(setenv("NOTIFY_SOCKET", "notify", 1), 0);
	assert_int_equal(io_notify("READY=1"), -EINVAL);
	assert_int_equal(setenv("NOTIFY_SOCKET", "/", 1), 0);
	assert_int_equal(io_notify("READY=1"), -EINVAL);
	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(setenv("NOTIFY_SOCKET", longer, 1), 0);
	assert_int_equal(io_notify("READY=1"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_nobody_asked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
