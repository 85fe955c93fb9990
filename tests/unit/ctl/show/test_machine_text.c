/* SPDX-License-Identifier: BSD-2-Clause */
/* The tree of "uhcactl show machine": bridges, in one line where nothing branches, and devices. */
#include "emu/ctl/show/machine_text.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"device", "port",       "pci",   "bridges", "numa_node",
				      "part",   "fw_version", "state", "rate",    "link_layer",
				      "lid",    "netdev",     "gids",  "pkeys"};
#define PORT_ "\"ACTIVE\",\"100 Gb/sec (4X EDR)\",\"Ethernet\",0,\"e0\",\"0 ::1 v2\",\"0xffff\"]"

static const struct {
	const char *rows, *tree;
} table[] = {
	{"", ""},
	{"[\"uhca0\",1,null,null,\"-1\",\"75ca:0001\",\"1\"," PORT_ ","
	 "[\"uhca1\",1,null,null,\"-1\",\"75ca:0001\",\"1\"," PORT_,
	 "├─ uhca0: 75ca:0001, firmware 1\n"
	 "│  └─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"
	 "└─ uhca1: 75ca:0001, firmware 1\n"
	 "   └─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"},
	/* Two below one switch, the second of them with two ports; a third elsewhere, between. */
	{"[\"a\",1,\"0:3:0.0\",\"0:1:0.0/0:2:0.0\",\"0\",\"15b3:1\",\"1\"," PORT_ ","
	 "[\"c\",1,\"0:9:0.0\",\"0:8:0.0\",\"1\",\"15b3:1\",\"1\"," PORT_ ","
	 "[\"b\",1,\"0:4:0.0\",\"0:1:0.0/0:2:0.0\",\"0\",\"15b3:1\",\"1\"," PORT_ ","
	 "[\"b\",2,\"0:4:0.0\",\"0:1:0.0/0:2:0.0\",\"0\",\"15b3:1\",\"1\",\"DOWN\",\"10 Gb/sec "
	 "(4X SDR)\",\"InfiniBand\",7,\"\",\"\",\"0x8001\"]",
	 "├─ 0:1:0.0 > 0:2:0.0\n"
	 "│  ├─ 0:3:0.0 a: 15b3:1, firmware 1, NUMA node 0\n"
	 "│  │  └─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"
	 "│  └─ 0:4:0.0 b: 15b3:1, firmware 1, NUMA node 0\n"
	 "│     ├─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"
	 "│     └─ port 2: DOWN, 10 Gb/sec (4X SDR), InfiniBand LID 7, P_Keys 0x8001\n"
	 "└─ 0:8:0.0\n"
	 "   └─ 0:9:0.0 c: 15b3:1, firmware 1, NUMA node 1\n"
	 "      └─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"},
	/* A bridge with a device and another bridge below it. */
	{"[\"a\",1,\"0:2:0.0\",\"0:1:0.0\",\"-1\",\"15b3:1\",\"1\"," PORT_ ","
	 "[\"b\",1,\"0:4:0.0\",\"0:1:0.0/0:3:0.0\",\"-1\",\"15b3:1\",\"1\"," PORT_,
	 "└─ 0:1:0.0\n"
	 "   ├─ 0:2:0.0 a: 15b3:1, firmware 1\n"
	 "   │  └─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"
	 "   └─ 0:3:0.0\n"
	 "      └─ 0:4:0.0 b: 15b3:1, firmware 1\n"
	 "         └─ port 1: ACTIVE, 100 Gb/sec (4X EDR), Ethernet, e0, GIDs 0 ::1 v2\n"},
};

static void put_columns(char *json, size_t cap)
{
	size_t n = (size_t)snprintf(json, cap, "{\"columns\":[");

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		n += (size_t)snprintf(json + n, cap - n, "%s{\"name\":\"%s\",\"hex\":false}",
				      i ? "," : "", columns[i]);
}

static void test_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char json[4096], *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);
		json_t *t;

		put_columns(json, sizeof(json));
		snprintf(json + strlen(json), sizeof(json) - strlen(json), "],\"rows\":[%s]}",
			 table[i].rows);
		t = json_loads(json, 0, NULL);
		assert_non_null(t);
		assert_true(machine_text_print(f, t));
		fclose(f);
		assert_string_equal(text, table[i].tree);
		json_decref(t);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
