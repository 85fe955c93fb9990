/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The walk of a key as uhcactl is told of it: each number of the core's under its name, and the
 * reason when there is no way. Which way it is, is the core's (tests/unit/core/keys/test_walk.c),
 * in whose place ld --wrap puts one that has everything.
 */
#include "emu/io/ctl/ctl_request.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/contract/walk.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct io_test_daemon t;

/* What the core answers, and what it was asked. */
static struct core_walk answer;
static int error[2]; /* of each device */
static uint32_t asked_key;
static uint64_t asked_offset;

int __wrap_core_walk_mr(struct device *dev, uint32_t key, uint64_t offset, struct core_walk *out);
int __wrap_core_walk_mr(struct device *dev, uint32_t key, uint64_t offset, struct core_walk *out)
{
	asked_key = key;
	asked_offset = offset;
	*out = answer;
	return error[dev == t.d.ports[1].dev.core];
}

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	answer = (struct core_walk){.kind = "memory"};
	error[0] = -ENOENT;
	error[1] = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_daemon_end(&t);
	return 0;
}

static void expect(const char *request, const char *reply)
{
	char *line = io_ctl_request(&t.d.ctl.services, request, strlen(request));

	assert_non_null(line);
	assert_string_equal(line, reply);
	free(line);
}

static void test_region(void **state)
{
	struct io_test_client c;

	(void)state;
	io_test_hello(&c, &t.d, "uhca1");
	answer = (struct core_walk){.client = t.d.clients.at[0],
				    .index = 1,
				    .key_byte = 2,
				    .pd = 3,
				    .access = 4,
				    .region_key = 7,
				    .region_offset = 8,
				    .kind = "memory",
				    .iova = 9,
				    .length = 10,
				    .page_shift = 12,
				    .first_offset = 11,
				    .n_pages = 13,
				    .leaf_entries = 14,
				    .position = 15,
				    .entry = 16,
				    .in_page = 17,
				    .has_byte = true,
				    .byte = 18,
				    .n_shown = 2,
				    .shown = {{19, 20}, {21, 22}}};
	expect("{\"cmd\":\"walk\",\"key\":4294967295,\"offset\":6}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca1\",\"program\":\"test\",\"client\":1,"
	       "\"key\":4294967295,\"index\":1,\"key_byte\":2,\"pd\":3,\"access\":4,\"offset\":6,"
	       "\"steps\":[],\"region_key\":7,\"region_offset\":8,\"kind\":\"memory\",\"iova\":9,"
	       "\"length\":10,\"page_size\":4096,\"page_shift\":12,\"first_offset\":11,"
	       "\"n_pages\":13,\"leaf_entries\":14,\"position\":15,\"entry\":16,\"in_page\":17,"
	       "\"byte\":18,\"shown\":[{\"index\":19,\"page\":20},{\"index\":21,\"page\":22}]}}\n");
	assert_int_equal(asked_key, UINT32_MAX);
	assert_int_equal(asked_offset, 6);
	io_test_disconnect(&c);
}

/* A window of a region without pages that nobody has, and a key that opens nothing. */
static void test_window(void **state)
{
	(void)state;
	answer.window = answer.invalid = true;
	answer.window_of = 1;
	answer.window_offset = 2;
	answer.window_length = 3;
	answer.page_shift = 12;
	expect("{\"cmd\":\"walk\",\"key\":5}",
	       "{\"ok\":true,\"result\":{\"device\":\"uhca1\",\"program\":\"nobody\",\"client\":0,"
	       "\"key\":5,\"index\":0,\"key_byte\":0,\"pd\":0,\"access\":0,\"invalid\":true,"
	       "\"offset\":0,\"window_of\":1,\"window_offset\":2,\"window_length\":3,\"steps\":[],"
	       "\"region_key\":0,\"region_offset\":0,\"kind\":\"memory\",\"iova\":0,\"length\":0,"
	       "\"page_size\":0,\"page_shift\":12,\"first_offset\":0,\"n_pages\":0,"
	       "\"leaf_entries\":0,\"position\":0,\"entry\":0,\"in_page\":0,\"shown\":[]}}\n");
	assert_int_equal(asked_offset, 0);
}

/* The steps of a walk with these, as text. */
static void expect_steps(const struct core_walk_step *step, unsigned n, const char *text)
{
	const char *request = "{\"cmd\":\"walk\",\"key\":5}";
	json_t *reply, *steps;
	char *line, *said;

	answer.n_steps = n;
	memcpy(answer.step, step, n * sizeof(*step));
	line = io_ctl_request(&t.d.ctl.services, request, strlen(request));
	reply = json_loads(line, 0, NULL);
	assert_non_null(reply);
	steps = json_object_get(json_object_get(reply, "result"), "steps");
	said = json_dumps(steps, JSON_COMPACT);
	assert_string_equal(said, text);
	free(said);
	free(line);
	json_decref(reply);
}

static void test_steps(void **state)
{
	struct core_walk_step s = {.key = 1,
				   .access = 2,
				   .shape = UHCA_ABI_SHAPE_PAGES,
				   .name = "pages",
				   .depth = 3,
				   .iova = 4,
				   .length = 5,
				   .offset = 6,
				   .n = 7,
				   .entry = 8,
				   .in_entry = 9,
				   .page_shift = 10,
				   .first_offset = 11,
				   .round = 12,
				   .repeat = 13,
				   .n_dims = 2,
				   .count = {14, 15},
				   .index = {16, 17},
				   .stride = {18, -19},
				   .child_key = 20,
				   .child_addr = 21,
				   .part = 22,
				   .n_shown = 1,
				   .shown = {{.index = 23, .addr = 24, .bytes = 25, .key = 26}}};

	(void)state;
#define HEAD(name)                                                                                 \
	"{\"key\":1,\"shape\":\"" name "\",\"depth\":3,\"access\":2,\"iova\":4,\"length\":5,"      \
	"\"offset\":6,\"n\":7,\"entry\":8,\"in_entry\":9,"
#define TAIL                                                                                       \
	"\"child_key\":20,\"child_addr\":21,\"part\":22,"                                          \
	"\"shown\":[{\"index\":23,\"addr\":24,\"bytes\":25,\"key\":26}]}"
	expect_steps(&s, 1, "[" HEAD("pages") "\"page_shift\":10,\"first_offset\":11," TAIL "]");
	s.shape = UHCA_ABI_SHAPE_INTERLEAVED;
	s.name = "interleaved";
	expect_steps(&s, 1,
		     "[" HEAD("interleaved") "\"round\":12,\"repeat\":13,\"dims\":["
					     "{\"count\":14,\"index\":16,\"stride\":18},"
					     "{\"count\":15,\"index\":17,\"stride\":-19}]," TAIL
					     "]");
}

static void test_refusals(void **state)
{
	(void)state;
	error[1] = -EINVAL;
	expect("{\"cmd\":\"walk\",\"key\":5}",
	       "{\"ok\":false,\"error\":\"the window of key 0x5 is not bound\"}\n");
	error[1] = -ERANGE;
	expect("{\"cmd\":\"walk\",\"key\":5,\"offset\":70}",
	       "{\"ok\":false,\"error\":\"the region of key 0x5 is shorter than 70 bytes\"}\n");
	error[1] = -ENOENT;
	expect("{\"cmd\":\"walk\",\"key\":5}",
	       "{\"ok\":false,\"error\":\"no device has a region with key 0x5\"}\n");
	error[1] = 0;
	expect("{\"cmd\":\"walk\",\"key\":4294967296}",
	       "{\"ok\":false,\"error\":\"no device has a region with key 0x100000000\"}\n");
	expect("{\"cmd\":\"walk\",\"key\":\"5\"}",
	       "{\"ok\":false,\"error\":\"walk needs the numbers \\\"key\\\" and "
	       "\\\"offset\\\"\"}\n");
	expect("{\"cmd\":\"walk\",\"key\":5,\"offset\":\"6\"}",
	       "{\"ok\":false,\"error\":\"walk needs the numbers \\\"key\\\" and "
	       "\\\"offset\\\"\"}\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_region),
		TEST(test_window),
		TEST(test_steps),
		TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
