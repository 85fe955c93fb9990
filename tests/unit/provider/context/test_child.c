/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a forked process may do with a context of its parent's: ask, and make memory of the device,
 * through a connection of its own that is made when it is needed first. Children end with exit(),
 * so that what they executed counts where that is measured, but for AddressSanitizer, which would
 * look for the parent's threads then.
 */
#include "emu/abi/cmd_import.h"
#include "tests/support/provider/quiet_fork.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAYS(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "child: %s fails, errno %d\n", #condition, errno);         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static void in_child(struct verbs_fixture *f, void (*what)(struct verbs_fixture *f))
{
	int status;
	pid_t pid;

	pid = quiet_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		what(f);
#ifdef __SANITIZE_ADDRESS__
		_exit(0);
#endif
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static bool asks(struct verbs_fixture *f)
{
	struct ibv_device_attr attr;
	int err = ibv_query_device(f->context, &attr);

	if (err)
		errno = err;
	return !err && attr.max_qp == 100;
}

static void ask_twice(struct verbs_fixture *f)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};
	uint32_t in = 5, out = 0;
	struct ibv_dm *dm;

	SAYS(asks(f));
	SAYS(asks(f));
	dm = ibv_alloc_dm(f->context, &attr);
	SAYS(dm);
	SAYS(ibv_memcpy_to_dm(dm, 0, &in, 4) == 0 && ibv_memcpy_from_dm(&out, dm, 0, 4) == 0);
	SAYS(out == 5);
	SAYS(ibv_free_dm(dm) == 0);
	SAYS(ibv_close_device(f->context) == 0);
}

/* One more connection, which joins the parent's context. */
static void test_own_connection(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_import *in = (void *)f->daemon.last[UHCA_CMD_IMPORT];
	const struct uhca_cmd_hello *hello = (void *)f->daemon.last[UHCA_CMD_HELLO];

	in_child(f, ask_twice);
	assert_int_equal(f->daemon.calls[UHCA_CMD_HELLO], 2);
	assert_int_not_equal(hello->pid, getpid());
	assert_string_equal(hello->device, "uhca0");
	assert_int_equal(f->daemon.calls[UHCA_CMD_IMPORT], 1);
	assert_int_equal(in->type, UHCA_ABI_IMPORT_CONTEXT);
	assert_memory_equal(in->token, FAKE_TOKEN, UHCA_ABI_TOKEN_SIZE);
	assert_int_equal(f->daemon.calls[UHCA_CMD_QUERY_DEVICE], 2);
	assert_int_equal(f->daemon.calls[UHCA_CMD_FREE_DM], 1);
	assert_true(asks(f)); /* the parent's goes on */
}

static void ask_in_grandchild(struct verbs_fixture *f)
{
	SAYS(asks(f));
	in_child(f, ask_twice);
	SAYS(asks(f));
}

static void test_grandchild(void **state)
{
	struct verbs_fixture *f = *state;

	in_child(f, ask_in_grandchild);
	assert_int_equal(f->daemon.calls[UHCA_CMD_HELLO], 3);
	assert_int_equal(f->daemon.calls[UHCA_CMD_IMPORT], 2);
	assert_true(asks(f));
}

static void ask_in_vain(struct verbs_fixture *f)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};

	errno = 0;
	SAYS(!asks(f) && errno == EIO);
	errno = 0;
	SAYS(!ibv_alloc_dm(f->context, &attr) && errno == EPERM);
}

static void ask_late(struct verbs_fixture *f)
{
	SAYS(!asks(f));
	SAYS(ibv_close_device(f->context) == 0);
}

/* The device lets nobody join, or is gone. */
static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.fail[UHCA_CMD_IMPORT] = -EPERM;
	in_child(f, ask_in_vain);
	assert_int_equal(f->daemon.calls[UHCA_CMD_IMPORT], 2);
	f->daemon.fail[UHCA_CMD_IMPORT] = 0;
	fake_daemon_die(&f->daemon);
	in_child(f, ask_late);
}

/* What belongs to the parent does not work, and can be given up; a device of its own does. */
static void use(struct verbs_fixture *f)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad;
	struct ibv_context *c;
	struct ibv_pd *pd;

	SAYS(ibv_post_send(f->qp, &wr, &bad) == EIO);
	SAYS(!ibv_alloc_pd(f->context) && errno == EIO);
	SAYS(ibv_destroy_qp(f->qp) == 0);
	SAYS(ibv_destroy_cq(f->cq) == 0);
	SAYS(ibv_dereg_mr(f->mr) == 0);
	SAYS(ibv_dealloc_pd(f->pd) == 0);
	SAYS(ibv_destroy_comp_channel(f->channel) == 0);
	SAYS(ibv_close_device(f->context) == 0);
	c = verbs_fixture_open();
	SAYS(c);
	pd = ibv_alloc_pd(c);
	SAYS(pd);
	SAYS(ibv_dealloc_pd(pd) == 0);
	SAYS(ibv_close_device(c) == 0);
}

static void test_own_device(void **state)
{
	struct verbs_fixture *f = *state;

	in_child(f, use);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESTROY_QP], 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_HELLO], 2);
	assert_int_equal(f->daemon.calls[UHCA_CMD_IMPORT], 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_own_connection),
		TEST(test_grandchild),
		TEST(test_refused),
		TEST(test_own_device),
	};

	(void)argc;
	with_preload(argv, 1);
#ifdef __SANITIZE_THREAD__
	puts("ThreadSanitizer knows no threads after a fork");
	return 77;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
