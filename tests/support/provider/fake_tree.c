/* SPDX-License-Identifier: BSD-2-Clause */
#include "fake_tree.h"

#include "tests/support/wire/cmocka_all.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERBS  "sys/class/infiniband_verbs"
#define DEVICE "sys/class/infiniband/uhca0"
#define PORT   DEVICE "/ports/1"

static const struct {
	const char *path;
	const char *text;
} files[] = {
	{VERBS "/abi_version", "6"},
	{VERBS "/uverbs200/ibdev", "uhca0"},
	{VERBS "/uverbs200/abi_version", "1"},
	{VERBS "/uverbs200/dev", "1:3"},
	{DEVICE "/node_type", "1: CA"},
	{DEVICE "/node_guid", "0275:caff:fe00:0001"},
	{DEVICE "/sys_image_guid", "0275:caff:fe00:0001"},
	{DEVICE "/fw_ver", "0.0-fake"},
	{DEVICE "/board_id", "UHCA0001"},
	{DEVICE "/device/net/lo/ifindex", "1"},
	{PORT "/state", "4: ACTIVE"},
	{PORT "/phys_state", "5: LinkUp"},
	{PORT "/pkeys/0", "0xffff"},
	{PORT "/gids/0", "0000:0000:0000:0000:0000:ffff:7f00:0001"},
	{PORT "/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000"},
	{PORT "/gids/2", "0000:0000:0000:0000:0000:0000:0000:0001"},
	{PORT "/gids/3", "fe80:0000:0000:0000:0000:0000:0000:0001"},
	{PORT "/gids/4", "0000:0000:0000:0000:0000:ffff:0a00:0001"},
	{PORT "/gid_attrs/types/0", "RoCE v2"},
	{PORT "/gid_attrs/types/1", "RoCE v2"},
	{PORT "/gid_attrs/types/2", "RoCE v2"},
	{PORT "/gid_attrs/types/3", "RoCE v2"},
	{PORT "/gid_attrs/types/4", "RoCE v2"},
	{PORT "/gid_attrs/ndevs/0", "lo"},
	{PORT "/gid_attrs/ndevs/1", "lo"},
	{PORT "/gid_attrs/ndevs/2", "lo"},
	{PORT "/gid_attrs/ndevs/3", "lo"},
	{PORT "/gid_attrs/ndevs/4", "eth0"},
};

/* Makes the directories that path names before its last slash. */
static void make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	make_parents(path);
	f = fopen(path, "we");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	assert_int_equal(fclose(f), 0);
}

void fake_tree_make(const char *dir)
{
	char path[512];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		write_file(dir, files[i].path, files[i].text);
	snprintf(path, sizeof(path), "%s/dev/infiniband/uverbs200", dir);
	make_parents(path);
	unlink(path);
	assert_int_equal(symlink("/dev/null", path), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

void fake_tree_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
