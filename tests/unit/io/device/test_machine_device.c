/* SPDX-License-Identifier: BSD-2-Clause */
/* A described device: its addresses, the layouts of its GID tables, and its files. */
#include "emu/io/device/machine_device.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static struct io_settings settings;
static struct io_identity id;
static struct core_config config;

/* Device 0 of a machine of which "members" are those of its port. */
static void describe(const char *members)
{
	char text[1024], error[512];

	snprintf(text, sizeof(text),
		 "{\"numa\": [{\"node\": 0, \"cpus\": \"0-3\"}, {\"node\": 1, \"cpus\": \"4-7\"}],"
		 "\"devices\": [{\"name\": \"mlx5_3\", \"pci\": \"0000:18:00.0\", \"numa_node\": 1,"
		 "\"bridges\": [\"0000:15:01.0\", \"0000:16:00.0\"], \"driver\": \"mlx5_core\","
		 "\"vendor\": \"0x15b3\", \"device\": \"0x1021\", \"total_vfs\": 2,"
		 "\"node_guid\": \"b859:9f03:00ab:cdef\", %s},"
		 "{\"name\": \"vf\", \"pci\": \"0000:18:00.1\", \"parent\": \"mlx5_3\","
		 "\"device\": \"0x101e\", \"bridges\": [\"0000:15:01.0\", \"0000:16:00.0\"]}]}",
		 members);
	machine_free((struct machine *)(uintptr_t)settings.machine);
	settings.machine = machine_read(text, "m.json", error, sizeof(error));
	if (!settings.machine)
		fail_msg("%s", error);
	id = (struct io_identity){.index = 0};
	assert_int_equal(io_machine_device_identity(&settings, 0, &id), 0);
	core_config_default(&config);
	id.active_mtu = config.active_mtu;
	io_machine_device_config(&id, &config);
	id.config = &config;
	id.node_type = CORE_NODE_CA;
}

static const char *gid(unsigned port, unsigned index)
{
	static char text[IO_ADDRESS_TEXT];

	return io_address_format(core_config_gid(&config, port, index), text);
}

static void test_layouts(void **state)
{
	static const struct {
		const char *port,
			*gids; /* the table up to its first empty entry; v1 entries with ! */
	} table[] = {
		{"\"gids\": \"uhca\"", "127.0.0.1"},
		{"\"gids\": \"mlx5\"",
		 "fe80::75:7fff:fe00:1! fe80::75:7fff:fe00:1 127.0.0.1! 127.0.0.1"},
		{"\"gids\": \"mlx5\", \"mac\": \"b8:59:9f:00:00:01\","
		 "\"addresses\": [\"fd00::1/64\", \"198.51.100.1/24\"]",
		 "fe80::ba59:9fff:fe00:1! fe80::ba59:9fff:fe00:1 198.51.100.1! 198.51.100.1 "
		 "fd00::1! fd00::1"},
		{"\"gids\": \"rxe\"", "fe80::75:7fff:fe00:1 127.0.0.1"},
		{"\"gids\": \"empty\"", ""},
		{"\"gids\": \"efa\"", "fe80::75:7fff:fe00:1"},
		{"\"link_layer\": \"infiniband\"", "fe80::b859:9f03:ab:cdef"},
		{"\"gids\": [\"10.9.9.9\", {\"gid\": \"fe80::9\", \"type\": \"v1\"}]",
		 "10.9.9.9 fe80::9!"},
	};
	char text[1024], port[256];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		size_t n = 0;

		snprintf(port, sizeof(port), "\"port\": {%s}", table[i].port);
		describe(port);
		text[0] = '\0';
		for (unsigned k = 0; strcmp(gid(1, k), "::") != 0; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", k ? " " : "",
					      gid(1, k),
					      core_gid_is_v1(&config.look.port[0], k) ? "!" : "");
		assert_string_equal(text, table[i].gids);
	}
}

/* An address that the host has not is known inside; with --wire it is refused. */
static void test_addresses(void **state)
{
	(void)state;
	describe("\"port\": {\"addresses\": [\"198.51.100.1/24\"]}");
	assert_int_equal(id.addresses.count, 1);
	assert_true(id.addresses.a[0].inside);
	settings.wire = IO_WIRE_ALWAYS;
	assert_int_equal(io_machine_device_identity(&settings, 0, &id), -EADDRNOTAVAIL);
	settings.wire = IO_WIRE_AUTO;
	/* Each port has an address, of those that --addr gives. */
	settings.addresses[0].count = 2;
	io_address_parse("127.0.9.1", &settings.addresses[0].a[0]);
	io_address_parse("127.0.9.2", &settings.addresses[0].a[1]);
	describe("\"ports\": [{}, {\"link_layer\": \"infiniband\"}]");
	assert_int_equal(id.addresses.count, 2);
	assert_false(id.addresses.a[1].inside);
	assert_string_equal(gid(1, 0), "127.0.9.1");
	assert_string_equal(gid(2, 0), "fe80::b859:9f03:ab:cdf0");
	assert_int_equal(core_lid_of(config.look.port[1].address), 0x0902);
	settings.addresses[0].count = 0;
}

/* ---- files ---- */

static const char *line_of(const char *name)
{
	static char line[512];
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		strcpy(line, "-");
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

#define FUNCTION "sys/devices/pci0000:15/0000:15:01.0/0000:16:00.0/0000:18:00.0"

static void check_lines(void)
{
	static const struct {
		const char *name, *says;
	} table[] = {
		{"sys/class/infiniband/mlx5_3/node_guid", "b859:9f03:00ab:cdef"},
		{"sys/class/infiniband/mlx5_3/device/vendor", "0x15b3"},
		{"sys/class/infiniband/mlx5_3/device/numa_node", "1"},
		{"sys/class/infiniband/mlx5_3/device/local_cpulist", "4-7"},
		{"sys/class/infiniband/mlx5_3/device/current_link_speed", "32.0 GT/s PCIe"},
		{"sys/class/infiniband/mlx5_3/device/sriov_totalvfs", "2"},
		{"sys/class/infiniband/mlx5_3/device/sriov_numvfs", "1"},
		{"sys/class/infiniband/mlx5_3/device/virtfn0/device", "0x101e"},
		{"sys/bus/pci/devices/0000:18:00.1/physfn/device", "0x1021"},
		{"sys/class/infiniband/mlx5_3/device/../class", "0x060400"},
		{"sys/class/infiniband/mlx5_3/device/driver/../../devices/0000:18:00.0/device",
		 "0x1021"},
		{"sys/class/infiniband/mlx5_3/ports/1/rate", "400 Gb/sec (4X NDR)"},
		{"sys/class/infiniband/mlx5_3/ports/1/pkeys/1", "0x7fff"},
		{"sys/class/infiniband/mlx5_3/ports/1/gid_attrs/types/2", "IB/RoCE v1"},
		{"sys/class/infiniband/mlx5_3/ports/1/gid_attrs/types/3", "RoCE v2"},
		{"sys/class/infiniband/mlx5_3/ports/1/gid_attrs/ndevs/3", "rail0"},
		{"sys/class/infiniband/mlx5_3/ports/1/gids/4",
		 "0000:0000:0000:0000:0000:0000:0000:0000"},
		{"sys/class/infiniband/mlx5_3/ports/1/gid_attrs/types/4", "-"},
		{"sys/class/net/rail0/device/class", "0x020000"},
		{"sys/class/net/rail0/address", "02:75:7f:00:00:01"},
		{"sys/class/net/rail0/speed", "400000"},
		{"sys/class/pci_bus/0000:16/../../0000:16:00.0/secondary_bus_number", "24"},
		{"sys/bus/pci/devices/0000:18:00.0/infiniband/mlx5_3/fw_ver", UHCA_VERSION},
		{"sys/devices/system/node/node1/cpulist", "4-7"},
		{FUNCTION "/infiniband_verbs/uverbs200/ibdev", "mlx5_3"},
		{"addresses/by-number/0", "0000:0000:0000:0000:0000:ffff:7f00:0001"},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(line_of(table[i].name), table[i].says) != 0)
			fail_msg("%s says %s, not %s", table[i].name, line_of(table[i].name),
				 table[i].says);
}

static void test_files(void **state)
{
	char path[128], target[512];
	ssize_t n;

	(void)state;
	describe("\"port\": {\"gids\": \"mlx5\", \"netdev\": \"rail0\", \"rate\": 400,"
		 "\"pkeys\": [\"0xffff\", \"0x7fff\"]}");
	assert_int_equal(io_sysfs_create(dir, 1), 0);
	assert_int_equal(io_sysfs_machine(dir, settings.machine), 0);
	assert_int_equal(io_sysfs_add(dir, &id), 0);
	check_lines();
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/mlx5_3", dir);
	n = readlink(path, target, sizeof(target) - 1);
	assert_true(n > 0);
	target[n] = '\0';
	assert_string_equal(target, "../../devices/pci0000:15/0000:15:01.0/0000:16:00.0/"
				    "0000:18:00.0/infiniband/mlx5_3");
	/* What the host has stands beside it. */
	snprintf(path, sizeof(path), "%s/sys/class/net/lo", dir);
	if (access("/sys/class/net/lo", F_OK) == 0)
		assert_int_equal(readlink(path, target, 1), 1);
}

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	machine_free((struct machine *)(uintptr_t)settings.machine);
	io_test_remove_dir(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
