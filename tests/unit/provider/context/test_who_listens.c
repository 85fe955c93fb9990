/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may have a program's memory; and that another who listens hears nothing, and gets nothing. */
#include "provider/context/open.h"
#include "provider/context/who_listens.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define STRANGER 4711

static void test_users(void **state)
{
	static const struct {
		uid_t listener, me, owner;
		mode_t mode;
		bool may;
	} rows[] = {
		{1000, 1000, 1000, 0700, true},    {1000, 1000, 0, 0755, true},
		{0, 1000, 1000, 0700, true},       {0, 0, 0, 0700, true},
		{1001, 1000, 1001, 0700, false},   {1001, 1000, 1000, 0700, false},
		{1000, 0, 1000, 0700, true}, /* root's program, the daemon of another */
		{1001, 0, 1000, 0700, false},      {1000, 0, 0, 0700, false},
		{1000, 0, 1000, 0770, false},      {1000, 0, 1000, 0701, false},
		{65534, 0, 65534, 0700, false}, /* it may be anybody */
		{65534, 65534, 65534, 0700, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stat st = {.st_uid = rows[i].owner, .st_mode = S_IFDIR | rows[i].mode};

		if (uhcav_may_have_memory(rows[i].listener, rows[i].me, &st) != rows[i].may)
			fail_msg("row %zu", i);
	}
}

/* A socket in dir at which the user listens; only root can be somebody else. */
static int listen_as(uid_t uid, const char *dir, struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(un->sun_path, sizeof(un->sun_path), "%s/sock", dir);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)un, sizeof(*un)), 0);
	assert_int_equal(seteuid(uid), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(seteuid(getuid()), 0);
	return fd;
}

static int look(const struct sockaddr_un *un, const char *dir)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int error;

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)un, sizeof(*un)), 0);
	error = uhcav_check_listener(fd, dir);
	close(fd);
	return error;
}

/* The program is refused its device, and who listens has a connection that ended, and no more. */
static void assert_nothing_reported(int listening, const char *dir)
{
	struct ibv_context ibctx = {.cmd_fd = -1};
	struct uhcav_context *ctx = NULL;
	char text[64];
	int fd;

	assert_int_equal(setenv("UHCA_DIR", dir, 1), 0);
	assert_int_equal(uhcav_context_create(&ibctx, "uhca0", &ctx), -EPERM);
	fd = accept(listening, NULL, NULL);
	assert_int_equal(recv(fd, text, sizeof(text), 0), 0);
	close(fd);
}

static void test_sockets(void **state)
{
	char dir[] = "/tmp/uhca-listens-XXXXXX";
	struct sockaddr_un un;
	uid_t other = geteuid() == 0 ? STRANGER : geteuid();
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	fd = listen_as(geteuid(), dir, &un);
	assert_int_equal(look(&un, dir), 0);
	close(fd);
	unlink(un.sun_path);
	fd = listen_as(other, dir, &un);
	if (geteuid() == 0) { /* nobody else can become another */
		assert_int_equal(look(&un, dir), -EPERM);
		close(accept(fd, NULL, NULL));
		assert_nothing_reported(fd, dir);
		assert_int_equal(chown(dir, STRANGER, (gid_t)-1), 0);
	}
	assert_int_equal(look(&un, dir), 0);
	close(fd);
	unlink(un.sun_path);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
