/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Short receives that the program copies itself when it polls (emu/abi/copy_on_poll.h), on a real
 * daemon: nobody may see that they were not in memory before. Not by another mapping of the memory,
 * in another context or on another device; not by a region that goes; not by a queue that is
 * resized; not by a program that never polls.
 */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SIZE   8192u
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_context *open_last(void)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *c;

	assert_non_null(list);
	c = ibv_open_device(list[n - 1]);
	assert_non_null(c);
	ibv_free_device_list(list);
	return c;
}

static uint8_t *map(int fd)
{
	void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void receive_at(struct verbs_pair *p, const struct ibv_mr *mr, uint64_t wr_id,
		       const uint8_t *at, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)at, length, mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1};

	assert_int_equal(ibv_post_recv(p->b.qp, &wr, &bad), 0);
}

/* A message has arrived, and nobody has polled it. */
static void send_number(struct verbs_pair *p, uint64_t n)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	memcpy(p->a.memory, &n, sizeof(n));
	verbs_pair_send(&p->a, &wr, 0, sizeof(n));
	assert_int_equal(verbs_pair_poll(p->a.cq).status, IBV_WC_SUCCESS);
}

static void expect_number(struct verbs_pair *p, const uint8_t *at, uint64_t n)
{
	struct ibv_wc wc = verbs_pair_poll(p->b.cq);

	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_memory_equal(at, &n, sizeof(n));
}

/* Somebody else who has the memory, too, by a context of its own. */
struct other {
	struct verbs_pair as; /* its context, PD and GID; sides that talk to each other */
	struct ibv_mr *alias, *own;
	uint64_t got;
};

static struct ibv_qp *other_qp(struct other *o, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.send_cq = cq,
					.recv_cq = cq,
					.cap = {4, 4, 1, 1, 0},
					.sq_sig_all = 1};
	struct ibv_qp *qp = ibv_create_qp(o->as.pd, &attr);

	assert_non_null(qp);
	verbs_pair_connect(&o->as, qp, qp->qp_num);
	return qp;
}

static void open_other(struct other *o, uint8_t *alias)
{
	*o = (struct other){.as.context = open_last()};
	assert_int_equal(ibv_query_gid(o->as.context, 1, 0, &o->as.gid), 0);
	o->as.pd = ibv_alloc_pd(o->as.context);
	assert_non_null(o->as.pd);
	o->as.a.cq = ibv_create_cq(o->as.context, 4, NULL, NULL, 0);
	assert_non_null(o->as.a.cq);
	o->as.a.qp = other_qp(o, o->as.a.cq);
	o->alias = ibv_reg_mr(o->as.pd, alias, SIZE, ACCESS);
	o->own = ibv_reg_mr(o->as.pd, &o->got, sizeof(o->got), ACCESS);
	assert_true(o->alias && o->own);
}

static void close_other(struct other *o)
{
	assert_int_equal(ibv_destroy_qp(o->as.a.qp) | ibv_destroy_cq(o->as.a.cq), 0);
	assert_int_equal(ibv_dereg_mr(o->alias) | ibv_dereg_mr(o->own), 0);
	assert_int_equal(ibv_dealloc_pd(o->as.pd) | ibv_close_device(o->as.context), 0);
}

static uint64_t read_as_other(struct other *o, const uint8_t *alias)
{
	struct ibv_sge sge = {(uintptr_t)&o->got, sizeof(o->got), o->own->lkey};
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_RDMA_READ, .sg_list = &sge, .num_sge = 1};

	wr.wr.rdma.remote_addr = (uintptr_t)alias;
	wr.wr.rdma.rkey = o->alias->rkey;
	assert_int_equal(ibv_post_send(o->as.a.qp, &wr, &bad), 0);
	assert_int_equal(verbs_pair_poll(o->as.a.cq).status, IBV_WC_SUCCESS);
	return o->got;
}

/* The device reads another mapping, of a region that another context has. */
static void test_alias(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	int fd = memfd_create("copies_on_poll", 0);
	struct ibv_mr *mr;
	struct other o;
	uint8_t *one, *two;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	one = map(fd);
	two = map(fd);
	mr = ibv_reg_mr(p->pd, one, SIZE, ACCESS);
	assert_non_null(mr);
	open_other(&o, two);
	for (uint64_t i = 1; i <= 100; i++) {
		receive_at(p, mr, i, one + 128, 8);
		send_number(p, i);
		assert_int_equal(read_as_other(&o, two + 128), i);
		expect_number(p, one + 128, i);
	}
	close_other(&o);
	assert_int_equal(ibv_dereg_mr(mr) | munmap(one, SIZE) | munmap(two, SIZE) | close(fd), 0);
	verbs_pair_destroy(p);
}

/* Deregistered and unmapped before the poll. */
static void test_region_goes(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	int fd = memfd_create("copies_on_poll", 0);
	uint8_t *still;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	still = map(fd);
	for (uint64_t i = 1; i <= 50; i++) {
		uint8_t *at = map(fd);
		struct ibv_mr *mr = ibv_reg_mr(p->pd, at, SIZE, ACCESS);

		assert_non_null(mr);
		receive_at(p, mr, i, at + 64, 8);
		send_number(p, i);
		assert_int_equal(ibv_dereg_mr(mr) | munmap(at, SIZE), 0);
		assert_memory_equal(still + 64, &i, sizeof(i));
		expect_number(p, still + 64, i);
	}
	assert_int_equal(munmap(still, SIZE) | close(fd), 0);
	verbs_pair_destroy(p);
}

/* Nobody polls: a program that looks all the same finds it soon. */
static void test_never_polled(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	const volatile uint64_t *at = (const void *)(p->b.memory + 64);
	time_t end = time(NULL) + PAIR_DEADLINE_S;

	(void)state;
	for (uint64_t i = 1; i <= 20; i++) {
		receive_at(p, p->b.mr, i, p->b.memory + 64, 8);
		send_number(p, i);
		while (*at != i)
			assert_true(time(NULL) < end);
	}
	verbs_pair_destroy(p);
}

/* What waits moves with the queue; more wait than there are slots for. */
static void test_resize(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 1);
	uint64_t next = 0;

	(void)state;
	for (unsigned n = 1; n <= PAIR_WR; n += 10) { /* no more than the queues hold */
		uint64_t from = next;

		for (unsigned i = 0; i < n; i++, next++) {
			verbs_pair_recv(&p->b, next, 8 * next, 8);
			send_number(p, next + 1000);
		}
		assert_int_equal(ibv_resize_cq(p->b.cq, (int)(n + 200)), 0);
		for (; from < next; from++)
			expect_number(p, p->b.memory + 8 * from, from + 1000);
	}
	verbs_pair_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alias),
		cmocka_unit_test(test_region_goes),
		cmocka_unit_test(test_never_polled),
		cmocka_unit_test(test_resize),
	};

	return cmocka_run_group_tests_name("copies_on_poll", tests, NULL, NULL);
}
