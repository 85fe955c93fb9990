/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that rules change, on a file system that does not answer: the daemon goes on at once, and
 * all changes are made in their order when the file system is back.
 */
#include "emu/io/fault/fault_fleet.h"
#include "emu/io/local/local.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char dir[64];
static struct io_device dev;
static struct io_faults f;

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	memset(&dev, 0, sizeof(dev));
	dev.id.guid = 0x0275ca007f000001;
	strcpy(dev.id.name, "uhca0");
	strcpy(dev.id.netdev, "lo");
	io_address_parse("127.0.0.1", &dev.id.addresses.a[0]);
	dev.id.addresses.count = 1;
	core_config_default(&dev.config);
	memcpy(dev.config.gid[0], dev.id.addresses.a[0].gid, 16);
	dev.id.config = &dev.config;
	assert_int_equal(io_sysfs_create(dir, 1), 0);
	assert_int_equal(io_sysfs_add(dir, &dev.id), 0);
	f = (struct io_faults){.env = {.dir = dir}, .ports = io_prompt_open()};
	assert_non_null(f.ports);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_prompt_close(f.ports);
	free(f.late);
	io_test_remove_dir(dir);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca0/%s", dir, name);
	return path;
}

static void expect_line(const char *name, const char *line)
{
	char got[64] = "";
	int fd = open(path_of(name), O_RDONLY);

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof(got) - 1) > 0);
	close(fd);
	got[strcspn(got, "\n")] = '\0';
	assert_string_equal(got, line);
}

static int change_line(const char *name, const char *line)
{
	struct io_fault_file file = {.kind = IO_FAULT_FILE_LINE};

	snprintf(file.name, sizeof(file.name), "%s", name);
	snprintf(file.line, sizeof(file.line), "%s", line);
	return io_fault_files(&f, &dev, &file);
}

static void wait_until_made(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < 30000 && f.n_late; i++) {
		io_fault_files_again(&f);
		nanosleep(&ms, NULL);
	}
	assert_int_equal(f.n_late, 0);
}

/* Opening the new file does not return before somebody reads what stands in its place. */
static int block(void)
{
	assert_int_equal(mkfifo(path_of("ports/1/.new"), 0600), 0);
	return change_line("rate", "200 Gb/sec (4X HDR)");
}

static void unblock(void)
{
	int fd = open(path_of("ports/1/.new"), O_RDONLY | O_NONBLOCK);

	assert_true(fd >= 0);
	wait_until_made();
	close(fd);
}

/* On a busy machine the thread may have no processor for so long that the change comes later. */
static void test_answers(void **state)
{
	int result;

	(void)state;
	result = change_line("rate", "200 Gb/sec (4X HDR)");
	if (result == -ETIMEDOUT)
		wait_until_made();
	else
		assert_int_equal(result, 0);
	expect_line("ports/1/rate", "200 Gb/sec (4X HDR)");
	assert_int_equal(f.n_late, 0);
}

static void test_late_lines(void **state)
{
	(void)state;
	assert_int_equal(block(), -ETIMEDOUT);
	assert_int_equal(change_line("pkeys/0", "0x8001"), -ETIMEDOUT);
	assert_int_equal(change_line("rate", "40 Gb/sec (4X QDR)"), -ETIMEDOUT);
	assert_int_equal(change_line("rate", "400 Gb/sec (4X NDR)"), -ETIMEDOUT);
	assert_int_equal(f.n_late, 3); /* of the last two one is enough */
	io_fault_files_again(&f);
	assert_int_equal(f.n_late, 3);
	unblock();
	expect_line("ports/1/rate", "400 Gb/sec (4X NDR)");
	expect_line("ports/1/pkeys/0", "0x8001");
}

static void test_late_unplug(void **state)
{
	struct io_fault_file away = {.kind = IO_FAULT_FILE_AWAY};
	struct io_fault_file back = {.kind = IO_FAULT_FILE_BACK, .index = 207};
	struct stat st;

	(void)state;
	assert_int_equal(block(), -ETIMEDOUT);
	assert_int_equal(io_fault_files(&f, &dev, &away), -ETIMEDOUT);
	assert_int_equal(io_fault_files(&f, &dev, &back), -ETIMEDOUT);
	assert_int_equal(stat(path_of("node_type"), &st), 0);
	unblock();
	assert_int_equal(stat(path_of("device/infiniband_verbs/uverbs207/dev"), &st), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_answers),
		TEST(test_late_lines),
		TEST(test_late_unplug),
	};

	return cmocka_run_group_tests_name("fault_files", tests, NULL, NULL);
}
