/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks as texts and from generators: what they have, where they are wrong, and printed again.
 */
#include "tests/support/wire/cmocka_all.h"

#include "emu/fabric/topo/topo.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_text(void **state)
{
	static const char text[] = "# two leaves\n"
				   "class 3 kmin=5K kmax=200K pmax=1% per=0\n"
				   "class 0 lossless=1 weight=3\n"
				   "pause quanta=1000\n"
				   "default link rate=40G delay=2us # all of them\n"
				   "switch leaf[0-1] buffer=12M alpha=1/16\n"
				   "host h[0-3]\n"
				   "host other\n"
				   "\n"
				   "link h[0-1] leaf0\n"
				   "link h[2-3] leaf1 loss=0.1%\n"
				   "link leaf0 leaf1 rate=100G\n"
				   "link other leaf1\n";
	struct fabric_topology t;
	struct fabric_error e;

	(void)state;
	fabric_topology_init(&t);
	assert_int_equal(fabric_topology_parse(&t, text, &e), 0);
	assert_int_equal(t.n_hosts, 5);
	assert_int_equal(t.n_switches, 2);
	assert_int_equal(t.n_links, 6);
	assert_int_equal(t.classes[3].kmin, 5000);
	assert_int_equal(t.classes[3].lossless, 1);
	assert_int_equal(t.classes[0].weight, 3);
	assert_int_equal(t.pause_quanta, 1000);
	assert_int_equal(t.nodes[1].settings.buffer, 12000000);
	assert_int_equal(t.nodes[1].settings.alpha, 1u << 28);
	assert_int_equal(fabric_topology_find(&t, "h2", 2), 4);
	assert_int_equal(t.nodes[4].index, 2);
	assert_int_equal(t.links[2].end[0], 4);
	assert_int_equal(t.links[2].end[1], 1);
	assert_int_equal(t.links[2].settings.loss, 4294967);
	assert_int_equal(t.links[2].settings.rate, UINT64_C(40000000000));
	assert_int_equal(t.links[4].settings.rate, UINT64_C(100000000000));
	assert_int_equal(t.links[4].settings.delay, 2 * FABRIC_US);
	fabric_topology_fini(&t);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text;
		unsigned line, column;
		const char *said;
	} rows[] = {
		{"hots h0", 1, 1, "did you mean 'host'?"},
		{"host h0 h0", 1, 9, "there is a node h0 already"},
		{"\nhost h[0-", 2, 9, "a range is [FIRST-LAST]"},
		{"host h[3-1]", 1, 7, "no such range"},
		{"host h*", 1, 7, "a name has letters"},
		{"host h0\nlink h0 h1", 2, 9, "unknown node 'h1': did you mean 'h0'?"},
		{"host a b\nlink a", 2, 7, "a link has two ends"},
		{"host a b\nlink a b rat=3", 2, 10, "did you mean 'rate'?"},
		{"host a b\nlink a b rate=3X", 2, 15, "not a rate such as 100G"},
		{"host a b\nlink a a", 2, 8, "a link of a to itself"},
		{"host a b c\nlink a b\nlink a c", 3, 8, "host a has a link already"},
		{"switch s bufer=3M", 1, 10, "did you mean 'buffer'?"},
		{"switch s buffer=12", 1, 17, "is not in the range"},
		{"class 8", 1, 7, "a class is 0 to 7"},
		{"class 3 kmin=9K kmax=1K", 1, 1, "kmin is above kmax"},
		{"default host x=1", 1, 9, "expected link or switch"},
		{"host a", 0, 1, "a network needs two hosts or more, not 1"},
		{"host a b", 0, 1, "host a has no link"},
		{"host a rate=3", 1, 8, "a host has no settings"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fabric_topology t;
		struct fabric_error e;

		fabric_topology_init(&t);
		assert_int_equal(fabric_topology_parse(&t, rows[i].text, &e), -EINVAL);
		if (e.line != rows[i].line || e.column != rows[i].column ||
		    !strstr(e.text, rows[i].said))
			fail_msg("%s: %u:%u: %s", rows[i].text, e.line, e.column, e.text);
		fabric_topology_fini(&t);
	}
}

static void generate(struct fabric_topology *t, const char *text)
{
	struct fabric_error e;

	fabric_topology_init(t);
	if (fabric_topology_generate(t, text, &e) < 0)
		fail_msg("%s: column %u: %s", text, e.column, e.text);
}

/* Numbers from the definitions: a fat tree has k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links. */
static void test_generators(void **state)
{
	static const struct {
		const char *text;
		uint32_t hosts, switches, links;
	} rows[] = {
		{"one-switch:21", 21, 1, 21},
		{"dumbbell:hosts=3", 6, 2, 7},
		{"leaf-spine:leaves=4,spines=2,hosts=8", 32, 6, 40},
		{"fat-tree:4", 16, 20, 48},
		{"fat-tree:k=8,rate=25G", 128, 80, 384},
		{"rail:servers=4,rails=8,spines=2", 32, 10, 48},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fabric_topology t;

		generate(&t, rows[i].text);
		assert_int_equal(t.n_hosts, rows[i].hosts);
		assert_int_equal(t.n_switches, rows[i].switches);
		assert_int_equal(t.n_links, rows[i].links);
		fabric_topology_fini(&t);
	}
}

static void test_generator_errors(void **state)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *said;
	} rows[] = {
		{"fat-tre:4", 1, "unknown topology 'fat-tre': did you mean 'fat-tree'?"},
		{"fat-tree:5", 1, "k is an even number"},
		{"fat-tree:k=4,rat=1G", 14, "did you mean 'rate'?"},
		{"one-switch:1", 1, "two hosts or more, not 1"},
		{"one-switch:5000", 12, "is not in the range 1 to 4096"},
		{"leaf-spine:leaves=4096,hosts=4000", 1, "more than"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fabric_topology t;
		struct fabric_error e;

		fabric_topology_init(&t);
		assert_int_equal(fabric_topology_generate(&t, rows[i].text, &e), -EINVAL);
		if (e.column != rows[i].column || !strstr(e.text, rows[i].said))
			fail_msg("%s: %u: %s", rows[i].text, e.column, e.text);
		fabric_topology_fini(&t);
	}
}

static char *printed(const struct fabric_topology *t)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	fabric_topology_print(t, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* What was printed reads as the same network, which prints the same. */
static void test_print(void **state)
{
	struct fabric_topology t, again;
	struct fabric_error e;
	char *first, *second;

	(void)state;
	generate(&t, "rail:servers=2,rails=2,spines=1,rate=25G,uplink=100G,loss=1/4,alpha=1/16");
	first = printed(&t);
	assert_non_null(strstr(first, "switch rail0 alpha=1/16\n"));
	assert_non_null(strstr(first, "link rail0 spine0 loss=1/4\n"));
	assert_non_null(strstr(first, "link server0.0 rail0 rate=25G loss=1/4\n"));
	fabric_topology_init(&again);
	assert_int_equal(fabric_topology_parse(&again, first, &e), 0);
	second = printed(&again);
	assert_string_equal(first, second);
	free(first);
	free(second);
	fabric_topology_fini(&t);
	fabric_topology_fini(&again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),       cmocka_unit_test(test_errors),
		cmocka_unit_test(test_generators), cmocka_unit_test(test_generator_errors),
		cmocka_unit_test(test_print),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
