/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts that are shared: a token opens one to a client of the same device, once; then objects
 * of the one are imported by the other, with what the program that imports has to know.
 */
#include "emu/abi/cmd_import.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static struct io_test_daemon t;
static struct io_test_client a, b; /* of one device */

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	io_test_hello(&a, &t.d, "uhca0");
	io_test_hello(&b, &t.d, "uhca0");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_disconnect(&a);
	io_test_disconnect(&b);
	io_test_daemon_end(&t);
	return 0;
}

/* The token of a client's context. */
static void export_token(struct io_test_client *c, uint8_t token[UHCA_ABI_TOKEN_SIZE])
{
	static const uint8_t none[UHCA_ABI_TOKEN_SIZE];
	struct uhca_cmd_export_reply reply;

	assert_int_equal(io_test_handle(c, UHCA_CMD_EXPORT, 0, NULL), 0);
	memcpy(&reply, &c->reply, sizeof(reply));
	memcpy(token, reply.token, UHCA_ABI_TOKEN_SIZE);
	assert_memory_not_equal(token, none, sizeof(none));
}

static int import(struct io_test_client *c, uint32_t type, uint32_t handle, const uint8_t *token)
{
	struct uhca_cmd_import in = {.type = type, .handle = handle};

	if (token)
		memcpy(in.token, token, sizeof(in.token));
	return io_test_call(c, UHCA_CMD_IMPORT, &in, sizeof(in));
}

static void test_token(void **state)
{
	uint8_t token[UHCA_ABI_TOKEN_SIZE], again[UHCA_ABI_TOKEN_SIZE];
	struct io_test_client far, late;

	(void)state;
	assert_int_equal(io_test_handle(&a, UHCA_CMD_EXPORT, 1, NULL), -EINVAL);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_CONTEXT, 0, NULL), -ENODEV);
	export_token(&a, token);
	export_token(&a, again);
	assert_memory_equal(token, again, sizeof(token));
	again[UHCA_ABI_TOKEN_SIZE - 1] ^= 1;
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_CONTEXT, 0, again), -ENODEV);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_CONTEXT, 1, token), -EINVAL);
	assert_int_equal(import(&a, UHCA_ABI_IMPORT_CONTEXT, 0, token), -EINVAL); /* itself */
	io_test_hello(&far, &t.d, "uhca1");
	assert_int_equal(import(&far, UHCA_ABI_IMPORT_CONTEXT, 0, token), -ENODEV);
	io_test_disconnect(&far);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_CONTEXT, 0, token), 0);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_CONTEXT, 0, token), -EINVAL);
	export_token(&b, again); /* one for all that share it */
	assert_memory_equal(token, again, sizeof(token));
	io_test_disconnect(&a); /* and as long as one of them lives */
	io_test_hello(&late, &t.d, "uhca0");
	assert_int_equal(import(&late, UHCA_ABI_IMPORT_CONTEXT, 0, token), 0);
	a = late;
}

static struct uhca_cmd_import_reply imported(const struct io_test_client *c)
{
	struct uhca_cmd_import_reply reply;

	memcpy(&reply, &c->reply, sizeof(reply));
	return reply;
}

static void test_objects(void **state)
{
	static uint8_t memory[4096];
	struct uhca_cmd_reg_mr reg = {.addr = (uintptr_t)memory,
				      .length = sizeof(memory),
				      .iova = 0x10000,
				      .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ};
	uint8_t token[UHCA_ABI_TOKEN_SIZE];
	struct uhca_cmd_reg_mr_reply mr;

	(void)state;
	export_token(&a, token);
	assert_int_equal(io_test_handle(&a, UHCA_CMD_ALLOC_PD, 0, &reg.pd), 0);
	assert_int_equal(io_test_call(&a, UHCA_CMD_REG_MR, &reg, sizeof(reg)), 0);
	memcpy(&mr, &a.reply, sizeof(mr));
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_PD, reg.pd, NULL), -ENOENT); /* another's */
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_CONTEXT, 0, token), 0);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_PD, reg.pd, token), -EINVAL);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_PD, reg.pd, NULL), 0);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_PD, reg.pd + 1000, NULL), -ENOENT);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_MR, mr.handle, NULL), 0);
	assert_int_equal(imported(&b).lkey, mr.lkey);
	assert_int_equal(imported(&b).rkey, mr.rkey);
	assert_int_equal(imported(&b).iova, reg.iova);
	assert_int_equal(imported(&b).length, reg.length);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_MR, mr.handle + 1000, NULL), -ENOENT);
	assert_int_equal(import(&b, UHCA_ABI_IMPORT_DM, 1000, NULL), -ENOENT);
	assert_int_equal(import(&b, 77, reg.pd, NULL), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_token), TEST(test_objects)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
