/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults of the device itself under traffic: a QP that fails by its own, a CQ that is full before
 * its time, completions that come changed, late or never (core_ops.completion).
 */
#include "tests/sim/world/pair.h"

#define REQUESTS 40u

/* ---- queue pairs and completion queues ---- */

/* Half-way through: the rest is flushed in order, the peer hears nothing and gives up. */
static void test_qp_error(void **state)
{
	unsigned done = 0;
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	p.w->link[1][0].delay = 7000;
	for (unsigned i = 0; i < REQUESTS; i++) {
		side_recv(&p.a, 1000 + i, 400000, 10);
		side_ignore(&p.b, 500 * i, 500);
		side_write(&p.a, i, 0, 500 * i, 500);
		world_run(p.w, p.w->now + 500);
	}
	side_poll(&p.a);
	assert_int_equal(core_inject_qp_error(p.w->device[0].host.dev, p.a.qp.qpn, p.w->now), 0);
	side_wait(&p.a, 2 * REQUESTS);
	while (p.a.wc[done].status == UHCA_ABI_WC_SUCCESS)
		side_expect(&p.a, done, done, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE), done++;
	assert_true(done > 0 && done < REQUESTS);
	for (unsigned i = done; i < REQUESTS; i++)
		side_expect(&p.a, i, i, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	for (unsigned i = 0; i < REQUESTS; i++)
		side_expect(&p.a, REQUESTS + i, 1000 + i, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	assert_int_equal(side_events(&p.a, UHCA_ABI_EVENT_QP_FATAL), 1);
	assert_int_equal(vqp_state(&p.b.qp), IBV_QPS_RTS);
	side_write(&p.b, 1, 0, 0, 10);
	side_wait(&p.b, 1);
	side_expect(&p.b, 0, 1, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	pair_finish(&p);
}

static void test_cq_overrun(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	side_write(&p.a, 1, 0, 1000, 10);
	pair_expect_copy(&p.a, 0, &p.b, 1000, 10);
	side_wait(&p.a, 1);
	assert_int_equal(core_inject_cq_overrun(p.w->device[0].host.dev, p.a.cq.handle), 0);
	assert_int_equal(vevents_count(&p.a.c.async, UHCA_ABI_EVENT_CQ_ERR, &p.a.cq), 1);
	side_write(&p.a, 2, 0, 2000, 10);
	pair_expect_copy(&p.a, 0, &p.b, 2000, 10);
	side_quiet(&p.a, PAIR_SECONDS);
	assert_int_equal(vqp_state(&p.a.qp), IBV_QPS_ERR);
	assert_int_equal(side_events(&p.a, UHCA_ABI_EVENT_QP_FATAL), 1);
	assert_int_equal(vevents_count(&p.a.c.async, UHCA_ABI_EVENT_CQ_ERR, &p.a.cq), 1);
	pair_finish(&p);
}

/* ---- completions ---- */

/* What stands between the device and its CQs; world_device is its "user". */
static struct {
	struct device *of;
	uint64_t wr_id; /* this one is touched */
	bool withhold;
	uint8_t status;
	unsigned seen;
	uint32_t cqn;
	struct uhca_abi_cqe kept;
} hook;

static bool look(void *user, uint32_t cqn, struct uhca_abi_cqe *e)
{
	struct world_device *d = user;

	if (d->host.dev != hook.of)
		return true;
	hook.seen++;
	if (e->wr_id != hook.wr_id)
		return true;
	e->status = hook.status;
	hook.cqn = cqn;
	hook.kept = *e;
	return !hook.withhold;
}

static void set_hook(struct pair *p, bool withhold, uint8_t status)
{
	memset(&hook, 0, sizeof(hook));
	hook.of = p->w->device[0].host.dev;
	hook.wr_id = 2;
	hook.withhold = withhold;
	hook.status = status;
	p->w->ops.completion = look;
	core_hooks_set(hook.of, CORE_HOOK_TRACE_ALL | CORE_HOOK_COMPLETION);
}

static void test_changed(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	set_hook(&p, false, UHCA_ABI_WC_REM_ACCESS_ERR);
	for (unsigned i = 0; i < 4; i++)
		side_write(&p.a, i, 0, 1000, 10);
	pair_expect_copy(&p.a, 0, &p.b, 1000, 10);
	side_wait(&p.a, 4);
	for (unsigned i = 0; i < 4; i++)
		side_expect(&p.a, i, i, i == 2 ? UHCA_ABI_WC_REM_ACCESS_ERR : UHCA_ABI_WC_SUCCESS,
			    UHCA_ABI_WC_RDMA_WRITE);
	assert_int_equal(hook.seen, 4);
	assert_int_equal(vqp_state(&p.a.qp), IBV_QPS_RTS);
	pair_finish(&p);
}

/* The others do not wait for it; the request's slot is free meanwhile. */
static void test_late(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	set_hook(&p, true, UHCA_ABI_WC_SUCCESS);
	for (unsigned i = 0; i < 4; i++)
		side_write(&p.a, i, 0, 1000, 10);
	pair_expect_copy(&p.a, 0, &p.b, 1000, 10);
	side_wait(&p.a, 3);
	side_quiet(&p.a, PAIR_SECONDS);
	assert_int_equal(vqp_send_used(&p.a.qp), 0);
	hook.wr_id = 77;
	assert_int_equal(core_inject_completion(hook.of, hook.cqn, &hook.kept, p.w->now), 0);
	assert_int_equal(hook.seen, 4); /* it is not asked again */
	side_wait(&p.a, 4);
	side_expect(&p.a, 3, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_finish(&p);
}

/* A receive with data: nothing of it travels in the entry while somebody looks. */
static void test_receive_late(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	set_hook(&p, true, UHCA_ABI_WC_SUCCESS);
	side_recv(&p.a, 2, 2000, 100);
	side_send(&p.b, 1, 0, 100);
	pair_expect_copy(&p.b, 0, &p.a, 2000, 100);
	side_wait(&p.b, 1);
	side_quiet(&p.a, PAIR_SECONDS);
	assert_int_equal(hook.kept.byte_len, 100);
	assert_int_equal(core_inject_completion(hook.of, hook.cqn, &hook.kept, p.w->now), 0);
	side_wait(&p.a, 1);
	side_expect(&p.a, 0, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qp_error),     cmocka_unit_test(test_cq_overrun),
		cmocka_unit_test(test_changed),      cmocka_unit_test(test_late),
		cmocka_unit_test(test_receive_late),
	};

	return cmocka_run_group_tests_name("device_faults", tests, NULL, NULL);
}
