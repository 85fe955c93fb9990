/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of memory, on a real daemon through the real libibverbs: regions that change, the
 * null region, device memory, memory that is not there until it is used, dma-bufs, huge pages.
 * Runs below uhca-run. Without an argument it runs all tests; the pages of huge memory are asked
 * of the system, and their absence is said.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOCAL IBV_ACCESS_LOCAL_WRITE
#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define PAGE 4096u
#define HUGE (2u << 20)
#define BIG  (100u << 10) /* no longer gathered early, nor scattered from a completion entry */

static struct verbs_pair *setup_pair(void)
{
	return verbs_pair_create(IBV_QPT_RC, 0);
}

/* One request of side a on [addr, length) of lkey, and how it ended. */
static enum ibv_wc_status run(struct verbs_pair *p, struct ibv_send_wr *wr, uint64_t addr,
			      uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {addr, length, lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	assert_int_equal(ibv_post_send(p->a.qp, wr, &bad), 0);
	return verbs_pair_poll(p->a.cq).status;
}

/* WRITE (or READ) between a's own buffer and a remote place. */
static enum ibv_wc_status rdma(struct verbs_pair *p, enum ibv_wr_opcode opcode, uint64_t remote,
			       uint32_t length, uint32_t rkey)
{
	struct ibv_send_wr wr = {.opcode = opcode, .wr.rdma = {remote, rkey}};

	return run(p, &wr, (uintptr_t)p->a.memory, length, p->a.mr->lkey);
}

static enum ibv_wc_status fetch_add(struct verbs_pair *p, uint64_t remote, uint32_t rkey,
				    uint64_t add)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .wr.atomic = {remote, add, 0, rkey}};

	return run(p, &wr, (uintptr_t)p->a.memory, 8, p->a.mr->lkey);
}

/* Both ends again in RTS after an error. */
static void recover(struct verbs_pair *p)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	assert_int_equal(ibv_modify_qp(p->a.qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(p->b.qp, &attr, IBV_QP_STATE), 0);
	verbs_pair_connect(p, p->a.qp, p->b.qp->qp_num);
	verbs_pair_connect(p, p->b.qp, p->a.qp->qp_num);
}

static uint8_t *map_pages(size_t length)
{
	uint8_t *m = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(m, MAP_FAILED);
	return m;
}

static void test_rereg_translation(void **state)
{
	struct verbs_pair *p = setup_pair();
	uint8_t *first = map_pages(PAGE), *second = map_pages(2 * PAGE);
	struct ibv_mr *mr = ibv_reg_mr(p->pd, first, PAGE, ALL);
	uint32_t old;

	(void)state;
	assert_non_null(mr);
	old = mr->rkey;
	memset(p->a.memory, 7, PAGE);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)first, 100, mr->rkey), 0);
	assert_int_equal(first[99], 7);
	assert_int_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, second, 2 * PAGE, 0), 0);
	assert_ptr_equal(mr->addr, second);
	assert_int_not_equal(mr->rkey, old);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)second + PAGE, PAGE, mr->rkey), 0);
	assert_int_equal(second[2 * PAGE - 1], 7);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)first, 100, old),
			 IBV_WC_REM_ACCESS_ERR);
	/* What cannot be is refused, and the region is as it was. */
	recover(p);
	assert_int_not_equal(
		ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, (void *)8, PAGE, 0), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)second, 100, mr->rkey), 0);
	/* And so it is locally: gathered early, or read by the device. */
	for (uint32_t n = 100; n <= 2 * PAGE; n += 2 * PAGE - 100) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
		wr.wr.rdma.remote_addr = (uintptr_t)p->b.memory;
		wr.wr.rdma.rkey = p->b.mr->rkey;
		memset(second, (int)n & 0xff, n);
		assert_int_equal(run(p, &wr, (uintptr_t)second, n, mr->lkey), 0);
		assert_memory_equal(p->b.memory, second, n);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
	munmap(first, PAGE);
	munmap(second, 2 * PAGE);
}

static void test_rereg_pd_and_access(void **state)
{
	struct verbs_pair *p = setup_pair();
	struct ibv_pd *pd = ibv_alloc_pd(p->context);
	struct ibv_mr *mr = p->b.mr;
	uint64_t at = (uintptr_t)p->b.memory;

	(void)state;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	assert_ptr_equal(mr->pd, pd);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, at, 8, mr->rkey), IBV_WC_REM_ACCESS_ERR);
	recover(p);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS,
				      p->pd, NULL, 0, IBV_ACCESS_REMOTE_READ),
			 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, at, 8, mr->rkey), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, at, 8, mr->rkey), IBV_WC_REM_ACCESS_ERR);
	assert_int_not_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
					  IBV_ACCESS_REMOTE_WRITE),
			     0);
	assert_int_equal(ibv_rereg_mr(mr, 0x80, NULL, NULL, 0, 0), IBV_REREG_MR_ERR_INPUT);
	verbs_pair_destroy(p);
}

static void test_zero_based(void **state)
{
	struct verbs_pair *p = setup_pair();
	struct ibv_mr *zero =
		ibv_reg_mr(p->pd, p->b.memory + 64, PAGE, ALL | IBV_ACCESS_ZERO_BASED);
	struct ibv_mr *far = ibv_reg_mr_iova(p->pd, p->b.memory + 64, PAGE, 0x123000040, ALL);

	(void)state;
	assert_true(zero && far);
	p->a.memory[0] = 0x5a;
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, 5, 1, zero->rkey), 0);
	assert_int_equal(p->b.memory[64 + 5], 0x5a);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, 0x123000046, 1, far->rkey), 0);
	assert_int_equal(p->b.memory[64 + 6], 0x5a);
	/* Received at a place that a completion entry names by its true address. */
	struct ibv_sge sge = {10, 100, zero->lkey};
	struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	assert_int_equal(ibv_post_recv(p->b.qp, &rwr, &bad), 0);
	assert_int_equal(run(p, &wr, (uintptr_t)p->a.memory, 1, p->a.mr->lkey), 0);
	assert_int_equal(verbs_pair_poll(p->b.cq).status, 0);
	assert_int_equal(p->b.memory[64 + 10], 0x5a);
	assert_int_equal(ibv_dereg_mr(zero) | ibv_dereg_mr(far), 0);
	verbs_pair_destroy(p);
}

static void test_null_mr(void **state)
{
	struct verbs_pair *p = setup_pair();
	struct ibv_mr *null = ibv_alloc_null_mr(p->pd);

	(void)state;
	assert_non_null(null);
	assert_int_equal(null->rkey, 0);
	for (uint32_t n = 16; n <= BIG; n += BIG - 16) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
		struct ibv_sge sge = {0x1234, n, null->lkey};
		struct ibv_recv_wr rwr = {.sg_list = &sge, .num_sge = 1}, *bad;
		wr.wr.rdma.remote_addr = (uintptr_t)p->b.memory;
		wr.wr.rdma.rkey = p->b.mr->rkey;
		memset(p->b.memory, 0xee, n + 1);
		assert_int_equal(run(p, &wr, 0xdead000, n, null->lkey), 0);
		assert_int_equal(p->b.memory[0] | p->b.memory[n - 1], 0);
		assert_int_equal(p->b.memory[n], 0xee);
		wr.opcode = IBV_WR_RDMA_READ; /* dropped here */
		assert_int_equal(run(p, &wr, 0, n, null->lkey), 0);
		assert_int_equal(ibv_post_recv(p->b.qp, &rwr, &bad), 0);
		wr.opcode = IBV_WR_SEND;
		assert_int_equal(run(p, &wr, (uintptr_t)p->a.memory, n, p->a.mr->lkey), 0);
		assert_int_equal(verbs_pair_poll(p->b.cq).byte_len, n);
	}
	assert_int_not_equal(ibv_rereg_mr(null, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, ALL), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, 0, 8, null->lkey), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(null), 0);
	verbs_pair_destroy(p);
}

/* ---- device memory ---- */

static void test_dm_limits(void **state)
{
	struct verbs_pair *p = setup_pair();
	struct ibv_device_attr_ex attr;
	struct ibv_alloc_dm_attr ask = {.length = 64, .log_align_req = 13};
	struct ibv_dm *dm, *rest;
	struct ibv_mr *mr;
	uint32_t word = 1;

	(void)state;
	assert_int_equal(ibv_query_device_ex(p->context, NULL, &attr), 0);
	assert_true(attr.max_dm_size > 0);
	assert_null(ibv_alloc_dm(p->context, &ask));
	assert_int_equal(errno, EINVAL);
	ask.log_align_req = 12;
	dm = ibv_alloc_dm(p->context, &ask);
	assert_non_null(dm);
	ask.length = attr.max_dm_size;
	assert_null(ibv_alloc_dm(p->context, &ask));
	assert_int_equal(errno, ENOMEM);
	ask.length = attr.max_dm_size - 64;
	rest = ibv_alloc_dm(p->context, &ask);
	assert_non_null(rest);
	assert_int_equal(ibv_free_dm(rest), 0);
	assert_null(ibv_reg_dm_mr(p->pd, dm, 0, 64, LOCAL));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dm_mr(p->pd, dm, 4, 64, LOCAL | IBV_ACCESS_ZERO_BASED));
	assert_int_equal(errno, EINVAL);
	mr = ibv_reg_dm_mr(p->pd, dm, 4, 60, LOCAL | IBV_ACCESS_ZERO_BASED);
	assert_non_null(mr);
	assert_int_equal(ibv_free_dm(dm), EBUSY);
	assert_int_equal(ibv_memcpy_to_dm(dm, 62, &word, 4), EINVAL);
	assert_int_equal(ibv_memcpy_to_dm(dm, 64, &word, 4), EINVAL);
	assert_int_equal(ibv_memcpy_from_dm(&word, dm, 60, 4), 0);
	assert_int_equal(word, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_free_dm(dm), 0);
	verbs_pair_destroy(p);
}

/* Sends out of device memory: short ones are gathered, long ones read by the device. */
static void send_from_dm(struct verbs_pair *p, struct ibv_dm *dm, struct ibv_mr *mr)
{
	uint8_t *data = malloc(BIG);

	assert_non_null(data);
	for (uint32_t n = 64; n <= BIG; n += BIG - 64) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
		wr.wr.rdma.remote_addr = (uintptr_t)p->b.memory;
		wr.wr.rdma.rkey = p->b.mr->rkey;
		for (uint32_t i = 0; i < n; i++)
			data[i] = (uint8_t)(i * 7 + n);
		assert_int_equal(ibv_memcpy_to_dm(dm, 128, data, n), 0);
		assert_int_equal(run(p, &wr, 0, n, mr->lkey), 0);
		assert_memory_equal(p->b.memory, data, n);
		assert_int_equal(ibv_post_recv(p->b.qp,
					       &(struct ibv_recv_wr){
						       .sg_list = &(struct ibv_sge){0, n, mr->lkey},
						       .num_sge = 1},
					       &(struct ibv_recv_wr *){NULL}),
				 0);
		memset(p->a.memory, (int)n & 0x7f, n);
		wr.opcode = IBV_WR_SEND;
		assert_int_equal(run(p, &wr, (uintptr_t)p->a.memory, n, p->a.mr->lkey), 0);
		assert_int_equal(verbs_pair_poll(p->b.cq).status, 0);
		assert_int_equal(ibv_memcpy_from_dm(data, dm, 128, n), 0);
		assert_memory_equal(p->a.memory, data, n);
	}
	free(data);
}

static void test_dm_operations(void **state)
{
	struct verbs_pair *p = setup_pair();
	struct ibv_alloc_dm_attr ask = {.length = 2 * BIG};
	struct ibv_dm *dm = ibv_alloc_dm(p->context, &ask);
	struct ibv_mr *mr;
	uint64_t word = 40;

	(void)state;
	assert_non_null(dm);
	mr = ibv_reg_dm_mr(p->pd, dm, 128, BIG + 8, ALL | IBV_ACCESS_ZERO_BASED);
	assert_non_null(mr);
	send_from_dm(p, dm, mr);
	memset(p->a.memory, 0x42, BIG);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, 8, BIG, mr->rkey), 0);
	memset(p->a.memory, 0, BIG);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, 8, BIG, mr->rkey), 0);
	assert_int_equal(p->a.memory[0] + p->a.memory[BIG - 1], 2 * 0x42);
	assert_int_equal(ibv_memcpy_to_dm(dm, 128 + 16, &word, 8), 0);
	assert_int_equal(fetch_add(p, 16, mr->rkey, 2), 0);
	assert_int_equal(*(uint64_t *)(void *)p->a.memory, 40);
	assert_int_equal(ibv_memcpy_from_dm(&word, dm, 128 + 16, 8), 0);
	assert_int_equal(word, 42);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, BIG, 9, mr->rkey), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_free_dm(dm), 0);
	verbs_pair_destroy(p);
}

/* ---- on demand ---- */

/* Memory that comes and goes below a region: what is there is used, what is not is an error. */
static void come_and_go(struct verbs_pair *p, struct ibv_mr *mr, uint8_t *at)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	/* Pages that nobody has touched yet come when they are used. */
	memset(p->a.memory, 0x31, PAGE);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)at + PAGE, PAGE, mr->rkey), 0);
	assert_int_equal(at[PAGE] + at[2 * PAGE - 1], 2 * 0x31);
	assert_int_equal(fetch_add(p, (uintptr_t)at, mr->rkey, 1), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, (uintptr_t)at, 2 * PAGE, mr->rkey), 0);
	/* Gone: from afar, and from here, where nothing may crash. */
	assert_int_equal(munmap(at, 4 * PAGE), 0);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)at, 8, mr->rkey), IBV_WC_REM_OP_ERR);
	recover(p);
	assert_int_equal(rdma(p, IBV_WR_RDMA_READ, (uintptr_t)at, 8, mr->rkey), IBV_WC_REM_OP_ERR);
	recover(p);
	assert_int_equal(fetch_add(p, (uintptr_t)at, mr->rkey, 1), IBV_WC_REM_OP_ERR);
	recover(p);
	verbs_pair_recv(&p->b, 0, 0, PAGE);
	assert_int_equal(run(p, &wr, (uintptr_t)at, 16, mr->lkey), IBV_WC_LOC_PROT_ERR);
	recover(p);
	while (ibv_poll_cq(p->b.cq, 1, &(struct ibv_wc){0}) > 0)
		;
	/* And back again. */
	assert_ptr_equal(mmap(at, 4 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 at);
	memset(p->a.memory, 0x32, 8);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)at, 8, mr->rkey), 0);
	assert_int_equal(at[7], 0x32);
}

static void test_odp_explicit(void **state)
{
	struct verbs_pair *p = setup_pair();
	uint8_t *at = map_pages(4 * PAGE);
	struct ibv_mr *mr, *nowhere;

	(void)state;
	/* Nothing needs to be there at registration. */
	assert_int_equal(munmap(at, 4 * PAGE), 0);
	nowhere = ibv_reg_mr(p->pd, at, 4 * PAGE, ALL | IBV_ACCESS_ON_DEMAND);
	assert_non_null(nowhere);
	assert_int_equal(ibv_dereg_mr(nowhere), 0);
	assert_ptr_equal(mmap(at, 4 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
			 at);
	mr = ibv_reg_mr(p->pd, at, 4 * PAGE, ALL | IBV_ACCESS_ON_DEMAND);
	assert_non_null(mr);
	come_and_go(p, mr, at);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
	munmap(at, 4 * PAGE);
}

static void test_odp_implicit(void **state)
{
	struct verbs_pair *p = setup_pair();
	struct ibv_mr *mr = ibv_reg_mr(p->pd, NULL, SIZE_MAX, ALL | IBV_ACCESS_ON_DEMAND);
	uint8_t *at = map_pages(4 * PAGE);

	(void)state;
	assert_non_null(mr);
	come_and_go(p, mr, at);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
	munmap(at, 4 * PAGE);
}

static int advise(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
		  const void *at, uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {(uintptr_t)at, length, lkey};

	return ibv_advise_mr(pd, advice, flags, &sge, 1);
}

static bool is_resident(uint8_t *page)
{
	unsigned char in = 0;

	assert_int_equal(mincore(page, PAGE, &in), 0);
	return in & 1;
}

static void test_advise(void **state)
{
	const enum ibv_advise_mr_advice fetch = IBV_ADVISE_MR_ADVICE_PREFETCH;
	const enum ibv_advise_mr_advice store = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct verbs_pair *p = setup_pair();
	struct ibv_pd *pd = ibv_alloc_pd(p->context);
	uint8_t *at = map_pages(4 * PAGE);
	struct ibv_mr *mr = ibv_reg_mr(p->pd, at, 3 * PAGE, LOCAL | IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *ro = ibv_reg_mr(p->pd, at, 3 * PAGE, IBV_ACCESS_ON_DEMAND);
	struct ibv_mr *implicit = ibv_reg_mr(p->pd, NULL, SIZE_MAX, LOCAL | IBV_ACCESS_ON_DEMAND);

	(void)state;
	assert_true(pd && mr && ro && implicit);
	assert_int_equal(
		advise(p->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, 1, at, PAGE, mr->lkey), 0);
	assert_false(is_resident(at));
	assert_int_equal(advise(p->pd, store, 1, at, PAGE, mr->lkey), 0);
	assert_true(is_resident(at));
	assert_int_equal(advise(p->pd, fetch, 0, at + 2 * PAGE, 1, implicit->lkey), 0);
	assert_int_equal(advise(p->pd, fetch, 2, at, 1, mr->lkey), EINVAL);
	assert_int_equal(advise(p->pd, (enum ibv_advise_mr_advice)9, 0, at, 1, mr->lkey), ENOTSUP);
	assert_int_equal(ibv_advise_mr(p->pd, fetch, 0, NULL, 0), EINVAL);
	assert_int_equal(advise(p->pd, fetch, 0, at, 4 * PAGE, mr->lkey), EFAULT);
	assert_int_equal(advise(p->pd, fetch, 0, at, 1, mr->lkey ^ 0x700), EFAULT);
	assert_int_equal(advise(p->pd, fetch, 0, at, 1, mr->lkey ^ 1), ENOENT);
	assert_int_equal(advise(pd, fetch, 0, at, 1, mr->lkey), EPERM);
	assert_int_equal(advise(p->pd, store, 0, at, 1, ro->lkey), EPERM);
	assert_int_equal(advise(p->pd, fetch, 0, p->a.memory, 1, p->a.mr->lkey), EINVAL);
	assert_int_equal(munmap(at + PAGE, PAGE), 0);
	assert_int_equal(advise(p->pd, fetch, 0, at, 3 * PAGE, mr->lkey), EFAULT);
	assert_int_equal(ibv_dereg_mr(mr) | ibv_dereg_mr(ro) | ibv_dereg_mr(implicit), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	verbs_pair_destroy(p);
	munmap(at, PAGE);
	munmap(at + 2 * PAGE, 2 * PAGE);
}

/* ---- dma-bufs, huge pages ---- */

static void test_dmabuf(void **state)
{
	struct verbs_pair *p = setup_pair();
	int fd = memfd_create("dmabuf", MFD_CLOEXEC), pipes[2];
	uint8_t bytes[4];
	struct ibv_mr *mr;

	(void)state;
	assert_int_equal(ftruncate(fd, 4 * PAGE), 0);
	assert_int_equal(pipe(pipes), 0);
	mr = ibv_reg_dmabuf_mr(p->pd, PAGE + 16, 2 * PAGE, 0x70010, fd, ALL);
	assert_non_null(mr);
	memcpy(p->a.memory, "dma", 4);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, 0x71010, 4, mr->rkey), 0);
	assert_int_equal(pread(fd, bytes, 4, 2 * PAGE + 16), 4);
	assert_memory_equal(bytes, "dma", 4);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, 0x70010 + 2 * PAGE - 3, 4, mr->rkey),
			 IBV_WC_REM_ACCESS_ERR);
	assert_null(ibv_reg_dmabuf_mr(p->pd, 0, 5 * PAGE, 0, fd, ALL));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dmabuf_mr(p->pd, 8, PAGE, 0, fd, ALL));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, fd, ALL | IBV_ACCESS_ON_DEMAND));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, pipes[0], ALL));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_reg_dmabuf_mr(p->pd, 0, PAGE, 0, -1, ALL));
	assert_int_equal(errno, EBADF);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

static void use_huge(struct verbs_pair *p, uint8_t *at, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, at, HUGE, ALL | access);

	assert_non_null(mr);
	memset(p->a.memory, access & 0x7f ? 3 : 4, BIG);
	assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (uintptr_t)at + HUGE - BIG, BIG, mr->rkey), 0);
	assert_memory_equal(at + HUGE - BIG, p->a.memory, BIG);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_huge_pages(void **state)
{
	uint8_t *at = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	struct verbs_pair *p;

	(void)state;
	if (at == MAP_FAILED) {
		printf("no huge pages are set aside here (vm.nr_hugepages)\n");
		skip();
	}
	p = setup_pair();
	use_huge(p, at, 0);
	use_huge(p, at, IBV_ACCESS_HUGETLB);
	use_huge(p, at, IBV_ACCESS_ON_DEMAND);
	use_huge(p, at, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB);
	verbs_pair_destroy(p);
	munmap(at, HUGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rereg_translation),
		cmocka_unit_test(test_rereg_pd_and_access),
		cmocka_unit_test(test_zero_based),
		cmocka_unit_test(test_null_mr),
		cmocka_unit_test(test_dm_limits),
		cmocka_unit_test(test_dm_operations),
		cmocka_unit_test(test_odp_explicit),
		cmocka_unit_test(test_odp_implicit),
		cmocka_unit_test(test_advise),
		cmocka_unit_test(test_dmabuf),
		cmocka_unit_test(test_huge_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
