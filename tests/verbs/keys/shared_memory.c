/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that a program shares with the device (uhcadv_alloc_shared(3)) on a real daemon: to all
 * operations it is memory like any other; when it may be freed, how much there is, and what is left
 * of it when its program ends. Runs below uhca-run.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/uhcadv.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
#define PAGE 4096u
#define SIZE (256u << 10)
#define BIG  (100u << 10) /* not gathered early; several bursts */

/* A pair whose sides have shared memory of SIZE bytes each. */
struct stand {
	struct verbs_pair *p;
	uint8_t *a, *b;
	struct ibv_mr *mr_a, *mr_b;
};

static void open_stand(struct stand *s)
{
	s->p = verbs_pair_create(IBV_QPT_RC, 0);
	s->a = uhcadv_alloc_shared(s->p->context, SIZE);
	s->b = uhcadv_alloc_shared(s->p->context, SIZE);
	assert_true(s->a && s->b);
	s->mr_a = ibv_reg_mr(s->p->pd, s->a, SIZE, ALL);
	s->mr_b = ibv_reg_mr(s->p->pd, s->b, SIZE, ALL);
	assert_true(s->mr_a && s->mr_b);
}

static void close_stand(struct stand *s)
{
	assert_int_equal(uhcadv_free_shared(s->p->context, s->a), EBUSY);
	assert_int_equal(ibv_dereg_mr(s->mr_a), 0);
	assert_int_equal(ibv_dereg_mr(s->mr_b), 0);
	assert_int_equal(uhcadv_free_shared(s->p->context, s->a), 0);
	assert_int_equal(uhcadv_free_shared(s->p->context, s->b), 0);
	assert_int_equal(uhcadv_free_shared(s->p->context, s->b), EINVAL);
	verbs_pair_destroy(s->p);
}

/* One request of side a's, and how it ended. */
static enum ibv_wc_status run(struct stand *s, struct ibv_send_wr *wr, const void *at,
			      uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {(uintptr_t)at, length, lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags |= IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(s->p->a.qp, wr, &bad), 0);
	return verbs_pair_poll(s->p->a.cq).status;
}

static enum ibv_wc_status rdma(struct stand *s, enum ibv_wr_opcode opcode, const void *remote,
			       uint32_t length, uint32_t rkey)
{
	struct ibv_send_wr wr = {.opcode = opcode, .wr.rdma = {(uintptr_t)remote, rkey}};

	return run(s, &wr, s->a + 8, length, s->mr_a->lkey);
}

static void fill(uint8_t *at, uint32_t length, uint32_t seed)
{
	for (uint32_t i = 0; i < length; i++)
		at[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

static const uint32_t lengths[] = {1, 8, 100, 1000, PAGE, 10001, BIG};
#define FOR_LENGTHS(n) for (uint32_t i_ = 0, n; i_ < 7 && (n = lengths[i_]); i_++)

static void test_write_and_read(void **state)
{
	struct stand s;

	(void)state;
	open_stand(&s);
	FOR_LENGTHS(n)
	{
		fill(s.a + 8, n, n);
		memset(s.b, 0, SIZE);
		assert_int_equal(rdma(&s, IBV_WR_RDMA_WRITE, s.b + 24, n, s.mr_b->rkey), 0);
		assert_memory_equal(s.b + 24, s.a + 8, n);
		assert_int_equal(s.b[23] | s.b[24 + n], 0);
		fill(s.b + 24, n, n + 1);
		assert_int_equal(rdma(&s, IBV_WR_RDMA_READ, s.b + 24, n, s.mr_b->rkey), 0);
		assert_memory_equal(s.b + 24, s.a + 8, n);
	}
	assert_int_equal(rdma(&s, IBV_WR_RDMA_READ, s.b + SIZE - 4, 8, s.mr_b->rkey),
			 IBV_WC_REM_ACCESS_ERR);
	close_stand(&s);
}

static void test_send_and_receive(void **state)
{
	struct stand s;

	(void)state;
	open_stand(&s);
	FOR_LENGTHS(n)
	{
		struct ibv_sge sge = {(uintptr_t)s.b, n, s.mr_b->lkey};
		struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad;
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
		if (n <= 64)
			wr.send_flags = IBV_SEND_INLINE;
		fill(s.a, n, n);
		memset(s.b, 0, SIZE);
		assert_int_equal(ibv_post_recv(s.p->b.qp, &rwr, &bad), 0);
		assert_int_equal(run(&s, &wr, s.a, n, s.mr_a->lkey), 0);
		assert_int_equal(verbs_pair_poll(s.p->b.cq).byte_len, n);
		assert_memory_equal(s.b, s.a, n);
		assert_int_equal(s.b[n], 0);
	}
	close_stand(&s);
}

/* From and to memory that is not shared. */
static void test_mixed(void **state)
{
	struct stand s;
	struct verbs_pair *p;

	(void)state;
	open_stand(&s);
	p = s.p;
	FOR_LENGTHS(n)
	{
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
		fill(s.a + 8, n, n);
		assert_int_equal(rdma(&s, IBV_WR_RDMA_WRITE, p->b.memory, n, p->b.mr->rkey), 0);
		assert_memory_equal(p->b.memory, s.a + 8, n);
		wr.wr.rdma.remote_addr = (uintptr_t)s.b;
		wr.wr.rdma.rkey = s.mr_b->rkey;
		assert_int_equal(run(&s, &wr, p->b.memory, n, p->b.mr->lkey), 0);
		assert_memory_equal(s.b, s.a + 8, n);
	}
	close_stand(&s);
}

static void test_atomics(void **state)
{
	struct stand s;
	uint64_t *word, *old;
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD};

	(void)state;
	open_stand(&s);
	word = (uint64_t *)(void *)(s.b + 64);
	old = (uint64_t *)(void *)s.a;
	*word = 40;
	wr.wr.atomic.remote_addr = (uintptr_t)word;
	wr.wr.atomic.rkey = s.mr_b->rkey;
	wr.wr.atomic.compare_add = 2;
	assert_int_equal(run(&s, &wr, old, 8, s.mr_a->lkey), 0);
	assert_int_equal(*old, 40);
	assert_int_equal(*word, 42);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	assert_int_equal(run(&s, &wr, old, 8, s.mr_a->lkey), 0);
	assert_int_equal(*old, 42);
	assert_int_equal(*word, 7);
	close_stand(&s);
}

static void test_window(void **state)
{
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED};
	struct stand s;
	struct ibv_mw *mw;
	uint32_t rkey;

	(void)state;
	open_stand(&s);
	mw = ibv_alloc_mw(s.p->pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = rkey;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){s.mr_b, (uintptr_t)s.b + PAGE, BIG,
							 IBV_ACCESS_REMOTE_WRITE};
	assert_int_equal(ibv_post_send(s.p->b.qp, &wr, &bad), 0);
	assert_int_equal(verbs_pair_poll(s.p->b.cq).status, 0);
	fill(s.a + 8, BIG, 3);
	assert_int_equal(rdma(&s, IBV_WR_RDMA_WRITE, s.b + PAGE, BIG, rkey), 0);
	assert_memory_equal(s.b + PAGE, s.a + 8, BIG);
	assert_int_equal(ibv_dereg_mr(s.mr_b), EBUSY);
	assert_int_equal(rdma(&s, IBV_WR_RDMA_READ, s.b + PAGE, 8, rkey), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
	close_stand(&s);
}

/* Addresses other than its own, and parts of other memory beside it. */
static void test_regions(void **state)
{
	struct stand s;
	struct ibv_mr *zero, *far;
	void *page;

	(void)state;
	open_stand(&s);
	zero = ibv_reg_mr(s.p->pd, s.b + 64, PAGE, ALL | IBV_ACCESS_ZERO_BASED);
	far = ibv_reg_mr_iova(s.p->pd, s.b + PAGE, PAGE, 0x123000040, ALL);
	assert_true(zero && far);
	s.a[8] = 0x5a;
	assert_int_equal(rdma(&s, IBV_WR_RDMA_WRITE, (void *)5, 1, zero->rkey), 0);
	assert_int_equal(s.b[64 + 5], 0x5a);
	assert_int_equal(rdma(&s, IBV_WR_RDMA_WRITE, (void *)0x123000046, 1, far->rkey), 0);
	assert_int_equal(s.b[PAGE + 6], 0x5a);
	assert_int_not_equal(ibv_rereg_mr(far, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL), 0);
	assert_int_equal(ibv_dereg_mr(zero) | ibv_dereg_mr(far), 0);
	/* With a page before it, which may be there already: together they are ordinary memory. */
	page = mmap(s.b - PAGE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	far = ibv_reg_mr(s.p->pd, s.b - 8, 16, ALL & ~IBV_ACCESS_MW_BIND);
	assert_non_null(far);
	assert_int_equal(rdma(&s, IBV_WR_RDMA_WRITE, s.b + 7, 1, far->rkey), 0);
	assert_int_equal(s.b[7], 0x5a);
	assert_int_equal(ibv_dereg_mr(far), 0);
	if (page != MAP_FAILED)
		munmap(page, PAGE);
	close_stand(&s);
}

/* The most that can be had at once, and that this is all there is. */
static void test_limit(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct uhcadv_device_attr attr;
	void *all, *one;

	(void)state;
	assert_int_equal(uhcadv_query_device(p->context, &attr, sizeof(attr)), 0);
	assert_true(attr.caps & UHCADV_CAP_SHARED_MEMORY);
	assert_null(uhcadv_alloc_shared(p->context, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(uhcadv_alloc_shared(p->context, attr.max_shared_size + 1));
	assert_int_equal(errno, EINVAL);
	all = uhcadv_alloc_shared(p->context, attr.max_shared_size);
	assert_non_null(all);
	assert_null(uhcadv_alloc_shared(p->context, 1));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(uhcadv_free_shared(p->context, all), 0);
	one = uhcadv_alloc_shared(p->context, 1);
	assert_non_null(one);
	verbs_pair_destroy(p); /* and what it forgot */
}

/* A client that has all there is, says so, and waits to be killed. */
__attribute__((noreturn)) static void hoard(int out)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct uhcadv_device_attr attr;
	uint8_t *at;

	if (uhcadv_query_device(p->context, &attr, sizeof(attr)))
		_exit(1);
	at = uhcadv_alloc_shared(p->context, attr.max_shared_size);
	if (!at || !ibv_reg_mr(p->pd, at, SIZE, ALL) || write(out, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void test_kill(void **state)
{
	time_t end = time(NULL) + PAIR_DEADLINE_S;
	struct verbs_pair *p;
	void *at = NULL;
	int out[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0)
		hoard(out[1]);
	close(out[1]);
	assert_int_equal(read(out[0], &byte, 1), 1);
	close(out[0]);
	p = verbs_pair_create(IBV_QPT_RC, 0);
	assert_null(uhcadv_alloc_shared(p->context, PAGE));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* The daemon hears of it when it hears of it. */
	while (!at && time(NULL) < end)
		at = uhcadv_alloc_shared(p->context, PAGE);
	assert_non_null(at);
	assert_int_equal(uhcadv_free_shared(p->context, at), 0);
	verbs_pair_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read), cmocka_unit_test(test_send_and_receive),
		cmocka_unit_test(test_mixed),          cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_window),         cmocka_unit_test(test_regions),
		cmocka_unit_test(test_limit),          cmocka_unit_test(test_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
