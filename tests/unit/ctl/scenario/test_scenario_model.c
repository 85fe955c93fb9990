/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scenario reads the records of a capture that is still being written: whole blocks only, other
 * blocks skipped, words compared as numbers or texts.
 */
#include "emu/abi/packet_metadata.h"
#include "emu/ctl/scenario/scenario_model.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct file {
	char name[32];
	int fd;
	struct scenario_model s;
};

static int setup(void **state)
{
	struct file *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memcpy(f->name, "/tmp/uhca-model-XXXXXX", 23);
	f->fd = mkstemp(f->name);
	assert_true(f->fd >= 0);
	assert_int_equal(scenario_model_open(&f->s, f->name), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct file *f = *state;

	scenario_model_close(&f->s);
	close(f->fd);
	unlink(f->name);
	free(f);
	return 0;
}

/* How many bytes of the block are written; 0: all. */
static void put_block(struct file *f, uint32_t type, const char *text, size_t only)
{
	uint32_t len = (uint32_t)((strlen(text) + 3) & ~3u) + 24;
	uint8_t block[256] = {0};
	const uint32_t head[3] = {type, len, UHCA_MODEL_PEN};

	memcpy(block, head, sizeof(head));
	memcpy(block + 20, text, strlen(text));
	memcpy(block + len - 4, &len, 4);
	len = only ? (uint32_t)only : len;
	assert_int_equal(write(f->fd, block, len), len);
}

static void test_counts(void **state)
{
	struct file *f = *state;

	put_block(f, 0x0a0d0d0au, "completion status=SUCCESS", 0);
	put_block(f, UHCA_MODEL_BLOCK,
		  "completion dev=uhca0 qp=0x11 status=SUCCESS text=\"a \\\" b=c\" n=7", 0);
	put_block(f, UHCA_MODEL_BLOCK, "completion qp=0x12 status=WR_FLUSH_ERR", 0);
	put_block(f, UHCA_MODEL_BLOCK, "completions qp=0x12", 0);
	put_block(f, UHCA_MODEL_BLOCK, "note", 0);
	assert_int_equal(scenario_model_read(&f->s), 0);
	assert_int_equal(f->s.n, 4);
	assert_int_equal(scenario_model_count(&f->s, "completion", ""), 2);
	assert_int_equal(scenario_model_count(&f->s, "note", ""), 1);
	assert_int_equal(scenario_model_count(&f->s, "completion", "status=wr_flush_err"), 1);
	assert_int_equal(scenario_model_count(&f->s, "completion", "status!=SUCCESS"), 1);
	assert_int_equal(scenario_model_count(&f->s, "completion", "qp=17  status=SUCCESS"), 1);
	assert_int_equal(scenario_model_count(&f->s, "completion", "qp=0x13"), 0);
	assert_int_equal(scenario_model_count(&f->s, "completion", "n=7"), 1);
	assert_int_equal(scenario_model_count(&f->s, "completion", "b=c"), 0);
	assert_int_equal(scenario_model_count(&f->s, "completion", "n!=7"), 0);
	assert_int_equal(scenario_model_count(&f->s, "completion", "wrong!=7"), 0);
}

static void test_grows(void **state)
{
	struct file *f = *state;

	assert_int_equal(scenario_model_read(&f->s), 0);
	put_block(f, UHCA_MODEL_BLOCK, "event type=PORT_ERR", 21);
	assert_int_equal(scenario_model_read(&f->s), 0);
	assert_int_equal(f->s.n, 0);
	assert_int_equal(lseek(f->fd, 0, SEEK_SET), 0);
	put_block(f, UHCA_MODEL_BLOCK, "event type=PORT_ERR", 0);
	for (int i = 0; i < 600; i++)
		put_block(f, UHCA_MODEL_BLOCK, "event type=PORT_ACTIVE", 0);
	assert_int_equal(scenario_model_read(&f->s), 0);
	assert_int_equal(scenario_model_count(&f->s, "event", "type=PORT_ERR"), 1);
	assert_int_equal(scenario_model_count(&f->s, "event", "type=PORT_ACTIVE"), 600);
}

static void test_garbage(void **state)
{
	struct file *f = *state;
	const uint32_t wrong[3] = {UHCA_MODEL_BLOCK, 7, UHCA_MODEL_PEN};

	assert_int_equal(write(f->fd, wrong, sizeof(wrong)), sizeof(wrong));
	assert_int_equal(scenario_model_read(&f->s), -EPROTO);
	assert_int_equal(f->s.n, 0);
}

static void test_no_file(void **state)
{
	struct scenario_model s;

	(void)state;
	assert_int_equal(scenario_model_open(&s, "/no/such/file"), -ENOENT);
	scenario_model_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_garbage, setup, teardown),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
