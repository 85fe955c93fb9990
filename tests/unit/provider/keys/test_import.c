/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts and objects that somebody else has made: what the device is asked, what the program
 * sees, and what is left when it says no.
 */
#include "emu/abi/cmd_import.h"
#include "tests/support/provider/holdings.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct uhca_cmd_import *asked(const struct verbs_fixture *f)
{
	return (const void *)f->daemon.last[UHCA_CMD_IMPORT];
}

static struct ibv_context *import(struct verbs_fixture *f)
{
	struct ibv_context *c = ibv_import_device(dup(f->context->cmd_fd));

	assert_non_null(c);
	return c;
}

/* The descriptor names the context: its device, and a token that the device gave out. */
static void test_context(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_hello *hello = (void *)f->daemon.last[UHCA_CMD_HELLO];
	struct ibv_context *c = import(f);
	struct ibv_comp_channel *channel;
	struct ibv_async_event e;
	struct ibv_pd *pd;

	assert_int_equal(f->daemon.calls[UHCA_CMD_HELLO], 2);
	assert_string_equal(hello->device, "uhca0");
	assert_int_equal(f->daemon.calls[UHCA_CMD_EXPORT], 1); /* it has a name already */
	assert_int_equal(asked(f)->type, UHCA_ABI_IMPORT_CONTEXT);
	assert_int_equal(asked(f)->handle, 0);
	assert_memory_equal(asked(f)->token, FAKE_TOKEN, UHCA_ABI_TOKEN_SIZE);
	assert_string_equal(ibv_get_device_name(c->device), "uhca0");
	assert_true(c->async_fd >= 0 && c->async_fd != f->context->async_fd);
	assert_int_equal(c->num_comp_vectors, 1);
	channel = ibv_create_comp_channel(c);
	assert_non_null(channel);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
	pd = ibv_alloc_pd(c);
	assert_non_null(pd);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	/* Events of its own, on a descriptor of its own. */
	fake_async_event(&f->daemon, 1, UHCA_ABI_EVENT_PORT_ACTIVE);
	assert_int_equal(ibv_get_async_event(c, &e), 0);
	assert_int_equal(e.event_type, IBV_EVENT_PORT_ACTIVE);
	ibv_ack_async_event(&e);
	assert_int_equal(ibv_close_device(c), 0);
	pd = ibv_alloc_pd(f->context);
	assert_non_null(pd);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_context_refused(void **state)
{
	struct verbs_fixture *f = *state;
	struct holdings before;
	int fd = dup(f->context->cmd_fd);

	assert_int_equal(ibv_close_device(import(f)), 0);
	fake_await_clients(&f->daemon, 1);
	before = holdings_now();
	assert_int_equal(ibv_close_device(import(f)), 0);
	holdings_assert(before);
	f->daemon.fail[UHCA_CMD_IMPORT] = -EPERM;
	errno = 0;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, EPERM);
	assert_true(fcntl(fd, F_GETFD) >= 0); /* it stays the caller's */
	f->daemon.fail[UHCA_CMD_IMPORT] = 0;
	f->daemon.fail[UHCA_CMD_HELLO] = -ENOSPC;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, ENOSPC);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	f->daemon.fail[UHCA_CMD_HELLO] = 0;
	holdings_assert(before);
	close(fd);
}

/* Who asks for the descriptor of events must say where it is to go. */
static void test_no_place_for_events(void **state)
{
	struct ib_uverbs_ioctl_hdr h = {.length = sizeof(h),
					.object_id = UVERBS_OBJECT_ASYNC_EVENT,
					.method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC};
	struct verbs_fixture *f = *state;

	errno = 0;
	assert_int_equal(ioctl(f->context->cmd_fd, RDMA_VERBS_IOCTL, &h), -1);
	assert_int_equal(errno, EINVAL);
}

/* A file that names something else. */
static int named(const void *device, size_t length)
{
	struct uhca_abi_context_file file = {.magic = UHCA_ABI_CONTEXT_MAGIC};
	int fd = memfd_create("name", MFD_CLOEXEC);

	assert_true(fd >= 0);
	memcpy(file.device, device, length);
	assert_int_equal(write(fd, &file, sizeof(file)), sizeof(file));
	return fd;
}

static void test_other_names(void **state)
{
	const char *endless = "uhca0abcdefghijklmnopqrstuvwxyz!"; /* as long as there is room */
	struct verbs_fixture *f = *state;
	struct holdings before = holdings_now();
	int fd = named("uhca1", 6);

	errno = 0;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, ENODEV);
	close(fd);
	fd = named(endless, strlen(endless));
	errno = 0;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, EINVAL);
	close(fd);
	assert_int_equal(f->daemon.calls[UHCA_CMD_HELLO], 1);
	holdings_assert(before);
}

/* ---- objects ---- */

static void test_pd_and_mr(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_context *c = import(f);
	struct ibv_pd *pd = ibv_import_pd(c, 77);
	struct ibv_mr *mr;
	unsigned calls;

	assert_non_null(pd);
	assert_int_equal(asked(f)->type, UHCA_ABI_IMPORT_PD);
	assert_int_equal(asked(f)->handle, 77);
	assert_ptr_equal(pd->context, c);
	assert_int_equal(pd->handle, 77);
	mr = ibv_import_mr(pd, 78);
	assert_non_null(mr);
	assert_int_equal(asked(f)->type, UHCA_ABI_IMPORT_MR);
	assert_int_equal(asked(f)->handle, 78);
	assert_ptr_equal(mr->context, c);
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(mr->handle, 78);
	assert_int_equal(mr->length, 64);
	assert_int_equal(mr->lkey, 78 << 8);
	assert_int_equal(mr->rkey, mr->lkey | FAKE_RKEY_BYTE);
	calls = f->daemon.calls[UHCA_CMD_DEREG_MR] + f->daemon.calls[UHCA_CMD_DEALLOC_PD];
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DEREG_MR] + f->daemon.calls[UHCA_CMD_DEALLOC_PD],
			 calls);
	assert_int_equal(ibv_close_device(c), 0);
}

static void test_dm(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_context *c = import(f);
	struct holdings before = holdings_now();
	const uint32_t in = 0x4711;
	struct ibv_dm *dm = ibv_import_dm(c, 79);
	uint32_t out = 0;

	assert_non_null(dm);
	assert_int_equal(asked(f)->type, UHCA_ABI_IMPORT_DM);
	assert_int_equal(asked(f)->handle, 79);
	assert_ptr_equal(dm->context, c);
	assert_int_equal(dm->handle, 79);
	assert_int_equal(ibv_memcpy_to_dm(dm, 60, &in, 4), 0);
	assert_int_equal(ibv_memcpy_from_dm(&out, dm, 60, 4), 0);
	assert_int_equal(out, in);
	assert_int_equal(ibv_memcpy_to_dm(dm, 64, &in, 4), EINVAL); /* behind its end */
	ibv_unimport_dm(dm);
	assert_int_equal(f->daemon.calls[UHCA_CMD_FREE_DM], 0);
	holdings_assert(before);
	assert_int_equal(ibv_close_device(c), 0);
}

static void *import_pd(struct ibv_context *c, struct ibv_pd *pd)
{
	(void)pd;
	return ibv_import_pd(c, 5);
}

static void *import_mr(struct ibv_context *c, struct ibv_pd *pd)
{
	(void)c;
	return ibv_import_mr(pd, 5);
}

static void *import_dm(struct ibv_context *c, struct ibv_pd *pd)
{
	(void)pd;
	return ibv_import_dm(c, 5);
}

static void too_long(void *reply)
{
	((struct uhca_cmd_import_reply *)reply)->length = 4097;
}

static void too_small(void *reply)
{
	((struct uhca_cmd_import_reply *)reply)->region_size = 56;
}

static void test_refused(void **state)
{
	static void *(*const imports[])(struct ibv_context *,
					struct ibv_pd *) = {import_pd, import_mr, import_dm};
	static void (*const spoils[])(void *) = {too_long, too_small};
	struct verbs_fixture *f = *state;
	struct ibv_context *c = import(f);
	struct ibv_pd *pd = ibv_import_pd(c, 77);
	struct holdings before = holdings_now();

	f->daemon.fail[UHCA_CMD_IMPORT] = -ENOENT;
	for (unsigned i = 0; i < 3; i++) {
		errno = 0;
		assert_null(imports[i](c, pd));
		assert_int_equal(errno, ENOENT);
	}
	f->daemon.fail[UHCA_CMD_IMPORT] = 0;
	f->daemon.spoilt = UHCA_CMD_IMPORT;
	for (unsigned i = 0; i < 2; i++) {
		f->daemon.spoil = spoils[i];
		errno = 0;
		assert_null(import_dm(c, pd));
		assert_int_equal(errno, EPROTO);
	}
	f->daemon.spoil = NULL;
	holdings_assert(before);
	ibv_unimport_pd(pd);
	assert_int_equal(ibv_close_device(c), 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_context),     TEST(test_context_refused), TEST(test_no_place_for_events),
		TEST(test_other_names), TEST(test_pd_and_mr),       TEST(test_dm),
		TEST(test_refused),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
