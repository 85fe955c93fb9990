/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many threads on one QP and one CQ, with a thread that plays the device: every request is seen
 * once by the device, and every completion once by some poller, in the order of the ring.
 */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/poll/poll_cq.h"
#include "provider/post/post_recv.h"
#include "provider/post/post_send.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define POSTERS 3u
#define POLLERS 2u
#define EACH    2000u
#define TOTAL   (POSTERS * EACH)

struct run {
	struct fixture *f;
	uint32_t next_poster; /* atomic */
	uint32_t polled;      /* atomic */
	uint8_t seen[TOTAL];  /* atomic */
	uint32_t twice;       /* atomic */
};

static void *poster(void *arg)
{
	struct run *r = arg;
	uint32_t me = __atomic_fetch_add(&r->next_poster, 1, __ATOMIC_RELAXED);
	char byte = 'x';
	struct ibv_sge sge = {(uintptr_t)&byte, 1, 0};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_INLINE,
				 .sg_list = &sge,
				 .num_sge = 1};
	struct ibv_send_wr *bad;

	for (uint32_t i = 0; i < EACH; i++) {
		wr.wr_id = me * EACH + i;
		while (uhcav_post_send(&r->f->qp.qp, &wr, &bad) == ENOMEM)
			sched_yield();
	}
	return NULL;
}

static void *poller(void *arg)
{
	struct run *r = arg;
	struct ibv_wc wc[3];

	while (__atomic_load_n(&r->polled, __ATOMIC_RELAXED) < TOTAL) {
		int n = uhcav_poll_cq(&r->f->cq.cq, 3, wc);
		for (int i = 0; i < n; i++)
			if (__atomic_fetch_add(&r->seen[wc[i].wr_id], 1, __ATOMIC_RELAXED))
				__atomic_fetch_add(&r->twice, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&r->polled, (uint32_t)(n > 0 ? n : 0), __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The device: takes requests in order, retires them, completes them when the CQ has room. */
static void *device(void *arg)
{
	struct fixture *f = ((struct run *)arg)->f;
	struct uhca_abi_cqe e = {.qpn = FIXTURE_QPN};

	for (uint32_t i = 0; i < TOTAL; i++) {
		while (uhca_ring_observe(&f->queue.send.producer) == i)
			sched_yield();
		while (i - uhca_ring_observe(&f->cq_page.ring.consumer) >= FIXTURE_CQE)
			sched_yield();
		e.wr_id = fixture_sent(f, i)->wr_id;
		e.wqe_index = i;
		uhca_ring_publish(&f->queue.send.consumer, i + 1);
		fixture_complete(f, &e);
	}
	return NULL;
}

static void test_one_qp_many_threads(void **state)
{
	struct run *r = calloc(1, sizeof(*r));
	pthread_t t[POSTERS + POLLERS + 1];
	unsigned n = 0;

	(void)state;
	assert_non_null(r);
	r->f = fixture_create(IBV_QPT_RC);
	for (unsigned i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&t[n++], NULL, poster, r), 0);
	for (unsigned i = 0; i < POLLERS; i++)
		assert_int_equal(pthread_create(&t[n++], NULL, poller, r), 0);
	assert_int_equal(pthread_create(&t[n++], NULL, device, r), 0);
	while (n)
		assert_int_equal(pthread_join(t[--n], NULL), 0);
	assert_int_equal(r->polled, TOTAL);
	assert_int_equal(r->twice, 0);
	fixture_destroy(r->f);
	free(r);
}

/* A program that says it has one thread pays for no lock. */
static void test_off(void **state)
{
	struct uhcav_lock l;

	(void)state;
	uhcav_lock_init(&l, true);
	uhcav_lock(&l);
	uhcav_lock(&l);
	assert_int_equal(l.held, 0);
	uhcav_unlock(&l);
	uhcav_lock_init(&l, false);
	uhcav_lock(&l);
	assert_int_equal(l.held, 1);
	uhcav_unlock(&l);
	assert_int_equal(l.held, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_one_qp_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
