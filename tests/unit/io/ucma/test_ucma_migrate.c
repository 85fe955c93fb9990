/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MIGRATE_ID, which takes an id out of another open of rdma_cm: only who has that open's descriptor
 * may. A file of FUSE that shows its inode number, and all other descriptors, are none.
 */
#include "emu/io/base/log.h"
#include "tests/support/io/deaf_fs.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct io_test_daemon t;
static struct ucma_client victim, thief;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 1);
	ucma_client_open(&victim, &t.d);
	ucma_client_open(&thief, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&victim);
	ucma_client_close(&thief);
	io_test_daemon_end(&t);
	return 0;
}

static int migrate(struct ucma_client *to, uint32_t id, int fd)
{
	struct rdma_ucm_migrate_id move = {.id = id};

	return ucma_client_call(to, RDMA_USER_CM_CMD_MIGRATE_ID, &move, sizeof(move), fd);
}

static void expect_still_there(uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.id = id};

	assert_int_equal(ucma_client_call(&thief, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), -1),
			 -ENOENT);
	assert_int_equal(
		ucma_client_call(&victim, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), -1), 0);
}

/* Descriptors of every kind, none of which is the victim's. */
static void test_other_descriptors(void **state)
{
	uint32_t id = ucma_client_create(&victim, RDMA_PS_TCP, 1);
	int fd[] = {open("/dev/null", O_RDWR | O_CLOEXEC),
		    open("/proc/self/mem", O_RDWR),
		    open("/proc/self", O_PATH | O_CLOEXEC),
		    memfd_create("x", MFD_CLOEXEC),
		    eventfd(0, EFD_CLOEXEC),
		    -1,
		    -1};

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd + 5), 0);
	for (size_t i = 0; i < sizeof(fd) / sizeof(fd[0]); i++) {
		assert_true(fd[i] >= 0);
		assert_int_equal(migrate(&thief, id, fd[i]), -ENOENT);
		close(fd[i]);
	}
	assert_int_equal(migrate(&thief, id, thief.sock), -ENOENT);
	assert_int_equal(migrate(&thief, id, -1), -ENOENT);
	expect_still_there(id);
}

static void test_own_descriptor(void **state)
{
	uint32_t id = ucma_client_create(&victim, RDMA_PS_TCP, 1);
	struct rdma_ucm_destroy_id in = {.id = id};
	int copy = dup(victim.sock);

	(void)state;
	assert_int_equal(migrate(&thief, id, copy), 0);
	close(copy);
	assert_int_equal(ucma_client_call(&thief, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), -1),
			 0);
}

/* Last: it leaves this process in another mount namespace. */
static void test_same_number(void **state)
{
	uint32_t id = ucma_client_create(&victim, RDMA_PS_TCP, 1);
	char dir[64], path[80];
	struct deaf_fs *fs;
	const char *why;
	struct stat st, shown;
	int fd;

	(void)state;
	assert_int_equal(fstat(victim.sock, &st), 0);
	io_test_dir(dir);
	fs = deaf_fs_mount_socket(dir, st.st_ino, &why);
	if (!fs) {
		printf("# skipped: %s\n", why);
		expect_still_there(id);
		io_test_remove_dir(dir);
		skip();
	}
	snprintf(path, sizeof(path), "%s/socket", dir);
	fd = open(path, O_PATH | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &shown), 0);
	assert_int_equal(shown.st_ino, st.st_ino);
	assert_int_equal(migrate(&thief, id, fd), -ENOENT);
	close(fd);
	deaf_fs_end(fs, dir);
	io_test_remove_dir(dir);
	expect_still_there(id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_other_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_descriptor, setup, teardown),
		cmocka_unit_test_setup_teardown(test_same_number, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
