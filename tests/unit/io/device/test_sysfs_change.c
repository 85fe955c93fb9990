/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files that change while a device is there: a line of its port, an entry of its GID table in both
 * directions and again, and the device itself, which leaves all lists and comes back as another.
 */
#include "emu/io/device/sysfs_change.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct core_config config;
static struct io_identity id;

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	id = (struct io_identity){.guid = 0x0275ca007f000001, .config = &config};
	strcpy(id.name, "uhca0");
	strcpy(id.netdev, "lo");
	io_address_parse("127.0.0.1", &id.addresses.a[0]);
	id.addresses.count = 1;
	core_config_default(&config);
	memcpy(config.gid[0], id.addresses.a[0].gid, 16);
	assert_int_equal(io_sysfs_create(dir, 1), 0);
	assert_int_equal(io_sysfs_add(dir, &id), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_remove_dir(dir);
	return 0;
}

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/sys/class/%s", dir, name);
	return path;
}

/* The line of a file of the port; "EINVAL" when it opens and cannot be read. */
static const char *line_of(const char *name)
{
	static char line[64];
	char port[128];
	ssize_t n;
	int fd;

	snprintf(port, sizeof(port), "infiniband/uhca0/ports/1/%s", name);
	fd = open(path_of(port), O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, line, sizeof(line) - 1);
	if (n < 0)
		snprintf(line, sizeof(line), errno == EINVAL ? "EINVAL" : "another error");
	else
		line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	close(fd);
	return line;
}

static void test_line(void **state)
{
	(void)state;
	assert_int_equal(io_sysfs_line(dir, &id, "rate", "400 Gb/sec (4X NDR)"), 0);
	assert_string_equal(line_of("rate"), "400 Gb/sec (4X NDR)");
	assert_int_equal(io_sysfs_line(dir, &id, "pkeys/0", "0x8001"), 0);
	assert_string_equal(line_of("pkeys/0"), "0x8001");
}

static void test_gid(void **state)
{
	static const struct io_gid_entry none;
	struct io_gid_entry e = {.type = "RoCE v2", .ndev = "lo"};

	(void)state;
	assert_string_equal(line_of("gid_attrs/types/0"), "RoCE v2");
	assert_string_equal(line_of("gid_attrs/ndevs/0"), "lo");
	memcpy(e.gid, id.addresses.a[0].gid, sizeof(e.gid));
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(io_sysfs_gid_write(dir, &id, 0, &none), 0);
		assert_string_equal(line_of("gids/0"), "0000:0000:0000:0000:0000:0000:0000:0000");
		assert_string_equal(line_of("gid_attrs/types/0"), "EINVAL");
		assert_string_equal(line_of("gid_attrs/ndevs/0"), "EINVAL");
		assert_int_equal(io_sysfs_gid_write(dir, &id, 5, &e), 0);
		assert_string_equal(line_of("gids/5"), "0000:0000:0000:0000:0000:ffff:7f00:0001");
		assert_string_equal(line_of("gid_attrs/types/5"), "RoCE v2");
		assert_int_equal(io_sysfs_gid_write(dir, &id, 5, &none), 0);
		assert_string_equal(line_of("gid_attrs/types/5"), "EINVAL");
		assert_int_equal(io_sysfs_gid_write(dir, &id, 0, &e), 0);
		assert_string_equal(line_of("gid_attrs/types/0"), "RoCE v2");
		assert_string_equal(line_of("gid_attrs/ndevs/0"), "lo");
	}
}

static bool exists(const char *name)
{
	struct stat st;

	return stat(path_of(name), &st) == 0;
}

static void test_away_and_back(void **state)
{
	struct stat before, after;

	(void)state;
	assert_int_equal(stat(path_of("infiniband/uhca0"), &before), 0);
	assert_int_equal(io_sysfs_bring_back(dir, &id, UINT_MAX), -ENOENT);
	assert_int_equal(io_sysfs_take_away(dir, &id), 0);
	assert_int_equal(io_sysfs_take_away(dir, &id), -ENOENT);
	assert_false(exists("infiniband/uhca0"));
	assert_false(exists("infiniband_verbs/uverbs200"));
	assert_int_equal(io_sysfs_bring_back(dir, &id, 207), 0);
	assert_true(exists("infiniband_verbs/uverbs207/ibdev"));
	assert_true(exists("infiniband/uhca0/device/infiniband_verbs/uverbs207/dev"));
	assert_false(exists("infiniband/uhca0/device/infiniband_verbs/uverbs200"));
	assert_true(exists("../../dev/infiniband/uverbs207"));
	/* The time of the folder is the identity of the device for libibverbs. */
	assert_int_equal(stat(path_of("infiniband/uhca0"), &after), 0);
	assert_true(before.st_mtim.tv_sec != after.st_mtim.tv_sec ||
		    before.st_mtim.tv_nsec != after.st_mtim.tv_nsec);
	/* Again, with the number that it has. */
	assert_int_equal(io_sysfs_take_away(dir, &id), 0);
	assert_int_equal(io_sysfs_bring_back(dir, &id, UINT_MAX), 0);
	assert_true(exists("infiniband_verbs/uverbs207/ibdev"));
	assert_int_equal(io_sysfs_take_away(dir, &id), 0);
	assert_int_equal(io_sysfs_bring_back(dir, &id, 208), 0);
	assert_true(exists("infiniband/uhca0/device/infiniband_verbs/uverbs208/dev"));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {CASE(test_line), CASE(test_gid),
					   CASE(test_away_and_back)};

	return cmocka_run_group_tests_name("sysfs_change", tests, NULL, NULL);
}
