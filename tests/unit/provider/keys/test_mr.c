/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory regions through libibverbs: what may be registered, and what the daemon hears. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

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
	refuse(f, f->memory, 8, local | 1 << 10, EOPNOTSUPP); /* of no release */
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

/* ---- regions that change ---- */

/* A short message from there is gathered when it is posted: the provider knows the region. */
static bool gathered(struct verbs_fixture *f, struct ibv_qp *qp, uint64_t addr, uint32_t lkey,
		     const void *bytes)
{
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_QP);
	uint32_t producer = fake_page(q)->send.producer;
	struct ibv_sge sge = {addr, 8, lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
	return fake_send_slot(q, producer)->flags == UHCA_ABI_SEND_GATHERED &&
	       memcmp(fake_send_data(q, producer), bytes, 8) == 0;
}

static void test_rereg_request(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_rereg_mr *in = (void *)f->daemon.last[UHCA_CMD_REREG_MR];
	struct ibv_mr *mr = ibv_reg_mr(f->pd, f->memory, 64, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_pd *pd = ibv_alloc_pd(f->context);
	uint32_t handle;

	assert_non_null(mr);
	assert_non_null(pd);
	handle = mr->handle;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	assert_int_equal(in->handle, handle);
	assert_int_equal(in->flags, IBV_REREG_MR_CHANGE_PD);
	assert_int_equal(in->pd, pd->handle);
	assert_int_equal(in->access, IBV_ACCESS_LOCAL_WRITE); /* stays */
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_RELAXED_ORDERING),
			 0);
	assert_int_equal(in->flags, IBV_REREG_MR_CHANGE_ACCESS);
	assert_int_equal(in->access, IBV_ACCESS_REMOTE_READ);
	assert_int_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, f->memory + 8, 16, 0), 0);
	assert_int_equal(in->addr, (uintptr_t)f->memory + 8);
	assert_int_equal(in->iova, (uintptr_t)f->memory + 8);
	assert_int_equal(in->length, 16);
	assert_ptr_equal(mr->addr, f->memory + 8);
	assert_int_equal(mr->length, 16);
	assert_int_equal(mr->lkey, f->daemon.next_handle << 8); /* as the device says */
	assert_int_equal(mr->rkey, mr->lkey | FAKE_RKEY_BYTE);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* What is gathered follows the region; a refusal leaves it as it was. */
static void test_rereg_gathers(void **state)
{
	struct verbs_fixture *f = *state;
	uint8_t *a = f->memory, *b = f->memory + 64;
	uint64_t at_a = (uintptr_t)a, at_b = (uintptr_t)b;
	struct ibv_mr *mr = ibv_reg_mr(f->pd, a, 16, 0);
	struct ibv_qp_init_attr attr = {.send_cq = f->cq,
					.recv_cq = f->cq,
					.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 32, .max_send_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);
	uint32_t old = mr->lkey;

	assert_non_null(qp);
	verbs_fixture_modify(qp, IBV_QPS_RTS);
	memcpy(a, "the old ", 8);
	memcpy(b, "the new ", 8);
	assert_true(gathered(f, qp, at_a, old, a));
	f->daemon.fail[UHCA_CMD_REREG_MR] = -EBUSY;
	assert_int_not_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, b, 16, 0), 0);
	assert_int_equal(errno, EBUSY);
	f->daemon.fail[UHCA_CMD_REREG_MR] = 0;
	assert_true(gathered(f, qp, at_a, old, a));
	assert_false(gathered(f, qp, at_b, old, b));
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, b, 16, 0), 0);
	assert_int_not_equal(mr->lkey, old);
	assert_true(gathered(f, qp, at_b, mr->lkey, b));
	assert_false(gathered(f, qp, at_a, mr->lkey, a));
	assert_false(gathered(f, qp, at_a, old, a));
	/* On demand it is the device's alone; no more, and the provider knows it again. */
	assert_int_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_ON_DEMAND),
		0);
	assert_false(gathered(f, qp, at_b, mr->lkey, b));
	assert_int_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_ZERO_BASED),
		0);
	assert_false(gathered(f, qp, at_b, mr->lkey, b));
	assert_true(gathered(f, qp, 0, mr->lkey, b));
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), 0);
	assert_true(gathered(f, qp, at_b, mr->lkey, b));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_rereg_refused(void **state)
{
	struct verbs_fixture *f = *state;
	uint8_t *p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = ibv_reg_mr(f->pd, p, PAGE, 0);
	static const struct {
		int flags, access, err;
	} cases[] = {
		{IBV_REREG_MR_CHANGE_ACCESS, IBV_ACCESS_LOCAL_WRITE, EFAULT}, /* its page is not */
		{IBV_REREG_MR_CHANGE_ACCESS, IBV_ACCESS_REMOTE_WRITE, EINVAL},
		{IBV_REREG_MR_CHANGE_ACCESS, 1 << 10, EOPNOTSUPP},
		{IBV_REREG_MR_CHANGE_TRANSLATION, 0, EFAULT},
	};

	assert_non_null(mr);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		errno = 0;
		assert_int_not_equal(
			ibv_rereg_mr(mr, cases[i].flags, NULL, (void *)8, 8, cases[i].access), 0);
		assert_int_equal(errno, cases[i].err);
	}
	assert_int_equal(f->daemon.calls[UHCA_CMD_REREG_MR], 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, PAGE);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_request),       TEST(test_refused),       TEST(test_protection),
		TEST(test_rereg_request), TEST(test_rereg_gathers), TEST(test_rereg_refused),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
