/* SPDX-License-Identifier: BSD-2-Clause */
/* Which paths of sysfs are a described machine's, where the host has others in the same folders. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/preload/path_map.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64] = "/tmp/uhca-test-XXXXXX";

static void folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void lead(const char *name, const char *to)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(symlink(to, path), 0);
}

static int setup(void **state)
{
	static const char *const folders[] = {
		"sys",
		"sys/bus",
		"sys/bus/pci",
		"sys/bus/pci/devices",
		"sys/class",
		"sys/class/net",
		"sys/devices",
		"sys/devices/pci0000:15",
		"sys/devices/pci0000:15/0000:15:01.0",
		"sys/devices/pci0000:15/0000:15:01.0/net",
		"sys/devices/pci0000:15/0000:15:01.0/net/rail0",
		"sys/devices/system",
		"sys/devices/system/node",
		"sys/devices/system/node/node7",
	};

	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(folders[i]);
	lead("sys/bus/pci/devices/0000:15:01.0", "../../../devices/pci0000:15/0000:15:01.0");
	lead("sys/bus/pci/devices/0000:00:00.0", "/sys/devices/pci0000:00/0000:00:00.0");
	lead("sys/class/net/rail0", "../../devices/pci0000:15/0000:15:01.0/net/rail0");
	lead("sys/class/net/lo", "/sys/devices/virtual/net/lo");
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static const struct {
	const char *path;
	bool ours;
} table[] = {
	{"/sys/bus/pci/devices", true},
	{"/sys/bus/pci/devices/", true},
	{"/sys/bus/pci/devices/0000:15:01.0", true},
	{"/sys/bus/pci/devices/0000:15:01.0/vendor", true}, /* though there is none */
	{"/sys//bus/pci//devices/0000:15:01.0/vendor", true},
	{"/sys/bus/pci/devices/0000:00:00.0", false},
	{"/sys/bus/pci/devices/0000:00:00.0/class", false},
	{"/sys/bus/pci/devices/0000:77:00.0", false},
	{"/sys/class/net", true},
	{"/sys/class/net/rail0/device/vendor", true},
	{"/sys/class/net/lo/address", false},
	{"/sys/class/nets", false},
	{"/sys/class/pci_bus", false}, /* nothing was made there */
	{"/sys/devices/pci0000:15/0000:15:01.0", true},
	{"/sys/devices/pci0000:15/0000:15:02.0", false},
	{"/sys/devices/pci0000:00", false},
	{"/sys/devices/system/node/node7", true},
	{"/sys/devices/system/node/node0", false},
	{"/sys/devices/system/cpu", false},
	{"/sys/devices", false},
	{"/sys", false},
};

static void test_table(void **state)
{
	char buf[512], expected[512];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const char *got = uhca_path_map(root, table[i].path, buf, sizeof(buf));

		if ((got == buf) != table[i].ours)
			fail_msg("%s becomes %s", table[i].path, got);
		snprintf(expected, sizeof(expected), "%s/sys/", root);
		if (got == buf)
			assert_int_equal(strncmp(got, expected, strlen(expected)), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
