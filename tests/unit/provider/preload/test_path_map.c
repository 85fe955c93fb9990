/* SPDX-License-Identifier: BSD-2-Clause */
/* Which paths are redirected, and to where. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/preload/path_map.h"

#include <string.h>

static const struct {
	const char *path;
	const char *mapped; /* NULL: itself */
} table[] = {
	{"/sys/class/infiniband", "/run/u/sys/class/infiniband"},
	{"/sys/class/infiniband/", "/run/u/sys/class/infiniband/"},
	{"/sys/class/infiniband/uhca0/ports/1/gids/0",
	 "/run/u/sys/class/infiniband/uhca0/ports/1/gids/0"},
	{"/sys/class/infiniband_verbs", "/run/u/sys/class/infiniband_verbs"},
	{"/sys/class/infiniband_verbs/uverbs200/dev",
	 "/run/u/sys/class/infiniband_verbs/uverbs200/dev"},
	{"/sys/class/misc/rdma_cm/abi_version", "/run/u/sys/class/misc/rdma_cm/abi_version"},
	{"/dev/infiniband/uverbs200", "/run/u/dev/infiniband/uverbs200"},
	{"/dev/infiniband", "/run/u/dev/infiniband"},
	{"/dev//infiniband///rdma_cm", "/run/u/dev/infiniband///rdma_cm"},
	{"//sys/class//infiniband/uhca0", "/run/u/sys/class/infiniband/uhca0"},
	{"/sys/class/infiniband_mad/abi_version", NULL},
	{"/sys/class/infiniband_verbsx", NULL},
	{"/sys/class/infiniban", NULL},
	{"/sys/class", NULL},
	{"/sys/class/net/lo", NULL},
	{"/sys/class/misc/rdma_cmx", NULL},
	{"/dev/infinibandx", NULL},
	{"/dev/null", NULL},
	{"/", NULL},
	{"", NULL},
	{"sys/class/infiniband", NULL},
	{"./sys/class/infiniband", NULL},
	{"/proc/self/maps", NULL},
};

static void test_table(void **state)
{
	char buf[256];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *got = uhca_path_map("/run/u", table[i].path, buf, sizeof(buf));
		if (table[i].mapped)
			assert_string_equal(got, table[i].mapped);
		else
			assert_ptr_equal(got, table[i].path);
	}
}

static void test_no_root(void **state)
{
	const char *path = "/sys/class/infiniband";
	char buf[64];

	(void)state;
	assert_ptr_equal(uhca_path_map(NULL, path, buf, sizeof(buf)), path);
	assert_ptr_equal(uhca_path_map("", path, buf, sizeof(buf)), path);
	assert_null(uhca_path_map("/run/u", NULL, buf, sizeof(buf)));
}

static void test_no_room(void **state)
{
	const char *path = "/dev/infiniband/x";
	const char *want = "/run/u/dev/infiniband/x";
	char buf[64];

	(void)state;
	assert_ptr_equal(uhca_path_map("/run/u", path, buf, strlen(want)), path);
	assert_string_equal(uhca_path_map("/run/u", path, buf, strlen(want) + 1), want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_root),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
