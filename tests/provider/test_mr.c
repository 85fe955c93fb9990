/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions through libibverbs: what may be registered, and what the daemon hears. */
#include "../support/cmocka_all.h"
#include "../support/verbs_fixture.h"
#include "../support/with_preload.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096u

static void test_request(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_reg_mr *in = (void *)f->daemon.last[UHCA_CMD_REG_MR];
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING;
	struct ibv_mr *mr = ibv_reg_mr(f->pd, f->memory + 8, 100, access);

	assert_non_null(mr);
	assert_int_equal(in->addr, (uintptr_t)f->memory + 8);
	assert_int_equal(in->iova, in->addr);
	assert_int_equal(in->length, 100);
	assert_int_equal(in->pd, f->pd->handle);
	/* The optional flag is a hint, and not the device's business. */
	assert_int_equal(in->access, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
	assert_ptr_equal(mr->addr, f->memory + 8);
	assert_int_equal(mr->length, 100);
	assert_ptr_equal(mr->pd, f->pd);
	assert_int_equal(mr->lkey, mr->handle << 8);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr_iova(f->pd, f->memory, 100, 0x7000, 0);
	assert_non_null(mr);
	assert_int_equal(in->iova, 0x7000);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr(f->pd, f->memory, 0, IBV_ACCESS_LOCAL_WRITE); /* grants nothing */
	assert_non_null(mr);
	assert_int_equal(in->length, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void refuse(struct verbs_fixture *f, void *addr, size_t length, int access, int err)
{
	unsigned calls = f->daemon.calls[UHCA_CMD_REG_MR];

	errno = 0;
	assert_null(ibv_reg_mr(f->pd, addr, length, (unsigned)access));
	assert_int_equal(errno, err);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REG_MR], calls);
}

static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;
	const int local = IBV_ACCESS_LOCAL_WRITE;

	refuse(f, f->memory, SIZE_MAX, local, EINVAL);
	refuse(f, f->memory, 8, IBV_ACCESS_REMOTE_WRITE, EINVAL);
	refuse(f, f->memory, 8, IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_REMOTE_READ, EINVAL);
	refuse(f, f->memory, 8, local | 1 << 9, EOPNOTSUPP); /* FLUSH_PERSISTENT */
	refuse(f, (void *)8, 8, 0, EFAULT);
}

static void test_protection(void **state)
{
	struct verbs_fixture *f = *state;
	uint8_t *p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	assert_ptr_not_equal(p, MAP_FAILED);
	refuse(f, p, 2 * PAGE, IBV_ACCESS_LOCAL_WRITE, EFAULT);
	mr = ibv_reg_mr(f->pd, p, 2 * PAGE, IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p + PAGE, PAGE);
	refuse(f, p, PAGE + 1, 0, EFAULT);
	munmap(p, PAGE);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_request),
		TEST(test_refused),
		TEST(test_protection),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
