/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a queue pair sends stays below its rate limit, by the clock of the program: RC, UC and UD.
 * With the argument "print" it says how fast each was.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define KBPS     400000u /* 50 MB/s */
#define LENGTH   (WORLD_SIZE / 2)
#define MESSAGES 2000u

static bool print;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int limit(struct ibv_qp *qp, uint32_t kbps, uint32_t burst)
{
	struct ibv_qp_rate_limit_attr a = {.rate_limit = kbps, .max_burst_sz = burst};

	return ibv_modify_qp_rate_limit(qp, &a);
}

static uint32_t queried(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	assert_int_equal(ibv_query_qp(qp, &a, IBV_QP_RATE_LIMIT, &init), 0);
	return a.rate_limit;
}

static void test_caps(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_qp_attr attr = {.rate_limit = 3 * KBPS};
	struct ibv_device_attr_ex a;

	assert_int_equal(ibv_query_device_ex(w->ctx, NULL, &a), 0);
	assert_true(a.packet_pacing_caps.qp_rate_limit_min <= KBPS);
	assert_true(a.packet_pacing_caps.qp_rate_limit_max >= KBPS);
	assert_true(ibv_is_qpt_supported(a.packet_pacing_caps.supported_qpts, IBV_QPT_RC));
	assert_int_equal(queried(qp), 0);
	assert_int_equal(limit(qp, KBPS, 0), 0);
	assert_int_equal(queried(qp), KBPS);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_RATE_LIMIT), 0);
	assert_int_equal(queried(qp), 3 * KBPS);
	assert_int_equal(limit(qp, a.packet_pacing_caps.qp_rate_limit_max + 1, 0), EINVAL);
	assert_int_equal(queried(qp), 3 * KBPS);
	assert_int_equal(limit(qp, 0, 0), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void post(struct world *w, struct ibv_qp *qp, struct ibv_ah *ah, const struct ibv_mr *to)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, LENGTH, w->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = ah ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = 1; /* nobody's */
		wr.wr.ud.remote_qkey = WORLD_QKEY;
	} else {
		wr.wr.rdma.rkey = to->rkey;
		wr.wr.rdma.remote_addr = (uintptr_t)w->memory + LENGTH;
	}
	assert_int_equal(ibv_post_send(qp, &wr, &bad), 0);
}

static uint64_t send_all(struct world *w, struct ibv_qp *qp, struct ibv_ah *ah)
{
	struct ibv_mr *to = ibv_reg_mr(w->pd, w->memory + LENGTH, LENGTH,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	uint64_t began = now_ns();
	unsigned posted = 0, done = 0;
	struct ibv_wc wc;

	while (done < MESSAGES) {
		for (; posted < MESSAGES && posted - done < WORLD_WR; posted++)
			post(w, qp, ah, to);
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		done++;
	}
	began = now_ns() - began;
	assert_int_equal(ibv_dereg_mr(to), 0);
	return began;
}

/* No more than the limit has for the time, but for the burst at the beginning. */
static void judge(const char *name, uint64_t took, uint64_t burst)
{
	uint64_t bits = (uint64_t)MESSAGES * LENGTH * 8, least;

	least = (bits - 8 * burst) * 1000000 / KBPS;
	if (print)
		printf("%s: %.1f Mbit/s of payload, limit %u\n", name,
		       (double)bits * 1000 / (double)took, KBPS / 1000);
	if (took < least)
		fail_msg("%s: %llu ns, at least %llu", name, (unsigned long long)took,
			 (unsigned long long)least);
}

static struct ibv_qp *make(struct world *w, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = world_init_attr(w, type);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.path_mtu = IBV_MTU_1024,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				.ah_attr = world_own_address(w->ctx)};
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);

	assert_non_null(qp);
	a.dest_qp_num = qp->qp_num;
	assert_int_equal(
		ibv_modify_qp(qp, &a,
			      IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
			 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	return qp;
}

static void test_rates(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr own = world_own_address(w->ctx);
	struct ibv_qp_attr writes = {.qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	struct ibv_ah *ah = ibv_create_ah(w->pd, &own);
	struct {
		const char *name;
		struct ibv_qp *qp;
		struct ibv_ah *ah;
	} all[] = {{"RC", world_qp(w, NULL), NULL},
		   {"UC", make(w, IBV_QPT_UC), NULL},
		   {"UD", world_datagram_qp(w), ah}};

	assert_int_equal(ibv_modify_qp(all[0].qp, &writes, IBV_QP_ACCESS_FLAGS), 0);
	for (unsigned i = 0; i < 3; i++) {
		/* Half a millisecond's worth, and the burst that goes with it. */
		assert_int_equal(limit(all[i].qp, KBPS, 0), 0);
		judge(all[i].name, send_all(w, all[i].qp, all[i].ah), KBPS / 16 + 65536);
		assert_int_equal(limit(all[i].qp, KBPS, 8192), 0);
		judge("with a burst of 8 KiB", send_all(w, all[i].qp, all[i].ah), 8192);
		assert_int_equal(limit(all[i].qp, 0, 0), 0);
		send_all(w, all[i].qp, all[i].ah);
		assert_int_equal(ibv_destroy_qp(all[i].qp), 0);
	}
	assert_int_equal(ibv_destroy_ah(ah), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_caps, world_setup, world_teardown),
		cmocka_unit_test_setup_teardown(test_rates, world_setup, world_teardown),
	};

	print = argc > 1 && !strcmp(argv[1], "print");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
