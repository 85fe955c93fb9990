/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of machines: what they say, and how a mistake is told, with its place. */
#include "emu/machine/machine.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[1024];

static struct machine *machine_of(const char *text)
{
	return machine_read(text, "m.json", error, sizeof(error));
}

/* ---- mistakes ---- */

static const struct {
	const char *text, *says;
} mistakes[] = {
	{"{", "m.json:1:1: string or '}' expected"},
	{"{\n \"devices\": [\n  {\"name\": \"a\", \"name\": \"b\"}]}", "m.json:3:"},
	{"[]", "m.json:1:1: not an object"},
	{"{\"devices\": []}", "m.json:1:1: no devices"},
	{"{\n \"devises\": []}",
	 "m.json:2:2: unknown key 'devises': did you mean 'devices'? Known: "},
	{"{\"devices\": [\n  {\"pci\": \"0000:01:00.0\"},\n  {\"pci\": \"0000:02:00.0\",\n"
	 "   \"port\": {\"sped\": \"NDR\"}}]}",
	 "m.json:4:13: unknown key 'sped': did you mean 'speed'?"},
	{"{\"devices\": [{\"pci\": \"0000:01:00.0\",\n\"port\": {\"speed\":\n\"NDS\"}}]}",
	 "m.json:3:1: unknown speed 'NDS': did you mean 'NDR'?"},
	{"{\"devices\": [{\"pci\": \"1:0.0\"}]}", "m.json:1:22: not a PCI address"},
	{"{\"devices\": [{}]}", "m.json:1:14: device 'uhca0' has no PCI address"},
	{"{\"devices\": [{\"pci\": null}, {\"pci\": null, \"name\": \"uhca0\"}]}",
	 "m.json:1:29: two devices have the name 'uhca0'"},
	{"{\"devices\": [{\"pci\": \"0000:01:00.0\"}, {\"pci\": \"0000:01:00.0\"}]}",
	 "have the PCI address 0000:01:00.0"},
	{"{\"devices\": [{\"pci\": null, \"name\": \"a/b\"}]}", "'a/b' is not a name of a device"},
	{"{\"devices\": [{\"pci\": null, \"name\": \"a-name-of-sixteen\"}]}",
	 "name has more than 15 characters"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"rate\": 42}}]}",
	 "no speed gives 42 Gb/s on 4 lanes"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"rate\": 100, \"speed\": \"NDR\"}}]}",
	 "4X NDR makes 400 Gb/s, not 100"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"width\": 3}}]}",
	 "a link has 1, 2, 4, 8 or 12"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"mtu\": 1500}}]}", "an MTU is 256, 512"},
	{"{\"devices\": [{\"pci\": null, \"vendor\": 65536}]}", "65536 is not from 0 to 65535"},
	{"{\"devices\": [{\"pci\": null, \"vendor\": \"0xg\"}]}", "m.json:1:38: not a number"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"addresses\": [\"10.0.0.1/33\"]}}]}",
	 "m.json:1:51: not an IP address"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"gids\": \"mlx4\"}}]}",
	 "unknown gids 'mlx4': did you mean 'mlx5'?"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"gids\": [\"fe80::1\", 7]}}]}",
	 "not an object"},
	{"{\"devices\": [{\"pci\": null, \"port\": "
	 "{\"gids\": \"mlx5\", \"gid_table_length\": 3}}]}",
	 "the GID table has 3 entries; its layout fills 4"},
	{"{\"devices\": [{\"pci\": null, \"port\": "
	 "{\"link_layer\": \"infiniband\", \"gids\": \"rxe\"}}]}",
	 "GIDs of an InfiniBand port are not IP addresses"},
	{"{\"devices\": [{\"pci\": null, \"port\": "
	 "{\"link_layer\": \"infiniband\", \"addresses\": [\"10.0.0.1\"]}}]}",
	 "addresses are for Ethernet ports"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"pkeys\": []}}]}", "one entry or more"},
	{"{\"devices\": [{\"pci\": null, \"ports\": []}]}", "one port or two"},
	{"{\"devices\": [{\"pci\": null, \"ports\": [{}, {}, {}]}]}", "more than 2 elements"},
	{"{\"devices\": [{\"pci\": null, \"parent\": \"b\"}]}", "unknown parent 'b'"},
	{"{\"devices\": [{\"pci\": null, \"bridges\": [\"0000:00:01.0\"]}]}", "is on no bus"},
	{"{\"devices\": [{\"pci\": \"0000:02:00.0\", \"bridges\": [\"0000:00:01.0\"]},"
	 "{\"pci\": \"0000:03:00.0\", \"bridges\": [\"0000:01:01.0\", \"0000:00:01.0\"]}]}",
	 "has other bridges above it"},
	{"{\"devices\": [{\"pci\": null, \"port\": {\"netdev\": \"a\"}},"
	 "{\"pci\": null, \"port\": {\"netdev\": \"a\"}}]}",
	 "name the same network interface"},
	{"{\"devices\": [{\"pci\": null, \"node_guid\": \"1:2:3\"}]}", "not a GUID"},
	{"{\"numa\": [{\"cpus\": \"0 to 3\"}], \"devices\": [{\"pci\": null}]}",
	 "is not a list of processors"},
	{"{\"defaults\": {\"vendr\": 1}, \"devices\": [{\"pci\": null}]}",
	 "m.json:1:15: unknown key 'vendr': did you mean 'vendor'?"},
};

static void test_mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct machine *m = machine_of(mistakes[i].text);

		if (m || !strstr(error, mistakes[i].says))
			fail_msg("%s\nsays: %s\nnot:  %s", mistakes[i].text, m ? "nothing" : error,
				 mistakes[i].says);
	}
}

/* Whatever is cut off at its end is refused with words, and nothing worse happens. */
static void test_cut_off(void **state)
{
	static const char whole[] =
		"{\"numa\": [{\"node\": 1, \"cpus\": \"0-3\"}],"
		"\"defaults\": {\"vendor\": \"0x15b3\"},"
		"\"devices\": [{\"name\": \"m\\u00e4\", \"pci\": \"0000:01:00.0\", \"ports\": "
		"[{\"gids\": [null, {\"gid\": \"fe80::1\", \"type\": \"v1\"}], \"pkeys\": [1]}]}]}";
	char text[sizeof(whole)];

	(void)state;
	for (size_t n = 0; n < sizeof(whole); n++) {
		memcpy(text, whole, n);
		text[n] = '\0';
		error[0] = '\0';
		assert_null(machine_of(text)); /* the whole has a name that is none */
		assert_non_null(strstr(error, "m.json:1:"));
	}
}

/* ---- values ---- */

static void test_values(void **state)
{
	struct machine *m = machine_of(
		"{\"description\": \"d\", \"source\": \"s\", \"profile\": \"cx7\","
		"\"numa\": [{\"node\": 3, \"cpus\": \"0-1\"}],"
		"\"bridges\": [{\"pci\": \"0000:00:01.0\", \"vendor\": \"0x8086\"}],"
		"\"defaults\": {\"vendor\": \"0x15b3\", \"device\": 4129, \"numa_node\": 5,"
		"  \"port\": {\"rate\": 400, \"gids\": \"mlx5\"}},"
		"\"devices\": ["
		"{\"name\": \"mlx5_0\", \"pci\": \"0000:01:00.0\", \"bridges\": [\"0000:00:01.0\"],"
		" \"total_vfs\": 2, \"node_guid\": \"b859:9f03:00ab:cdef\", \"ports\": ["
		"  {\"addresses\": [\"10.0.1.1/24\", \"fd00::1\"], \"mac\": \"b8:59:9f:00:00:01\"},"
		"  {\"state\": \"down\", \"link_layer\": \"infiniband\", \"gids\": \"infiniband\","
		"   \"speed\": \"FDR\", \"rate\": 56, \"pkeys\": [\"0xffff\", 32767]}]},"
		"{\"pci\": \"0000:01:00.1\", \"parent\": \"mlx5_0\", \"numa_node\": -1,"
		" \"sys_image_guid\": \"0000:0000:0000:0000\"}]}");
	const struct machine_device *d;
	char text[MACHINE_RATE_TEXT];

	(void)state;
	assert_non_null(m);
	d = &m->device[0];
	assert_int_equal(m->n_devices, 2);
	assert_int_equal(machine_ports(m), 3);
	assert_string_equal(m->profile, "cx7");
	assert_int_equal(m->n_nodes, 2); /* 3 as described, 5 because a device is there */
	assert_int_equal(m->node[1].number, 5);
	assert_int_equal(m->bridge[0].vendor, 0x8086);
	assert_int_equal(d->pci.device, 0x1021);
	assert_int_equal(d->pci.subsystem_vendor, 0x15b3);
	assert_int_equal(d->node_guid, 0xb8599f0300abcdef);
	assert_int_equal(d->port[0].n_addresses, 2);
	assert_int_equal(d->port[0].address[0].prefix, 24);
	assert_int_equal(d->port[0].address[1].prefix, 128);
	assert_int_equal(d->port[0].address[0].gid[12], 10);
	assert_int_equal(d->port[0].gid_entries, 16);
	assert_string_equal(machine_rate_text(&d->port[0], text), "400 Gb/sec (4X NDR)");
	assert_int_equal(d->port[1].state, 1);
	assert_string_equal(machine_rate_text(&d->port[1], text), "56 Gb/sec (4X FDR)");
	assert_int_equal(d->port[1].n_pkeys, 2);
	assert_int_equal(d->port[1].pkey[1], 0x7fff);
	assert_string_equal(m->device[1].name, "uhca1");
	assert_int_equal(m->device[1].of, 0);
	assert_int_equal(m->device[1].numa_node, -1);
	assert_true(m->device[1].has_sys_image_guid);
	machine_free(m);
}

static void test_rates(void **state)
{
	static const struct {
		unsigned lanes;
		const char *speed, *says;
	} table[] = {
		{1, "SDR", "2.5 Gb/sec (1X SDR)"},    {4, "SDR", "10 Gb/sec (4X SDR)"},
		{4, "FDR10", "40 Gb/sec (4X FDR10)"}, {2, "HDR", "100 Gb/sec (2X HDR)"},
		{8, "NDR", "800 Gb/sec (8X NDR)"},    {4, "XDR", "800 Gb/sec (4X XDR)"},
	};
	char text[512], out[MACHINE_RATE_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct machine *m;

		snprintf(text, sizeof(text),
			 "{\"devices\": [{\"pci\": null, \"port\": {\"width\": %u, \"speed\": "
			 "\"%s\"}}]}",
			 table[i].lanes, table[i].speed);
		m = machine_of(text);
		assert_non_null(m);
		assert_string_equal(machine_rate_text(&m->device[0].port[0], out), table[i].says);
		machine_free(m);
	}
}

/* ---- presets ---- */

static void test_presets(void **state)
{
	static const struct {
		const char *name;
		unsigned devices;
	} table[] = {{"dgx-h100", 12}, {"two-rails", 2}, {"azure-nd", 9},
		     {"aws-p5", 32},   {"laptop", 1},    {"rxe", 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct machine *m = machine_load(table[i].name, error, sizeof(error));

		if (!m)
			fail_msg("%s: %s", table[i].name, error);
		assert_string_equal(m->name, table[i].name);
		assert_int_equal(m->n_devices, table[i].devices);
		machine_free(m);
	}
	assert_null(machine_load("dgx-h10", error, sizeof(error)));
	assert_non_null(strstr(error, "unknown machine 'dgx-h10': did you mean 'dgx-h100'?"));
	assert_null(machine_load("./none.json", error, sizeof(error)));
	assert_string_equal(error, "./none.json: No such file or directory");
}

static int setup(void **state)
{
	const char *source = getenv("UHCA_SRCDIR");
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "%s/emu/machine/presets", source ? source : ".");
	return setenv("UHCA_MACHINES", path, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_values),   cmocka_unit_test(test_rates),
		cmocka_unit_test(test_presets),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
