/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A disconnect is told at once, and shown when the program has taken what came to its QP before, or
 * will not.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/cm/cm.h"
#include "emu/core/qp/qp.h"
#include "emu/core/queues/cq.h"

#include <infiniband/verbs.h>
#include <string.h>

#define USEC  1000ull
#define MSEC  (1000 * USEC)
#define START (1000 * USEC)

/* A connected QP, the end of its connection, and what its owner heard. */
struct stage {
	struct fixture f;
	struct fixture_qp qp;
	struct cq *cq;
	struct cm *cm;
	unsigned heard[CORE_CM_RELEASED + 1];
	bool held; /* the DISCONNECTED, when it was told */
	uint64_t now;
};

static void count_event(void *cookie, const struct core_cm_event *e)
{
	struct stage *s = cookie;

	s->heard[e->type]++;
	if (e->type == CORE_CM_DISCONNECTED)
		s->held = e->held;
}

static void start_with(struct stage *s, void (*tweak)(struct core_config *))
{
	static const struct core_cm_ops ops = {.event = count_event};

	memset(s, 0, sizeof(*s));
	fixture_start(&s->f, tweak);
	s->qp = fixture_qp(&s->f, IBV_QPT_RC);
	fixture_connect(&s->f, &s->qp, IBV_QPT_RC);
	s->cq = table_find(&s->f.dev->cqs, s->qp.cq);
	core_cm_set_ops(s->f.dev, &ops, NULL);
	s->cm = core_cm_create(s->f.dev, s);
	assert_non_null(s->cm);
	s->cm->local_qpn = s->qp.qpn;
	s->now = START;
	core_tick(s->f.dev, s->now);
}

static void start(struct stage *s)
{
	start_with(s, NULL);
}

static void finish(struct stage *s)
{
	core_cm_destroy(s->cm, s->now);
	fixture_stop(&s->f);
}

static void completion(struct stage *s, uint8_t opcode)
{
	struct uhca_abi_cqe e = {.qpn = s->qp.qpn, .opcode = opcode};

	assert_true(cq_push(s->cq, &e));
}

static void take_all(struct stage *s)
{
	s->cq->page->ring.consumer = s->cq->producer;
}

/* Told exactly once; may the program see it? */
static bool shown(const struct stage *s)
{
	assert_int_equal(s->heard[CORE_CM_DISCONNECTED], 1);
	assert_true(s->heard[CORE_CM_RELEASED] <= s->held);
	return !s->held || s->heard[CORE_CM_RELEASED] == 1;
}

/* Until both are taken, of whichever of the two queues; then once. Time-wait has not begun. */
static void test_waits(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	completion(&s, UHCA_ABI_WC_SEND);
	completion(&s, UHCA_ABI_WC_RECV);
	cm_disconnected(s.cm, s.now);
	fixture_sleep(&s.f, &s.now, 20 * MSEC);
	assert_false(shown(&s));
	s.cq->page->ring.consumer++;
	fixture_sleep(&s.f, &s.now, 20 * MSEC);
	assert_false(shown(&s));
	take_all(&s);
	completion(&s, UHCA_ABI_WC_RECV); /* what comes later is not waited for */
	fixture_sleep(&s.f, &s.now, MSEC);
	assert_true(shown(&s));
	fixture_sleep(&s.f, &s.now, 2000 * MSEC);
	assert_true(shown(&s));
	assert_int_equal(s.heard[CORE_CM_TIMEWAIT_EXIT], 0);
	assert_int_equal(core_cm_disconnect(s.cm, s.now), 0);
	fixture_sleep(&s.f, &s.now, 2000 * MSEC);
	assert_int_equal(s.heard[CORE_CM_TIMEWAIT_EXIT], 1);
	finish(&s);
}

/* A queue that only sends complete to. */
static void test_send_queue(void **state)
{
	struct stage s;
	struct qp *qp;

	(void)state;
	start(&s);
	qp = device_find_qp(s.f.dev, s.qp.qpn);
	completion(&s, UHCA_ABI_WC_SEND);
	qp->recv_cq = table_find(&s.f.dev->cqs, fixture_cq(&s.f, 16));
	cm_disconnected(s.cm, s.now);
	assert_false(shown(&s));
	take_all(&s);
	fixture_sleep(&s.f, &s.now, 100 * USEC);
	assert_true(shown(&s));
	qp->recv_cq = s.cq;
	finish(&s);
}

static void test_page_worker(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	completion(&s, UHCA_ABI_WC_RECV);
	cm_disconnected(s.cm, s.now);
	fixture_sleep(&s.f, &s.now, CM_READER_PAGE_WORKER - MSEC);
	assert_false(shown(&s));
	fixture_sleep(&s.f, &s.now, 2 * MSEC);
	assert_true(shown(&s));
	finish(&s);
}

/* A thousand connections that end and are not read must not keep the device from its work. */
static void test_looks(void **state)
{
	uint64_t end, next;
	unsigned looks = 0;
	struct stage s;

	(void)state;
	start(&s);
	completion(&s, UHCA_ABI_WC_RECV);
	cm_disconnected(s.cm, s.now);
	for (end = s.now + CM_READER_PAGE_WORKER; !shown(&s); looks++) {
		next = core_next_deadline(s.f.dev);
		assert_true(next <= end + MSEC);
		core_tick(s.f.dev, next);
	}
	assert_in_range(looks, 100, 130);
	s.now = end + MSEC;
	finish(&s);
}

static void nothing(struct stage *s)
{
	(void)s;
}

static void arm(struct stage *s)
{
	completion(s, UHCA_ABI_WC_RECV);
	s->cq->page->arm = UHCA_ABI_ARM_NEXT;
}

static void enter_error(struct stage *s)
{
	struct uhca_abi_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	completion(s, UHCA_ABI_WC_RECV);
	assert_int_equal(fixture_modify(&s->f, s->qp.handle, &attr, IBV_QP_STATE), 0);
}

static void destroy(struct stage *s)
{
	completion(s, UHCA_ABI_WC_RECV);
	assert_int_equal(core_destroy_qp(s->f.client, s->qp.handle), 0);
}

/* Nothing to read; who sleeps; a QP that is in trouble; a QP that is gone. */
static void test_at_once(void **state)
{
	void (*const ways[])(struct stage *) = {nothing, arm, enter_error, destroy};

	(void)state;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct stage s;

		start(&s);
		ways[i](&s);
		cm_disconnected(s.cm, s.now);
		assert_true(shown(&s));
		finish(&s);
	}
}

/* The QP goes while its owner has not been told. */
static void test_gone_meanwhile(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	completion(&s, UHCA_ABI_WC_RECV);
	cm_disconnected(s.cm, s.now);
	assert_int_equal(core_destroy_qp(s.f.client, s.qp.handle), 0);
	fixture_sleep(&s.f, &s.now, 100 * USEC);
	assert_true(shown(&s));
	finish(&s);
}

/* Who answers by itself, its completions unread, need not be waited for. */
static void test_answers(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	completion(&s, UHCA_ABI_WC_RECV);
	cm_disconnected(s.cm, s.now);
	assert_false(shown(&s));
	assert_int_equal(core_cm_disconnect(s.cm, s.now), 0);
	assert_true(shown(&s));
	fixture_sleep(&s.f, &s.now, 2000 * MSEC);
	assert_true(shown(&s));
	assert_int_equal(s.heard[CORE_CM_TIMEWAIT_EXIT], 1);
	finish(&s);
}

static void make_strict(struct core_config *cfg)
{
	cfg->strict_order = true;
}

static void test_strict(void **state)
{
	struct stage s;

	(void)state;
	start_with(&s, make_strict);
	completion(&s, UHCA_ABI_WC_RECV);
	cm_disconnected(s.cm, s.now);
	assert_true(shown(&s));
	finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),       cmocka_unit_test(test_send_queue),
		cmocka_unit_test(test_page_worker), cmocka_unit_test(test_looks),
		cmocka_unit_test(test_at_once),     cmocka_unit_test(test_gone_meanwhile),
		cmocka_unit_test(test_answers),     cmocka_unit_test(test_strict),
	};

	return cmocka_run_group_tests_name("cm_reader", tests, NULL, NULL);
}
