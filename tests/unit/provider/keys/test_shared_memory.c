/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that the daemon has mapped, too: what it hears about it, and which regions are made of it.
 * The functions are called as libuhca.so calls them, on a context of the real libibverbs.
 */
#include "provider/keys/shared_memory.h"
#include "tests/support/provider/quiet_fork.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096u

static const int all = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

static void test_memory(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_alloc_dm *in = (void *)f->daemon.last[UHCA_CMD_ALLOC_DM];
	const struct uhca_cmd_handle *freed = (void *)f->daemon.last[UHCA_CMD_FREE_DM];
	uint8_t *at = uhcav_alloc_shared(f->context, PAGE + 1);

	assert_non_null(at);
	assert_int_equal(in->length, 2 * PAGE);
	assert_int_equal(in->flags, UHCA_ABI_DM_SHARED);
	assert_int_equal((uintptr_t)at % PAGE, 0);
	for (unsigned i = 0; i < 2 * PAGE; i++)
		assert_int_equal(at[i], 0);
	memset(at, 1, 2 * PAGE);
	assert_int_equal(uhcav_free_shared(f->context, at + PAGE), EINVAL);
	assert_int_equal(uhcav_free_shared(f->context, NULL), EINVAL);
	assert_int_equal(f->daemon.calls[UHCA_CMD_FREE_DM], 0);
	f->daemon.fail[UHCA_CMD_FREE_DM] = -EBUSY;
	assert_int_equal(uhcav_free_shared(f->context, at), EBUSY);
	at[PAGE] = 2; /* it is still there */
	f->daemon.fail[UHCA_CMD_FREE_DM] = 0;
	assert_int_equal(uhcav_free_shared(f->context, at), 0);
	assert_int_equal(freed->handle, f->daemon.next_handle);
	assert_int_equal(uhcav_free_shared(f->context, at), EINVAL);
	assert_int_equal(f->daemon.calls[UHCA_CMD_FREE_DM], 2);
}

static void refuse(struct verbs_fixture *f, size_t length, int err)
{
	errno = 0;
	assert_null(uhcav_alloc_shared(f->context, length));
	assert_int_equal(errno, err);
}

static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;

	refuse(f, 0, EINVAL);
	refuse(f, SIZE_MAX, EINVAL);
	assert_int_equal(f->daemon.calls[UHCA_CMD_ALLOC_DM], 0);
	f->daemon.fail[UHCA_CMD_ALLOC_DM] = -ENOMEM;
	refuse(f, PAGE, ENOMEM);
	f->daemon.fail[UHCA_CMD_ALLOC_DM] = -EOPNOTSUPP;
	refuse(f, PAGE, EOPNOTSUPP);
	f->daemon.fail[UHCA_CMD_ALLOC_DM] = 0;
	f->daemon.mood = FAKE_SHORT_FILE;
	refuse(f, PAGE, EPROTO);
	f->daemon.mood = FAKE_ANSWERS;
	assert_int_equal(f->daemon.calls[UHCA_CMD_FREE_DM], 1);
}

static struct ibv_mr *reg(struct verbs_fixture *f, const void *at, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(f->pd, (void *)(uintptr_t)at, length, (unsigned)access);

	assert_non_null(mr);
	return mr;
}

static void test_regions(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_reg_shared_mr *in = (void *)f->daemon.last[UHCA_CMD_REG_SHARED_MR];
	uint8_t *other = uhcav_alloc_shared(f->context, PAGE);
	uint8_t *at = uhcav_alloc_shared(f->context, 2 * PAGE);
	uint32_t dm = f->daemon.next_handle;
	unsigned plain = f->daemon.calls[UHCA_CMD_REG_MR];
	struct ibv_mr *mr;
	void *page;

	assert_true(other && at);
	mr = reg(f, at + 8, 2 * PAGE - 8, all | IBV_ACCESS_RELAXED_ORDERING);
	assert_int_equal(in->dm, dm);
	assert_int_equal(in->offset, 8);
	assert_int_equal(in->length, 2 * PAGE - 8);
	assert_int_equal(in->iova, (uintptr_t)at + 8);
	assert_int_equal(in->pd, f->pd->handle);
	assert_int_equal(in->access, all);
	assert_ptr_equal(mr->addr, at + 8);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr_iova(f->pd, other, PAGE, 0x7000, all);
	assert_non_null(mr);
	assert_int_equal(in->dm, dm - 1);
	assert_int_equal(in->offset, 0);
	assert_int_equal(in->iova, 0x7000);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REG_MR], plain);
	/* On demand, and from before it, where there is another page, or there was one. */
	page = mmap(at - PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	assert_int_equal(ibv_dereg_mr(reg(f, at, PAGE, all | IBV_ACCESS_ON_DEMAND)), 0);
	assert_int_equal(ibv_dereg_mr(reg(f, at - 8, 16, all)), 0);
	assert_int_equal(uhcav_free_shared(f->context, at), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REG_MR], plain + 2);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REG_SHARED_MR], 2);
	if (page != MAP_FAILED)
		munmap(page, PAGE);
	/* The other is forgotten, and goes with the context. */
}

static bool gathered(struct verbs_fixture *f, const void *at, uint32_t lkey)
{
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_QP);
	uint32_t producer = fake_page(q)->send.producer;
	struct ibv_sge sge = {(uintptr_t)at, 8, lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_send(f->qp, &wr, &bad), 0);
	return memcmp(fake_send_data(q, producer), at, 8) == 0;
}

/* To the library it is memory like any other. */
static void test_gathered(void **state)
{
	struct verbs_fixture *f = *state;
	uint8_t *at = uhcav_alloc_shared(f->context, PAGE);
	struct ibv_mr *mr;

	assert_non_null(at);
	memcpy(at + 16, "eight by", 8);
	mr = reg(f, at, PAGE, all);
	assert_true(gathered(f, at + 16, mr->lkey));
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(uhcav_free_shared(f->context, at), 0);
}

static void test_after_the_daemon(void **state)
{
	struct verbs_fixture *f = *state;
	uint8_t *at = uhcav_alloc_shared(f->context, PAGE);

	assert_non_null(at);
	fake_daemon_die(&f->daemon);
	refuse(f, PAGE, EIO);
	at[0] = 1;
	assert_int_equal(uhcav_free_shared(f->context, at), 0);
	assert_int_equal(uhcav_free_shared(f->context, at), EINVAL);
}

/* A child has the memory and not the device. */
static int child(struct verbs_fixture *f, uint8_t *at)
{
	at[1] = at[0] + 1;
	if (uhcav_alloc_shared(f->context, PAGE) || errno != EIO)
		return 1;
	return uhcav_free_shared(f->context, at) ? 2 : 0;
}

static void test_fork(void **state)
{
	struct verbs_fixture *f = *state;
	uint8_t *at = uhcav_alloc_shared(f->context, PAGE);
	int status;
	pid_t pid;

	assert_non_null(at);
	at[0] = 5;
	pid = quiet_fork();
	if (pid == 0)
		_exit(child(f, at));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(at[1], 6);
	assert_int_equal(f->daemon.calls[UHCA_CMD_FREE_DM], 0);
	assert_int_equal(uhcav_free_shared(f->context, at), 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_memory),   TEST(test_refused),          TEST(test_regions),
		TEST(test_gathered), TEST(test_after_the_daemon), TEST(test_fork),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
