/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider with the real daemon: data of every way a payload can take (inline, gathered,
 * fetched; scattered by the poll or written by the daemon), events, resets, refusals.
 */
#include "tests/support/provider/real_daemon.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static pid_t daemon_pid;

static int start(void **state)
{
	(void)state;
	daemon_pid = real_daemon_start();
	return 0;
}

static int finish(void **state)
{
	(void)state;
	real_daemon_stop(daemon_pid, SIGTERM);
	return 0;
}

static void expect(struct ibv_wc wc, uint64_t wr_id, enum ibv_wc_opcode opcode, uint32_t length)
{
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wr_id, wr_id);
	assert_int_equal(wc.opcode, opcode);
	if (opcode & IBV_WC_RECV)
		assert_int_equal(wc.byte_len, length);
}

/* Around every limit at which the way of a payload changes. */
static const uint32_t lengths[] = {0,    1,    8,    63,   64,   65,   447,   448,   449,
				   1023, 1024, 1025, 4095, 4096, 4097, 65536, 300001};

#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

static void check_send(enum ibv_qp_type type, int srq)
{
	struct verbs_pair *p = verbs_pair_create(type, srq);
	struct prng r = prng_start("traffic");

	for (size_t i = 0; i < LENGTHS; i++) {
		struct ibv_send_wr wr = {.wr_id = i,
					 .opcode = IBV_WR_SEND_WITH_IMM,
					 .send_flags = IBV_SEND_SIGNALED,
					 .imm_data = htobe32((uint32_t)i)};
		struct ibv_wc wc;
		size_t from = prng_below(&r, 5000), to = prng_below(&r, 5000);
		uint32_t n = lengths[i];
		prng_fill(&r, p->a.memory, from + n);
		memset(p->b.memory, 0xee, to + n + 1);
		if (n && n <= 64 && i % 2)
			wr.send_flags |= IBV_SEND_INLINE;
		verbs_pair_recv(&p->b, 100 + i, to, n);
		verbs_pair_send(&p->a, &wr, from, n);
		expect(verbs_pair_poll(p->a.cq), i, IBV_WC_SEND, n);
		wc = verbs_pair_poll(p->b.cq);
		expect(wc, 100 + i, IBV_WC_RECV, n);
		assert_int_equal(be32toh(wc.imm_data), i);
		assert_int_equal(wc.wc_flags & IBV_WC_WITH_IMM, IBV_WC_WITH_IMM);
		assert_memory_equal(p->b.memory + to, p->a.memory + from, n);
		assert_int_equal(p->b.memory[to + n], 0xee);
		assert_true(to == 0 || p->b.memory[to - 1] == 0xee);
	}
	verbs_pair_destroy(p);
}

static void test_send_rc(void **state)
{
	(void)state;
	check_send(IBV_QPT_RC, 0);
}

static void test_send_uc(void **state)
{
	(void)state;
	check_send(IBV_QPT_UC, 0);
}

static void test_send_srq(void **state)
{
	(void)state;
	check_send(IBV_QPT_RC, 1);
}

static void test_datagram(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_UD, 0);
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1, .grh = {.dgid = p->gid, .hop_limit = 1}};
	struct ibv_ah *ah = ibv_create_ah(p->pd, &attr);

	(void)state;
	assert_non_null(ah);
	for (size_t i = 0; lengths[i] <= 4096; i++) {
		struct ibv_send_wr wr = {.wr_id = i,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.ud = {ah, p->b.qp->qp_num, 0x11223344}};
		uint32_t n = lengths[i];
		struct ibv_wc wc;
		memset(p->a.memory, (int)i + 1, n);
		verbs_pair_recv(&p->b, i, 0, n + PAIR_GRH);
		verbs_pair_send(&p->a, &wr, 0, n);
		expect(verbs_pair_poll(p->a.cq), i, IBV_WC_SEND, 0);
		wc = verbs_pair_poll(p->b.cq);
		expect(wc, i, IBV_WC_RECV, n + PAIR_GRH);
		assert_int_equal(wc.wc_flags, IBV_WC_GRH);
		assert_int_equal(wc.sl, 8 | 2); /* UDP over IPv4: what UCX looks for */
		assert_int_equal(wc.src_qp, p->a.qp->qp_num);
		assert_memory_equal(p->b.memory + PAIR_GRH, p->a.memory, n);
	}
	assert_int_equal(ibv_destroy_ah(ah), 0);
	verbs_pair_destroy(p);
}

static void test_write_and_read(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct prng r = prng_start("traffic");

	(void)state;
	for (size_t i = 0; i < LENGTHS; i++) {
		uint32_t n = lengths[i];
		struct ibv_send_wr wr = {.wr_id = i,
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {(uintptr_t)p->b.memory + 7, p->b.mr->rkey}};
		prng_fill(&r, p->a.memory, n);
		verbs_pair_send(&p->a, &wr, 0, n);
		expect(verbs_pair_poll(p->a.cq), i, IBV_WC_RDMA_WRITE, n);
		assert_memory_equal(p->b.memory + 7, p->a.memory, n);
		wr.opcode = IBV_WR_RDMA_READ;
		verbs_pair_send(&p->a, &wr, PAIR_MEMORY / 2 + 3, n);
		expect(verbs_pair_poll(p->a.cq), i, IBV_WC_RDMA_READ, n);
		assert_memory_equal(p->a.memory + PAIR_MEMORY / 2 + 3, p->b.memory + 7, n);
	}
	verbs_pair_destroy(p);
}

static void test_atomics(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_send_wr wr = {.wr_id = 1,
				 .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.atomic = {.remote_addr = (uintptr_t)p->b.memory,
					       .compare_add = 5,
					       .rkey = p->b.mr->rkey}};
	uint64_t *remote = (void *)p->b.memory, *local = (void *)p->a.memory;

	(void)state;
	*remote = 100;
	verbs_pair_send(&p->a, &wr, 0, 8);
	expect(verbs_pair_poll(p->a.cq), 1, IBV_WC_FETCH_ADD, 8);
	assert_int_equal(*local, 100);
	assert_int_equal(*remote, 105);
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 105;
	wr.wr.atomic.swap = 7;
	verbs_pair_send(&p->a, &wr, 0, 8);
	expect(verbs_pair_poll(p->a.cq), 1, IBV_WC_COMP_SWAP, 8);
	assert_int_equal(*local, 105);
	assert_int_equal(*remote, 7);
	verbs_pair_destroy(p);
}

/* A region may have other addresses than its memory has. */
static void test_iova(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_mr *from = ibv_reg_mr_iova(p->pd, p->a.memory, 4096, 0x10000, 0);
	struct ibv_mr *to =
		ibv_reg_mr_iova(p->pd, p->b.memory, 4096, 0x7000, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_sge s = {0x10000 + 5, 11, from->lkey}, d = {0x7000 + 16, 100, to->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &s, .num_sge = 1}, *bad;
	struct ibv_recv_wr recv = {.wr_id = 2, .sg_list = &d, .num_sge = 1}, *bad_recv;

	(void)state;
	memcpy(p->a.memory + 5, "hello world", 11);
	assert_int_equal(ibv_post_recv(p->b.qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
	expect(verbs_pair_poll(p->b.cq), 2, IBV_WC_RECV, 11);
	assert_memory_equal(p->b.memory + 16, "hello world", 11);
	assert_int_equal(ibv_dereg_mr(from), 0);
	assert_int_equal(ibv_dereg_mr(to), 0);
	verbs_pair_destroy(p);
}

/* What was gathered early is checked as if the device had read it. */
static void test_gathered_is_checked(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_pd *other = ibv_alloc_pd(p->context);
	struct ibv_mr *foreign = ibv_reg_mr(other, p->a.memory, 64, 0);
	struct ibv_sge s = {(uintptr_t)p->a.memory, 8, foreign->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &s, .num_sge = 1}, *bad;

	(void)state;
	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
	assert_int_equal(verbs_pair_poll(p->a.cq).status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(ibv_dereg_mr(foreign), 0);
	assert_int_equal(ibv_dealloc_pd(other), 0);
	verbs_pair_destroy(p);
}

/* Memory is complete when dereg_mr returns, although nobody has polled. */
static void test_dereg_before_poll(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};

	(void)state;
	memcpy(p->a.memory, "hello", 5);
	verbs_pair_recv(&p->b, 1, 0, 100);
	verbs_pair_send(&p->a, &wr, 0, 5);
	expect(verbs_pair_poll(p->a.cq), 0, IBV_WC_SEND, 5); /* so it has arrived */
	assert_int_equal(ibv_dereg_mr(p->b.mr), 0);
	p->b.mr = NULL;
	assert_memory_equal(p->b.memory, "hello", 5);
	expect(verbs_pair_poll(p->b.cq), 1, IBV_WC_RECV, 5);
	verbs_pair_destroy(p);
}

/* ---- events ---- */

static void wait_event(struct verbs_pair *p)
{
	struct pollfd fd = {.fd = p->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(poll(&fd, 1, PAIR_DEADLINE_S * 1000), 1);
	assert_int_equal(ibv_get_cq_event(p->channel, &cq, &context), 0);
	assert_ptr_equal(cq, p->b.cq);
	ibv_ack_cq_events(cq, 1);
}

#define ROUNDS 500u

/* Arm, look, sleep: with a sender that never waits, no wake-up is lost. */
static void *sender(void *arg)
{
	struct verbs_pair *p = arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
		verbs_pair_send(&p->a, &wr, 0, 8);
		if (verbs_pair_poll(p->a.cq).status != IBV_WC_SUCCESS)
			return p;
	}
	return NULL;
}

static void test_events(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	unsigned posted = 0, got = 0;
	struct ibv_wc wc;
	void *result;
	pthread_t t;

	(void)state;
	for (; posted < PAIR_WR; posted++)
		verbs_pair_recv(&p->b, posted, 0, 8);
	assert_int_equal(pthread_create(&t, NULL, sender, p), 0);
	while (got < ROUNDS) {
		int n;
		assert_int_equal(ibv_req_notify_cq(p->b.cq, 0), 0);
		while ((n = ibv_poll_cq(p->b.cq, 1, &wc)) == 1) {
			expect(wc, got++, IBV_WC_RECV, 8);
			verbs_pair_recv(&p->b, posted++, 0, 8);
		}
		assert_int_equal(n, 0);
		if (got < ROUNDS)
			wait_event(p);
	}
	assert_int_equal(pthread_join(t, &result), 0);
	assert_null(result);
	verbs_pair_destroy(p);
}

/* Armed for solicited completions only. */
static void test_solicited(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
	struct pollfd fd = {.fd = p->channel->fd, .events = POLLIN};

	(void)state;
	verbs_pair_recv(&p->b, 0, 0, 8);
	verbs_pair_recv(&p->b, 1, 0, 8);
	assert_int_equal(ibv_req_notify_cq(p->b.cq, 1), 0);
	verbs_pair_send(&p->a, &wr, 0, 8);
	expect(verbs_pair_poll(p->a.cq), 0, IBV_WC_SEND, 8);
	expect(verbs_pair_poll(p->b.cq), 0, IBV_WC_RECV, 8);
	assert_int_equal(poll(&fd, 1, 0), 0);
	wr.send_flags |= IBV_SEND_SOLICITED;
	verbs_pair_send(&p->a, &wr, 0, 8);
	wait_event(p);
	expect(verbs_pair_poll(p->b.cq), 1, IBV_WC_RECV, 8);
	verbs_pair_destroy(p);
}

static void test_srq_limit(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 1);
	struct ibv_srq_attr attr = {.srq_limit = 2};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct pollfd fd = {.fd = p->context->async_fd, .events = POLLIN};
	struct ibv_async_event e;
	bool limit = false;

	(void)state;
	verbs_pair_recv(&p->b, 0, 0, 8);
	verbs_pair_recv(&p->b, 1, 0, 8);
	assert_int_equal(ibv_modify_srq(p->srq, &attr, IBV_SRQ_LIMIT), 0);
	verbs_pair_send(&p->a, &wr, 0, 8);
	while (!limit) { /* COMM_EST may come before */
		assert_int_equal(poll(&fd, 1, PAIR_DEADLINE_S * 1000), 1);
		assert_int_equal(ibv_get_async_event(p->context, &e), 0);
		limit = e.event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
		if (limit)
			assert_ptr_equal(e.element.srq, p->srq);
		ibv_ack_async_event(&e);
	}
	verbs_pair_destroy(p);
}

/* ---- states ---- */

static void to_state(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.qp_state = to};

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

/* In the error state posts are flushed, in order, also those that come later. */
static void test_flush(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		verbs_pair_recv(&p->b, i, 0, 8);
	to_state(p->b.qp, IBV_QPS_ERR);
	for (uint64_t i = 5; i < 10; i++)
		verbs_pair_recv(&p->b, i, 0, 8);
	for (uint64_t i = 0; i < 10; i++) {
		struct ibv_wc wc = verbs_pair_poll(p->b.cq);
		assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
		assert_int_equal(wc.wr_id, i);
	}
	verbs_pair_destroy(p);
}

/* A pair that was reset starts again as if it were new. */
static void test_reset(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		struct ibv_send_wr wr = {
			.wr_id = round, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
		struct ibv_wc wc;
		for (unsigned i = 0; i < 5; i++)
			verbs_pair_recv(&p->b, 10 * round + i, 0, 8);
		verbs_pair_send(&p->a, &wr, 0, 8);
		verbs_pair_send(&p->a, &wr, 0, 8);
		expect(verbs_pair_poll(p->a.cq), round, IBV_WC_SEND, 8);
		expect(verbs_pair_poll(p->a.cq), round, IBV_WC_SEND, 8);
		expect(verbs_pair_poll(p->b.cq), 10 * round, IBV_WC_RECV, 8);
		/* One completion is not polled, three receives are not used: both are gone. */
		to_state(p->a.qp, IBV_QPS_RESET);
		to_state(p->b.qp, IBV_QPS_RESET);
		assert_int_equal(ibv_poll_cq(p->b.cq, 1, &wc), 0);
		verbs_pair_connect(p, p->a.qp, p->b.qp->qp_num);
		verbs_pair_connect(p, p->b.qp, p->a.qp->qp_num);
	}
	verbs_pair_destroy(p);
}

static void test_busy(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 1);

	(void)state;
	assert_int_equal(ibv_dealloc_pd(p->pd), EBUSY);
	assert_int_equal(ibv_destroy_cq(p->a.cq), EBUSY);
	assert_int_equal(ibv_destroy_srq(p->srq), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(p->channel), EBUSY);
	verbs_pair_destroy(p);
}

/* ---- threads ---- */

#define THREADS 3u
#define LAPS    5u

/* Opens, registers, connects, sends, destroys and closes, all the time. */
static void *lap(void *arg)
{
	for (unsigned i = 0; i < LAPS; i++) {
		struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
		for (unsigned k = 0; k < 50; k++) {
			struct ibv_send_wr wr = {
				.wr_id = k, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
			p->a.memory[0] = (uint8_t)k;
			verbs_pair_recv(&p->b, k, 0, 1);
			verbs_pair_send(&p->a, &wr, 0, 1);
			expect(verbs_pair_poll(p->a.cq), k, IBV_WC_SEND, 1);
			expect(verbs_pair_poll(p->b.cq), k, IBV_WC_RECV, 1);
			assert_int_equal(p->b.memory[0], (uint8_t)k);
		}
		verbs_pair_destroy(p);
	}
	return arg;
}

static void test_threads(void **state)
{
	pthread_t t[THREADS];

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, lap, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
}

/* ---- the daemon's end ---- */

/* Every request is completed once: those that were done before, then the rest flushed. */
static void test_daemon_killed(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_async_event e;
	uint32_t seen[2] = {0, 0};
	struct ibv_wc wc;

	(void)state;
	for (unsigned i = 0; i < PAIR_WR; i++)
		verbs_pair_recv(&p->b, i, 0, 8);
	for (unsigned i = 0; i < PAIR_WR; i++) {
		struct ibv_send_wr wr = {
			.wr_id = i, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED};
		verbs_pair_send(&p->a, &wr, 0, 8);
		if (i == PAIR_WR / 2) { /* so that some is done, and some is not */
			expect(verbs_pair_poll(p->a.cq), 0, IBV_WC_SEND, 8);
			seen[0] = 1;
			assert_int_equal(kill(daemon_pid, SIGSTOP), 0);
		}
	}
	real_daemon_stop(daemon_pid, SIGKILL);
	do { /* COMM_EST may come before */
		assert_int_equal(ibv_get_async_event(p->context, &e), 0);
		ibv_ack_async_event(&e);
	} while (e.event_type != IBV_EVENT_DEVICE_FATAL);
	for (unsigned side = 0; side < 2; side++)
		while (ibv_poll_cq(side ? p->b.cq : p->a.cq, 1, &wc) == 1) {
			assert_true(wc.status == IBV_WC_SUCCESS ||
				    wc.status == IBV_WC_WR_FLUSH_ERR);
			assert_false(seen[side] & 1u << wc.wr_id);
			seen[side] |= 1u << wc.wr_id;
		}
	assert_int_equal(seen[0], 0xffffffff);
	assert_int_equal(seen[1], 0xffffffff);
	verbs_pair_destroy(p);
	daemon_pid = real_daemon_start();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_rc),
		cmocka_unit_test(test_send_uc),
		cmocka_unit_test(test_send_srq),
		cmocka_unit_test(test_datagram),
		cmocka_unit_test(test_write_and_read),
		cmocka_unit_test(test_atomics),
		cmocka_unit_test(test_iova),
		cmocka_unit_test(test_gathered_is_checked),
		cmocka_unit_test(test_dereg_before_poll),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_solicited),
		cmocka_unit_test(test_srq_limit),
		cmocka_unit_test(test_flush),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_daemon_killed),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, start, finish);
}
