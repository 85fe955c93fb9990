/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that libibverbs and other readers look for: they are where these look, and say what
 * the device is. That libibverbs takes them for a device is shown by tests/verbs.
 */
#include "emu/io/device/sysfs_tree.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICES 12u

static char dir[64];

/* ---- system calls (ld --wrap) ---- */

static unsigned made;    /* folders */
static unsigned useless; /* attempts to make one that is there */
static bool no_links;    /* as on a file system that has none */

int __real_mkdirat(int root, const char *path, mode_t mode);
int __wrap_mkdirat(int root, const char *path, mode_t mode);
int __wrap_mkdirat(int root, const char *path, mode_t mode)
{
	int ret = __real_mkdirat(root, path, mode);

	made += ret == 0;
	useless += ret < 0 && errno == EEXIST;
	return ret;
}

int __real_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags);
int __wrap_linkat(int from, const char *old, int to, const char *new, int flags)
{
	errno = EPERM;
	return no_links ? -1 : __real_linkat(from, old, to, new, flags);
}

/* ---- */

static struct io_identity identity(unsigned index)
{
	static struct core_config config[DEVICES + 2];
	struct io_identity id = {.index = index, .guid = 0x0275ca007f000001 + index};

	assert_in_range(index, 0, DEVICES + 1);
	snprintf(id.name, sizeof(id.name), "uhca%u", index);
	strcpy(id.netdev, "lo");
	io_address_parse("127.0.0.1", &id.addresses.a[0]);
	io_address_parse("2001:db8::1", &id.addresses.a[1]);
	id.addresses.count = 2;
	core_config_default(&config[index]);
	config[index].node_guid = id.guid;
	for (unsigned i = 0; i < id.addresses.count; i++)
		memcpy(config[index].gid[i], id.addresses.a[i].gid, 16);
	id.config = &config[index];
	return id;
}

static int setup(void **state)
{
	struct io_identity id;

	(void)state;
	io_test_dir(dir);
	assert_int_equal(io_sysfs_create(dir, DEVICES + 1), 0);
	for (unsigned i = 0; i < DEVICES; i++) {
		id = identity(i);
		id.node_type = i == 1   ? CORE_NODE_RNIC
			       : i == 2 ? CORE_NODE_UNSPECIFIED
					: CORE_NODE_CA;
		assert_int_equal(io_sysfs_add(dir, &id), 0);
	}
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
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* First line of a file below the class folder. */
static const char *line(const char *name)
{
	static char text[256];
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "sys/class/%s", name);
	f = fopen(path_of(path), "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_int_equal(text[strlen(text) - 1], '\n');
	text[strlen(text) - 1] = '\0';
	return text;
}

static void test_classes(void **state)
{
	(void)state;
	assert_string_equal(line("infiniband_verbs/abi_version"), "6");
	assert_string_equal(line("infiniband_verbs/uverbs200/abi_version"), "1");
	assert_string_equal(line("infiniband_verbs/uverbs200/dev"), "1:3");
}

/* libibverbs lists devices in the order of readdir(3): uhca9 stands before uhca10. */
static void test_order(void **state)
{
	DIR *d = opendir(path_of("sys/class/infiniband_verbs"));
	unsigned n = 0;

	(void)state;
	assert_non_null(d);
	for (struct dirent *e; n < DEVICES && (e = readdir(d));) {
		char name[300], want[16];

		if (strncmp(e->d_name, "uverbs", 6) != 0)
			continue;
		snprintf(name, sizeof(name), "infiniband_verbs/%s/ibdev", e->d_name);
		snprintf(want, sizeof(want), "uhca%u", n++);
		assert_string_equal(line(name), want);
		snprintf(name, sizeof(name), "infiniband/%s/device/infiniband_verbs/%.32s/ibdev",
			 want, e->d_name);
		assert_string_equal(line(name), want);
		snprintf(name, sizeof(name), "infiniband_verbs/%.32s/device/vendor", e->d_name);
		assert_string_equal(line(name), "0x75ca");
	}
	closedir(d);
	assert_int_equal(n, DEVICES);
}

/* Everything of a device that is the same for all of them, and what is its own. */
static void test_device(void **state)
{
	static const struct {
		const char *name, *text;
	} files[] = {
		{"node_guid", "0275:ca00:7f00:0001"},
		{"sys_image_guid", "0275:ca00:7f00:0001"},
		{"node_type", "1: CA"},
		{"node_desc", "uhca0 emulated HCA"},
		{"fw_ver", UHCA_VERSION},
		{"hca_type", "uhca"},
		{"hw_rev", "1"},
		{"board_id", "UHCA75ca0001"},
		{"device/vendor", "0x75ca"},
		{"device/device", "0x0001"},
		{"device/subsystem_vendor", "0x75ca"},
		{"device/subsystem_device", "0x0001"},
		{"device/numa_node", "-1"},
		{"ports/1/state", "4: ACTIVE"},
		{"ports/1/phys_state", "5: LinkUp"},
		{"ports/1/link_layer", "Ethernet"},
		{"ports/1/rate", "100 Gb/sec (4X EDR)"},
		{"ports/1/lid", "0x0"},
		{"ports/1/lid_mask_count", "0"},
		{"ports/1/sm_lid", "0x0"},
		{"ports/1/sm_sl", "0"},
		{"ports/1/cap_mask", "0x04010000"},
		{"ports/1/pkeys/0", "0xffff"},
	};
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(name, sizeof(name), "infiniband/uhca0/%s", files[i].name);
		assert_string_equal(line(name), files[i].text);
	}
	assert_string_equal(line("infiniband/uhca1/node_type"), "4: RNIC");
	assert_string_equal(line("infiniband/uhca2/node_type"), "7: unspecified");
	assert_string_equal(line("infiniband/uhca1/node_guid"), "0275:ca00:7f00:0002");
}

static void test_gids(void **state)
{
	char name[64];

	(void)state;
	assert_string_equal(line("infiniband/uhca0/ports/1/gids/0"),
			    "0000:0000:0000:0000:0000:ffff:7f00:0001");
	assert_string_equal(line("infiniband/uhca0/ports/1/gids/1"),
			    "2001:0db8:0000:0000:0000:0000:0000:0001");
	assert_string_equal(line("infiniband/uhca0/ports/1/gids/15"),
			    "0000:0000:0000:0000:0000:0000:0000:0000");
	for (unsigned i = 0; i < 2; i++) {
		snprintf(name, sizeof(name), "infiniband/uhca0/ports/1/gid_attrs/types/%u", i);
		assert_string_equal(line(name), "RoCE v2");
		snprintf(name, sizeof(name), "infiniband/uhca0/ports/1/gid_attrs/ndevs/%u", i);
		assert_string_equal(line(name), "lo");
	}
}

/* Attributes of an empty entry can be opened, and reading them fails with EINVAL. */
static void test_empty_gids(void **state)
{
	static const char *const columns[] = {"types", "ndevs"};
	char name[80], byte;

	(void)state;
	for (unsigned i = 2; i < 16; i++) {
		for (unsigned k = 0; k < 2; k++) {
			int fd;

			snprintf(name, sizeof(name),
				 "sys/class/infiniband/uhca0/ports/1/gid_attrs/%s/%u", columns[k],
				 i);
			fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
			assert_true(fd >= 0);
			assert_int_equal(read(fd, &byte, 1), -1);
			assert_int_equal(errno, EINVAL);
			close(fd);
		}
	}
}

/* Nodes are links to a character device 1:3 that anybody may open. */
static void test_nodes(void **state)
{
	char node[64];
	unsigned n = 0;
	struct stat st;

	(void)state;
	for (unsigned i = 0; i <= DEVICES; i++) { /* one was not added */
		snprintf(node, sizeof(node), "dev/infiniband/uverbs%u", IO_UVERBS_BASE + i);
		n += stat(path_of(node), &st) == 0 && S_ISCHR(st.st_mode);
	}
	assert_int_equal(n, DEVICES);
}

/* librdmacm looks for the version, and opens the node. */
static void test_rdma_cm(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat(path_of("dev/infiniband/rdma_cm"), &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(stat(path_of("sys/class/misc/rdma_cm/abi_version"), &st), 0);
	assert_string_equal(line("infiniband/uhca0/ports/1/cap_mask"), "0x04010000");
}

/* Links between the folders lead to what they name. */
static void test_links(void **state)
{
	struct stat st;

	(void)state;
	assert_string_equal(line("infiniband/uhca1/device/infiniband/uhca1/node_guid"),
			    "0275:ca00:7f00:0002");
	assert_int_equal(lstat(path_of("sys/class/infiniband/uhca0/device/net/lo"), &st), 0);
}

static void test_no_interface(void **state)
{
	struct io_identity id = identity(DEVICES);
	struct stat st;

	(void)state;
	id.netdev[0] = '\0';
	assert_int_equal(io_sysfs_add(dir, &id), 0);
	assert_int_not_equal(stat(path_of("sys/class/infiniband/uhca12/device/net"), &st), 0);
	assert_string_equal(line("infiniband/uhca12/ports/1/gid_attrs/types/0"), "RoCE v2");
}

/* The start of a daemon waits for them: each is made once. */
static void test_folders_are_made_once(void **state)
{
	struct io_identity id = identity(DEVICES);

	(void)state;
	made = useless = 0;
	assert_int_equal(io_sysfs_add(dir, &id), 0);
	assert_int_equal(useless, 0);
	assert_int_equal(made, 12);
}

static ino_t file_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(path_of(name), &st), 0);
	return st.st_ino;
}

/* What says the same for each empty index is one file with many names. */
static void test_tables_share_files(void **state)
{
	const char *ports = "sys/class/infiniband/uhca3/ports/1";
	char a[128], b[128];

	(void)state;
	for (unsigned i = 3; i < CORE_GID_TABLE; i++) {
		snprintf(a, sizeof(a), "%s/gids/2", ports);
		snprintf(b, sizeof(b), "%s/gids/%u", ports, i);
		assert_int_equal(file_of(a), file_of(b));
	}
	snprintf(b, sizeof(b), "%s/gids/1", ports);
	snprintf(a, sizeof(a), "%s/gids/2", ports);
	assert_int_not_equal(file_of(a), file_of(b));
}

static void test_without_links(void **state)
{
	struct io_identity id = identity(DEVICES);
	char name[64];

	(void)state;
	no_links = true;
	assert_int_equal(io_sysfs_add(dir, &id), 0);
	no_links = false;
	for (unsigned i = 0; i < id.addresses.count; i++) {
		snprintf(name, sizeof(name), "infiniband/uhca12/ports/1/gid_attrs/types/%u", i);
		assert_string_equal(line(name), "RoCE v2");
		snprintf(name, sizeof(name), "infiniband/uhca12/ports/1/gid_attrs/ndevs/%u", i);
		assert_string_equal(line(name), "lo");
	}
	assert_string_equal(line("infiniband/uhca12/ports/1/gids/15"),
			    "0000:0000:0000:0000:0000:0000:0000:0000");
}

/* Wherever descriptors come to their end: that is what is said. */
static void test_few_descriptors(void **state)
{
	struct io_identity id = identity(DEVICES);
	struct rlimit all, few;
	int free_fd = dup(0), error = -EMFILE;

	(void)state;
	assert_true(free_fd >= 0);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	few = all;
	for (rlim_t room = 0; error == -EMFILE; room++) {
		assert_true(room < 8);
		few.rlim_cur = (rlim_t)free_fd + room;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		error = io_sysfs_add(dir, &id);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
		assert_true(room > 0 || error == -EMFILE);
	}
	assert_int_equal(error, 0);
}

static void test_errors(void **state)
{
	struct io_identity id = identity(0), beyond = identity(DEVICES + 1);

	(void)state;
	assert_int_equal(io_sysfs_add(dir, &beyond), -ENOENT); /* there is no uverbs for it */
	assert_int_equal(io_sysfs_create("/nonexistent/dir", 1), -ENOENT);
	assert_int_equal(io_sysfs_add("/nonexistent/dir", &id), -ENOENT);
	/* twice the same device: its links are there already */
	assert_int_equal(io_sysfs_add(dir, &id), -EEXIST);
}

/* Modes of a real /sys, but for who may write: nobody but the owner. */
static void test_modes(void **state)
{
	const mode_t mask = umask(0);
	struct io_identity id = identity(DEVICES);
	struct stat st;

	(void)state;
	assert_int_equal(io_sysfs_add(dir, &id), 0);
	umask(mask);
	assert_int_equal(stat(path_of("sys/class/infiniband/uhca12/node_guid"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(stat(path_of("sys/class/infiniband/uhca12/ports/1"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

/* A port that goes down and comes up again: what stands in its files. */
static void test_port(void **state)
{
	struct io_identity id = identity(0);

	(void)state;
	assert_int_equal(io_sysfs_port(dir, &id, false), 0);
	assert_string_equal(line("infiniband/uhca0/ports/1/state"), "1: DOWN");
	assert_string_equal(line("infiniband/uhca0/ports/1/phys_state"), "3: Disabled");
	assert_string_equal(line("infiniband/uhca1/ports/1/state"), "4: ACTIVE");
	assert_int_equal(io_sysfs_port(dir, &id, true), 0);
	assert_string_equal(line("infiniband/uhca0/ports/1/state"), "4: ACTIVE");
	assert_string_equal(line("infiniband/uhca0/ports/1/phys_state"), "5: LinkUp");
	assert_int_equal(access(path_of("sys/class/infiniband/uhca0/ports/1/.new"), F_OK), -1);
	assert_int_equal(io_sysfs_port("/nonexistent/dir", &id, true), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_classes),
		TEST(test_order),
		TEST(test_device),
		TEST(test_gids),
		TEST(test_empty_gids),
		TEST(test_nodes),
		TEST(test_rdma_cm),
		TEST(test_links),
		TEST(test_no_interface),
		TEST(test_errors),
		TEST(test_folders_are_made_once),
		TEST(test_tables_share_files),
		TEST(test_without_links),
		TEST(test_few_descriptors),
		TEST(test_modes),
		TEST(test_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
