/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs that fail or wait because a rule says so: the errno of the rule and nothing else, no object
 * is left, and the next call works. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what makes objects ---- */

static void *make_pd(struct world *w)
{
	return ibv_alloc_pd(w->ctx);
}

static int end_pd(void *x)
{
	return ibv_dealloc_pd(x);
}

static void *make_mr(struct world *w)
{
	return ibv_reg_mr(w->pd, w->memory, WORLD_SIZE, IBV_ACCESS_LOCAL_WRITE);
}

static int end_mr(void *x)
{
	return ibv_dereg_mr(x);
}

static void *make_mw(struct world *w)
{
	return ibv_alloc_mw(w->pd, IBV_MW_TYPE_1);
}

static int end_mw(void *x)
{
	return ibv_dealloc_mw(x);
}

static void *make_cq(struct world *w)
{
	return ibv_create_cq(w->ctx, 8, NULL, NULL, 0);
}

static int end_cq(void *x)
{
	return ibv_destroy_cq(x);
}

static void *make_qp(struct world *w)
{
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);

	return ibv_create_qp(w->pd, &attr);
}

static int end_qp(void *x)
{
	return ibv_destroy_qp(x);
}

static void *make_srq(struct world *w)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};

	return ibv_create_srq(w->pd, &attr);
}

static int end_srq(void *x)
{
	return ibv_destroy_srq(x);
}

static void *make_ah(struct world *w)
{
	struct ibv_ah_attr attr = world_own_address(w->ctx);

	return ibv_create_ah(w->pd, &attr);
}

static int end_ah(void *x)
{
	return ibv_destroy_ah(x);
}

static void *make_context(struct world *w)
{
	return ibv_open_device(w->ctx->device);
}

static int end_context(void *x)
{
	return ibv_close_device(x);
}

static const struct maker {
	const char *create, *destroy; /* NULL: it cannot fail */
	void *(*make)(struct world *w);
	int (*end)(void *x);
} makers[] = {
	{"alloc_pd", "dealloc_pd", make_pd, end_pd},
	{"reg_mr", "dereg_mr", make_mr, end_mr},
	{"alloc_mw", "dealloc_mw", make_mw, end_mw},
	{"create_cq", "destroy_cq", make_cq, end_cq},
	{"create_qp", "destroy_qp", make_qp, end_qp},
	{"create_srq", "destroy_srq", make_srq, end_srq},
	{"create_ah", "destroy_ah", make_ah, end_ah},
	{"open_device", NULL, make_context, end_context},
};
#define MAKERS (sizeof(makers) / sizeof(makers[0]))

/* Each the second time, with an errno that it would not choose itself. */
static void test_create(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < MAKERS; i++) {
		const struct maker *m = &makers[i];
		char text[100];
		void *first, *third;
		int rule;

		snprintf(text, sizeof(text), "call.fail=ENXIO call=%s nth=2", m->create);
		rule = faulty_add(text);
		first = m->make(w);
		assert_non_null(first);
		errno = 0;
		assert_null(m->make(w));
		if (m->make != make_context) /* libibverbs has its own there */
			assert_int_equal(errno, ENXIO);
		third = m->make(w);
		assert_non_null(third);
		faulty_end(rule, 1);
		assert_int_equal(m->end(first), 0);
		assert_int_equal(m->end(third), 0);
	}
}

/* The device hears of a channel with the first CQ that uses it. */
static void test_channel(void **state)
{
	struct world *w = *state;
	struct ibv_comp_channel *channel = ibv_create_comp_channel(w->ctx);
	int rule = faulty_add("call.fail=ENXIO call=create_channel nth=1");
	struct ibv_cq *cq;

	assert_null(ibv_create_cq(w->ctx, 8, NULL, channel, 0));
	assert_int_equal(errno, ENXIO);
	cq = ibv_create_cq(w->ctx, 8, NULL, channel, 0);
	assert_non_null(cq);
	faulty_end(rule, 1);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(channel), 0);
}

/* The object stays, and can be destroyed when the rule is gone. */
static void test_destroy(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < MAKERS; i++) {
		const struct maker *m = &makers[i];
		void *x = m->make(w);
		char text[100];
		int rule;

		assert_non_null(x);
		if (m->destroy) {
			snprintf(text, sizeof(text), "call.fail=EBUSY call=%s times=1", m->destroy);
			rule = faulty_add(text);
			assert_int_equal(m->end(x), EBUSY);
			faulty_end(rule, 1);
		}
		assert_int_equal(m->end(x), 0);
	}
}

static void test_modify_and_query(void **state)
{
	struct world *w = *state;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp = world_qp(w, NULL);
	int modify = faulty_add("call.fail=ETIMEDOUT call=modify_qp nth=1");
	int query = faulty_add("call.fail=ENXIO call=query_* nth=1");

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), ETIMEDOUT);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), ENXIO);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	world_assert_works(w, qp);
	faulty_end(modify, 1);
	faulty_end(query, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Whose call it is: by program, by what it names. */
static void test_selectors(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL), *other = world_qp(w, NULL);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	char text[100];
	int rule, stranger = faulty_add("call.fail=EPERM call=* program=nobody_like_this");

	snprintf(text, sizeof(text), "call.fail=EPERM call=modify_qp qp=%u", qp->qp_num);
	rule = faulty_add(text);
	assert_int_equal(ibv_modify_qp(other, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EPERM);
	faulty_end(rule, 1);
	faulty_end(stranger, 0);
	rule = faulty_add("call.fail=EPERM call=alloc_pd program=fault_calls");
	assert_null(ibv_alloc_pd(w->ctx));
	faulty_end(rule, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_qp(other), 0);
}

/* ---- limits of memory ---- */

/* As with a small RLIMIT_MEMLOCK: large regions are refused, small ones are not. */
static void test_memlock_limit(void **state)
{
	struct world *w = *state;
	size_t big = 1u << 20;
	char *memory = calloc(1, big);
	struct ibv_mr *mr;
	int rule = faulty_add("call.fail=ENOMEM call=reg_mr length>=1048576");

	assert_non_null(memory);
	errno = 0;
	assert_null(ibv_reg_mr(w->pd, memory, big, IBV_ACCESS_LOCAL_WRITE));
	assert_int_equal(errno, ENOMEM);
	mr = ibv_reg_mr(w->pd, memory, big - 1, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(mr);
	faulty_end(rule, 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	free(memory);
}

/* So many registrations, and no more. */
static void test_registration_limit(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr[5] = {NULL};
	int rule = faulty_add("call.fail=ENOMEM call=reg_mr skip=3");

	for (unsigned i = 0; i < 5; i++) {
		errno = 0;
		mr[i] = make_mr(w);
		assert_true(i < 3 ? mr[i] != NULL : mr[i] == NULL && errno == ENOMEM);
	}
	faulty_end(rule, 2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(ibv_dereg_mr(mr[i]), 0);
}

/* ---- posts ---- */

#define LIST 6u

static void expect_sent(struct world *w, uint64_t from, uint64_t to)
{
	struct ibv_wc wc;

	for (uint64_t i = from; i < to; i++) {
		world_poll(w->cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, i);
	}
	assert_int_equal(ibv_poll_cq(w->cq, 1, &wc), 0);
}

/* None, some, or all but the last of a list are posted; what was posted completes. */
static void test_post_send(void **state)
{
	static const struct {
		const char *rule;
		int err;
		unsigned first;
	} cases[] = {
		{"call.fail=EPERM call=post_send", EPERM, 0},
		{"call.fail=ENOMEM bad_wr=1 call=post_send", ENOMEM, 1},
		{"call.fail=EIO bad_wr=4 call=post_send", EIO, 4},
		{"call.fail=EIO bad_wr=99 call=post_send", EIO, LIST - 1},
	};
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_send_wr wr[LIST] = {0}, *bad;

	for (unsigned i = 0; i < LIST; i++)
		wr[i] = (struct ibv_send_wr){.wr_id = i,
					     .opcode = IBV_WR_RDMA_WRITE,
					     .send_flags = IBV_SEND_SIGNALED,
					     .next = i + 1 < LIST ? &wr[i + 1] : NULL};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rule = faulty_add(cases[i].rule);

		bad = NULL;
		assert_int_equal(ibv_post_send(qp, wr, &bad), cases[i].err);
		assert_ptr_equal(bad, &wr[cases[i].first]);
		expect_sent(w, 0, cases[i].first);
		faulty_end(rule, 1);
		assert_int_equal(ibv_post_send(qp, bad, &bad), 0);
		expect_sent(w, cases[i].first, LIST);
	}
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_post_recv(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = LIST, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_recv_wr wr[3] = {{.next = &wr[1]}, {.next = &wr[2]}, {.next = NULL}}, *bad;
	int one = faulty_add("call.fail=EPERM bad_wr=2 call=post_recv nth=1");
	int two = faulty_add("call.fail=EFAULT bad_wr=1 call=post_srq_recv nth=1");

	assert_int_equal(ibv_post_recv(qp, wr, &bad), EPERM);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(ibv_post_srq_recv(srq, wr, &bad), EFAULT);
	assert_ptr_equal(bad, &wr[1]);
	assert_int_equal(ibv_post_recv(qp, bad, &bad), 0);
	assert_int_equal(ibv_post_srq_recv(srq, wr, &bad), 0);
	faulty_end(one, 1);
	faulty_end(two, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* ibv_wr_complete posts all or nothing. */
static void test_wr_complete(void **state)
{
	struct world *w = *state;
	struct ibv_qp_init_attr_ex attr = {.send_cq = w->cq,
					   .recv_cq = w->cq,
					   .cap = {8, 1, 1, 1, 0},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .pd = w->pd,
					   .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};
	struct ibv_qp *qp = ibv_create_qp_ex(w->ctx, &attr);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	int rule = faulty_add("call.fail=ENOBUFS bad_wr=1 call=post_send nth=1");

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	for (unsigned round = 0; round < 2; round++) {
		ibv_wr_start(qpx);
		for (unsigned i = 0; i < 3; i++) {
			qpx->wr_id = i;
			qpx->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_rdma_write(qpx, 0, 0);
			ibv_wr_set_sge_list(qpx, 0, NULL);
		}
		assert_int_equal(ibv_wr_complete(qpx), round ? 0 : ENOBUFS);
		expect_sent(w, 0, round ? 3 : 0);
	}
	faulty_end(rule, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_req_notify(void **state)
{
	struct world *w = *state;
	int rule = faulty_add("call.fail=ECANCELED call=req_notify nth=1");

	assert_int_equal(ibv_req_notify_cq(w->cq, 0), ECANCELED);
	assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
	faulty_end(rule, 1);
}

/* ---- calls that take long ---- */

static int slow_done;

static void *slow_pd(void *arg)
{
	struct ibv_pd *pd = ibv_alloc_pd(arg);

	__atomic_store_n(&slow_done, 1, __ATOMIC_RELEASE);
	return pd;
}

/* One call waits; the daemon, and other contexts of the same program, go on meanwhile. */
static void test_slow(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int rule = faulty_add("call.slow=700ms call=alloc_pd nth=1");
	uint64_t begin = faulty_now();
	pthread_t thread;
	void *pd;

	slow_done = 0;
	assert_int_equal(pthread_create(&thread, NULL, slow_pd, w->same), 0);
	assert_int_equal(uhcactl_fault_wait(faulty_ctl(), rule, 1, FAULTY_DEADLINE, NULL), 0);
	pd = ibv_alloc_pd(w->ctx);
	assert_non_null(pd);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	world_assert_works(w, qp);
	assert_false(__atomic_load_n(&slow_done, __ATOMIC_ACQUIRE) && faulty_now() - begin < 700);
	assert_int_equal(pthread_join(thread, &pd), 0);
	assert_non_null(pd);
	assert_true(faulty_now() - begin >= 690);
	faulty_end(rule, 1);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* It waits and fails then; so does a post. */
static void test_slow_failure(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE}, *bad;
	int slow = faulty_add("call.slow=30ms jitter=10ms call=alloc_pd,post_send");
	int rule = faulty_add("call.fail=EACCES call=alloc_pd,post_send");

	assert_null(ibv_alloc_pd(w->ctx));
	assert_int_equal(errno, EACCES);
	assert_int_equal(ibv_post_send(qp, &wr, &bad), EACCES);
	assert_ptr_equal(bad, &wr);
	faulty_end(slow, 2);
	faulty_end(rule, 2);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A program dies while its call waits: all that it had goes at once. */
static void test_death_while_slow(void **state)
{
	struct world *w = *state;
	unsigned clients = faulty_count("client");
	int rule = faulty_add("call.slow=600s call=create_srq");
	pid_t child = fork();
	int status;

	(void)w;
	if (child == 0) {
		struct ibv_context *ctx = world_open("uhca0");
		struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};

		ibv_create_srq(ibv_alloc_pd(ctx), &attr);
		_exit(1);
	}
	assert_int_equal(uhcactl_fault_wait(faulty_ctl(), rule, 1, FAULTY_DEADLINE, NULL), 0);
	faulty_wait_count("client", clients + 1);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	faulty_wait_count("client", clients);
	faulty_end(rule, 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, faulty_setup, faulty_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_create),
		CASE(test_channel),
		CASE(test_destroy),
		CASE(test_modify_and_query),
		CASE(test_selectors),
		CASE(test_memlock_limit),
		CASE(test_registration_limit),
		CASE(test_post_send),
		CASE(test_post_recv),
		CASE(test_wr_complete),
		CASE(test_req_notify),
		CASE(test_slow),
		CASE(test_slow_failure),
		CASE(test_death_while_slow),
	};

	return cmocka_run_group_tests_name("fault_calls", tests, NULL, NULL);
}
