/* SPDX-License-Identifier: BSD-2-Clause */
/* Processors as lists and masks; shares of the host's. */
#include "emu/io/sysfs/cpus.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>

static void test_texts(void **state)
{
	static const struct {
		const char *list, *again, *mask;
	} table[] = {
		{"0", "0", "00000001"},
		{"0-3,8", "0-3,8", "0000010f"},
		{"0-51,104-155", "0-51,104-155", "0fffffff,ffffff00,00000000,000fffff,ffffffff"},
		{"31,32", "31-32", "00000001,80000000"},
		{"5-3", "", "00000000"},
		{"9999", "", "00000000"},
	};
	char text[IO_CPUS_TEXT];
	struct io_cpus c;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		io_cpus_parse(table[i].list, &c);
		assert_string_equal(io_cpus_list(&c, text), table[i].again);
		assert_string_equal(io_cpus_mask(&c, &c, text), table[i].mask);
	}
}

/* Nodes without processors of their own have those of the host, each a part, and all together. */
static void test_shares(void **state)
{
	static struct machine m = {.n_nodes = 2, .node = {{.number = 0}, {.number = 1}}};
	struct io_cpus online, a, b, none;

	(void)state;
	io_cpus_online(&online);
	io_cpus_of_node(&m, 0, &a);
	io_cpus_of_node(&m, 1, &b);
	io_cpus_of_node(&m, MACHINE_NO_NODE, &none);
	for (unsigned i = 0; i < IO_CPUS_MOST / 32; i++) {
		assert_int_equal(a.word[i] & b.word[i], 0);
		assert_int_equal(a.word[i] | b.word[i], online.word[i]);
	}
	assert_memory_equal(&none, &online, sizeof(online));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
