/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An SRQ is resized while messages come and another thread posts: each receive completes once, in
 * its order, and what is in its way is refused.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define MESSAGES 4000u
#define FEW      14u /* receives that are posted at once: each size has room for them */

static struct ibv_srq *make_srq(struct world *w, uint32_t max_wr)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = max_wr, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &a);

	assert_non_null(srq);
	return srq;
}

static int resize(struct ibv_srq *srq, uint32_t max_wr)
{
	struct ibv_srq_attr a = {.max_wr = max_wr};

	return ibv_modify_srq(srq, &a, IBV_SRQ_MAX_WR);
}

static void test_sizes(void **state)
{
	struct world *w = *state;
	struct ibv_srq *srq = make_srq(w, 8);
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct ibv_device_attr device;
	struct ibv_srq_attr a;
	unsigned n = 0;

	assert_int_equal(ibv_query_device(w->ctx, &device), 0);
	assert_true(device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE);
	assert_int_equal(resize(srq, (uint32_t)device.max_srq_wr + 1), EINVAL);
	assert_int_equal(resize(srq, 0), EINVAL);
	assert_int_equal(resize(srq, 64), 0);
	assert_int_equal(ibv_query_srq(srq, &a), 0);
	assert_true(a.max_wr >= 64);
	while (n < a.max_wr && !ibv_post_srq_recv(srq, &wr, &bad))
		n++;
	assert_int_equal(n, a.max_wr); /* as many as it says, */
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	assert_int_equal(resize(srq, a.max_wr - 1), EINVAL); /* and they stay */
	assert_int_equal(resize(srq, 2 * a.max_wr), 0);
	assert_int_equal(ibv_post_srq_recv(srq, &wr, &bad), 0);
	a.srq_limit = a.max_wr + 1;
	assert_int_equal(ibv_modify_srq(srq, &a, IBV_SRQ_LIMIT), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

struct poster {
	struct ibv_srq *srq;
	struct ibv_sge sge;
	atomic_bool stop;
	atomic_ulong received;
};

static void *post_all(void *arg)
{
	struct poster *p = arg;

	for (uint64_t i = 0; i < MESSAGES && !atomic_load(&p->stop);) {
		struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &p->sge, .num_sge = 1}, *bad;
		int err = i - atomic_load(&p->received) < FEW ? ibv_post_srq_recv(p->srq, &wr, &bad)
							      : ENOMEM;

		if (err && err != ENOMEM)
			return "a post failed";
		i += !err;
	}
	return NULL;
}

static void send_one(struct ibv_qp *qp, uint64_t i)
{
	struct ibv_send_wr wr = {.wr_id = i,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .imm_data = (uint32_t)i,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static void test_under_way(void **state)
{
	static const uint32_t sizes[] = {64, 16, 200, 33, 1000, 20};
	struct world *w = *state;
	struct poster p = {.srq = make_srq(w, 16), .sge = {(uintptr_t)w->memory, 64, w->mr->lkey}};
	struct ibv_qp *qp = world_qp(w, p.srq);
	unsigned refused = 0;
	pthread_t thread;
	void *said;

	assert_int_equal(pthread_create(&thread, NULL, post_all, &p), 0);
	for (uint64_t i = 0; i < MESSAGES; i++) {
		struct ibv_wc wc;
		unsigned received = 0;

		send_one(qp, i);
		for (unsigned n = 0; n < 2; n++) {
			world_poll(w->cq, &wc);
			assert_int_equal(wc.status, IBV_WC_SUCCESS);
			if (!(wc.opcode & IBV_WC_RECV))
				continue;
			received++;
			assert_int_equal(wc.wr_id, i);
			assert_int_equal(wc.imm_data, i);
		}
		assert_int_equal(received, 1);
		atomic_fetch_add(&p.received, 1);
		if (i % 7 == 0)
			assert_int_equal(resize(p.srq, sizes[i / 7 % 6]), 0);
		/* Smaller than what is posted is refused, and harms nobody. */
		if (i % 7 == 1)
			refused += resize(p.srq, 1) == EINVAL;
	}
	atomic_store(&p.stop, true);
	assert_int_equal(pthread_join(thread, &said), 0);
	assert_null(said);
	assert_true(refused > 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(p.srq), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sizes, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_under_way, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
