/* SPDX-License-Identifier: BSD-2-Clause */
/* Signals wait for a reader that has not handled what came before them; so does a goodbye. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/cm/cm.h"
#include "emu/core/qp/qp.h"
#include "emu/core/queues/cq.h"

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <string.h>

#define CHANNEL 7u
#define USEC    1000ull
#define START   (1000 * USEC)
#define OTHER   0xabcu /* a QP beside stage.qpn */

#define DISCONNECT 0xe0000000u
#define SHUTDOWN   0xe0000002u

/* A CQ of 16 entries whose reader is played by hand, and a QP such as rsockets make. */
struct stage {
	struct fixture f;
	struct fixture_qp handles;
	struct uhca_abi_cq *page;
	struct cq *cq;
	uint32_t qpn, read, handle;
	uint64_t now;
};

static void open_qp(struct stage *s)
{
	struct uhca_cmd_create_qp in = {
		.pd = fixture_pd(&s->f),
		.qp_type = IBV_QPT_RC,
		.send_cq = s->handle,
		.recv_cq = s->handle,
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 2,
		.max_recv_sge = 1,
		.sq_sig_all = 1,
	};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;

	assert_int_equal(core_create_qp(s->f.client, &in, &out, &ring), 0);
	s->handles.handle = out.handle;
	s->qpn = out.qpn;
}

static void start_with(struct stage *s, uint32_t flags, void (*tweak)(struct core_config *))
{
	struct uhca_cmd_create_cq in = {.cqe = 16, .channel = CHANNEL, .flags = flags};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;

	memset(s, 0, sizeof(*s));
	fixture_start(&s->f, tweak);
	assert_int_equal(core_create_cq(s->f.client, &in, &out, &ring), 0);
	s->handle = out.handle;
	s->cq = table_find(&s->f.dev->cqs, out.handle);
	s->page = s->cq->page;
	s->page->ring.reports_handled = 1;
	open_qp(s);
	s->now = START;
	core_tick(s->f.dev, s->now);
}

static void start(struct stage *s)
{
	start_with(s, 0, NULL);
}

/* The same with a QP, connected, that completes to the CQ. */
static void start_qp(struct stage *s)
{
	memset(s, 0, sizeof(*s));
	fixture_start(&s->f, NULL);
	s->handles = fixture_qp(&s->f, IBV_QPT_RC);
	fixture_connect(&s->f, &s->handles, IBV_QPT_RC);
	s->handle = s->handles.cq;
	s->qpn = s->handles.qpn;
	device_find_qp(s->f.dev, s->qpn)->sq_sig_all = true;
	s->cq = table_find(&s->f.dev->cqs, s->handle);
	s->page = s->cq->page;
	s->page->ring.reports_handled = 1;
	s->now = START;
	core_tick(s->f.dev, s->now);
}

static void says(struct stage *s, uint32_t qpn, uint64_t wr_id, uint32_t imm)
{
	struct uhca_abi_cqe e = {.wr_id = wr_id,
				 .qpn = qpn,
				 .opcode = UHCA_ABI_WC_RECV_RDMA_WITH_IMM,
				 .imm = htonl(imm)};

	assert_true(cq_push(s->cq, &e));
}

static void receive_of(struct stage *s, uint32_t qpn, uint64_t wr_id, uint32_t length)
{
	struct uhca_abi_cqe e = {.wr_id = wr_id,
				 .qpn = qpn,
				 .opcode = UHCA_ABI_WC_RECV_RDMA_WITH_IMM,
				 .byte_len = length,
				 .imm = htonl(length)};

	assert_true(cq_push(s->cq, &e));
}

static void message(struct stage *s, uint64_t wr_id)
{
	receive_of(s, s->qpn, wr_id, 2048);
}

static void signal_of(struct stage *s, uint64_t wr_id)
{
	says(s, s->qpn, wr_id, wr_id % 2 ? DISCONNECT : SHUTDOWN);
}

static void send_done(struct stage *s, uint64_t wr_id)
{
	struct uhca_abi_cqe e = {.wr_id = wr_id, .qpn = s->qpn, .opcode = UHCA_ABI_WC_RDMA_WRITE};

	assert_true(cq_push(s->cq, &e));
}

/* What a poll finds: its wr_id, or 0; the index is told. */
static uint64_t poll(struct stage *s)
{
	const struct uhca_abi_cqe *e = &s->cq->slots[s->read & (s->cq->entries - 1)];

	if (e->sequence != s->read + 1)
		return 0;
	s->page->ring.consumer = ++s->read;
	return e->wr_id;
}

static void test_at_once(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	signal_of(&s, 1); /* there was no payload ever */
	assert_int_equal(poll(&s), 1);
	message(&s, 2);
	assert_int_equal(poll(&s), 2);
	s.page->ring.handled = 1;
	signal_of(&s, 3);
	signal_of(&s, 4); /* that one signal waits is no reason for another */
	assert_int_equal(poll(&s), 3);
	assert_int_equal(poll(&s), 4);
	assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
	fixture_stop(&s.f);
}

/* Who says nothing about what it handles, who sleeps, and who ignores overruns. */
static void test_not_for_all(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	s.page->ring.reports_handled = 0;
	message(&s, 1);
	signal_of(&s, 2);
	assert_int_equal(s.page->ring.producer, 2);
	s.page->ring.reports_handled = 1;
	s.page->arm = UHCA_ABI_ARM_NEXT;
	signal_of(&s, 3);
	assert_int_equal(s.page->ring.producer, 3);
	assert_int_equal(s.f.comp, 1);
	fixture_stop(&s.f);
	start_with(&s, UHCA_ABI_CQ_IGNORE_OVERRUN, NULL);
	message(&s, 1);
	signal_of(&s, 2);
	assert_int_equal(s.page->ring.producer, 2);
	fixture_stop(&s.f);
}

static void make_strict(struct core_config *cfg)
{
	cfg->strict_order = true;
}

/* A value that rsockets do not say, and QPs that are not theirs; and --strict-order. */
static void test_only_rsockets(void **state)
{
	static const uint32_t value[] = {0, 1, 0xe0000001u, 0xe0000003u, 0x60000000u, 0xc0000002u};
	struct stage s;
	struct cq *cq;
	struct qp *qp;

	(void)state;
	start(&s);
	message(&s, 1);
	for (uint32_t i = 0; i < sizeof(value) / sizeof(value[0]); i++)
		says(&s, s.qpn, 2, value[i]);
	assert_int_equal(s.page->ring.producer, 7);
	qp = device_find_qp(s.f.dev, s.qpn);
	qp->sq_sig_all = false;
	signal_of(&s, 3);
	qp->sq_sig_all = true;
	cq = qp->send_cq;
	qp->send_cq = NULL;
	signal_of(&s, 4);
	qp->send_cq = cq;
	qp->type = QPT_UC;
	signal_of(&s, 5);
	qp->type = QPT_RC;
	says(&s, OTHER, 6, SHUTDOWN);
	assert_int_equal(s.page->ring.producer, 11);
	signal_of(&s, 7);
	assert_int_equal(s.page->ring.producer, 11);
	fixture_stop(&s.f);
	start_with(&s, 0, make_strict);
	message(&s, 1);
	signal_of(&s, 2);
	assert_int_equal(s.page->ring.producer, 2);
	fixture_stop(&s.f);
}

/* Two messages, taken at once; the signal comes with the second empty poll, not before. */
static void test_held(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	message(&s, 1);
	message(&s, 2);
	signal_of(&s, 3);
	assert_int_equal(core_counters(s.f.dev)->completions, 2);
	fixture_sleep(&s.f, &s.now,
		      500 * 1000 * USEC); /* far beyond the bound, but the reader did not look */
	assert_int_equal(s.page->ring.producer, 2);
	assert_int_equal(poll(&s), 1);
	assert_int_equal(poll(&s), 2);
	assert_int_equal(poll(&s), 0);
	s.page->ring.handled = 1;
	fixture_sleep(&s.f, &s.now, 5000 * USEC);
	assert_int_equal(poll(&s), 0);
	s.page->ring.handled = 2;
	fixture_sleep(&s.f, &s.now, 1000 * USEC);
	assert_int_equal(poll(&s), 3);
	assert_int_equal(core_counters(s.f.dev)->completions, 3);
	assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
	fixture_stop(&s.f);
}

/* How late: some microseconds for a quick reader, a quarter of the time for others. */
static void test_looks(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	message(&s, 1);
	signal_of(&s, 2);
	assert_int_equal(core_next_deadline(s.f.dev), START + 5 * USEC);
	fixture_sleep(&s.f, &s.now, 800 * USEC);
	assert_true(core_next_deadline(s.f.dev) <= START + 1000 * USEC);
	assert_int_equal(poll(&s), 1);
	s.page->ring.handled = 1;
	fixture_sleep(&s.f, &s.now, 200 * USEC);
	assert_int_equal(poll(&s), 2);
	fixture_stop(&s.f);
}

/* Whatever the client writes, it ends: soon when all before it was taken, else in a second. */
static void test_bound(void **state)
{
	static const uint32_t lie[] = {UINT32_MAX, 0x90000000u, 0};

	(void)state;
	for (unsigned i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		struct stage s;
		start(&s);
		message(&s, 1);
		signal_of(&s, 2);
		s.page->ring.handled = lie[i];
		assert_int_equal(poll(&s), 1);
		fixture_sleep(&s.f, &s.now, DEFERRED_COMPLETION_NS - 1 * USEC);
		assert_int_equal(s.page->ring.producer, 1);
		fixture_sleep(&s.f, &s.now, 1001 * USEC);
		assert_int_equal(poll(&s), 2);
		s.page->ring.consumer = 0xf0000000u;
		message(&s, 3);
		s.page->ring.handled = lie[i];
		signal_of(&s, 4);
		fixture_sleep(&s.f, &s.now, DEFERRED_COMPLETION_UNREAD_NS - 1 * USEC);
		assert_int_equal(s.page->ring.producer, 3);
		fixture_sleep(&s.f, &s.now, 1001 * USEC);
		assert_int_equal(s.page->ring.producer, 4);
		assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
		fixture_stop(&s.f);
	}
}

/* Receives of its QP stay behind it; sends and other QPs do not. The next signal waits anew. */
static void test_order(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	message(&s, 1);
	signal_of(&s, 2);
	message(&s, 3);
	signal_of(&s, 4);
	message(&s, 5);
	send_done(&s, 6);
	receive_of(&s, OTHER, 7, 1);
	assert_int_equal(poll(&s), 1);
	assert_int_equal(poll(&s), 6);
	assert_int_equal(poll(&s), 7);
	assert_int_equal(poll(&s), 0);
	s.page->ring.handled = 1; /* that of OTHER came later, and does not count */
	fixture_sleep(&s.f, &s.now, 5 * USEC);
	assert_int_equal(poll(&s), 2);
	assert_int_equal(poll(&s), 3);
	assert_int_equal(poll(&s), 0);
	assert_int_equal(s.cq->deferred.n, 2);
	s.page->ring.handled = 3; /* 1, 7, 3 */
	fixture_sleep(&s.f, &s.now, 5 * USEC);
	assert_int_equal(poll(&s), 4);
	assert_int_equal(poll(&s), 5);
	fixture_stop(&s.f);
}

/* They do not become many. */
static void test_many(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	message(&s, 1);
	for (uint64_t i = 0; i < DEFERRED_COMPLETION_MAX; i++)
		signal_of(&s, 2 + i);
	assert_int_equal(s.cq->deferred.n, DEFERRED_COMPLETION_MAX);
	message(&s, 2 + DEFERRED_COMPLETION_MAX);
	assert_int_equal(s.cq->deferred.n, 0);
	for (uint64_t i = 1; i <= 2 + DEFERRED_COMPLETION_MAX; i++)
		assert_int_equal(poll(&s), i);
	assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
	fixture_stop(&s.f);
}

/* Who arms meanwhile gets it with the next look, and one event. */
static void test_event(void **state)
{
	struct stage s;

	(void)state;
	start(&s);
	message(&s, 1);
	signal_of(&s, 2);
	signal_of(&s, 3);
	assert_int_equal(poll(&s), 1);
	s.page->arm = UHCA_ABI_ARM_NEXT;
	assert_int_equal(s.f.comp, 0);
	fixture_sleep(&s.f, &s.now, 5 * USEC);
	assert_int_equal(s.f.comp, 1);
	assert_int_equal(s.f.comp_event[0].channel, CHANNEL);
	assert_int_equal(poll(&s), 2);
	/* The event was the first one's; nobody has armed for the second. */
	s.page->ring.handled = 1;
	fixture_sleep(&s.f, &s.now, 5 * USEC);
	assert_int_equal(poll(&s), 3);
	assert_int_equal(s.f.comp, 1);
	fixture_stop(&s.f);
}

/* Completions that are held back take entries; without a free one the CQ is in error. */
static void test_overrun(void **state)
{
	struct stage s;
	struct uhca_abi_cqe e = {.wr_id = 17, .opcode = UHCA_ABI_WC_RECV};

	(void)state;
	start(&s);
	for (uint64_t i = 1; i <= 14; i++)
		message(&s, i);
	signal_of(&s, 15);
	send_done(&s, 16);
	assert_false(cq_push(s.cq, &e));
	assert_int_equal(s.f.async, 1);
	for (uint64_t i = 1; i <= 14; i++)
		assert_int_equal(poll(&s), i);
	assert_int_equal(poll(&s), 16);
	assert_int_equal(poll(&s), 15);
	assert_int_equal(poll(&s), 0);
	fixture_stop(&s.f);
}

static void test_resize(void **state)
{
	struct stage s;
	struct uhca_cmd_resize_cq in = {.cqe = 100};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;

	(void)state;
	start(&s);
	message(&s, 1);
	signal_of(&s, 2);
	in.handle = s.handle;
	assert_int_equal(core_resize_cq(s.f.client, &in, &out, &ring), 0);
	s.page = ring.base;
	assert_int_equal(s.page->ring.producer, 2);
	assert_int_equal(poll(&s), 1);
	assert_int_equal(poll(&s), 2);
	assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
	/* The count goes on where it was. */
	s.page->ring.reports_handled = 1;
	signal_of(&s, 3);
	assert_int_equal(s.cq->deferred.n, 1);
	assert_int_equal(core_destroy_qp(s.f.client, s.handles.handle), 0);
	assert_int_equal(core_destroy_cq(s.f.client, s.handle), 0);
	assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
	fixture_stop(&s.f);
}

/* An error completion, the error state, a reset and a destroy: what came before them is shown. */
static void test_trouble(void **state)
{
	enum { ERROR_CQE, TO_ERR, TO_RESET, DESTROY, WAYS };

	(void)state;
	for (int way = 0; way < WAYS; way++) {
		struct stage s;
		struct uhca_abi_qp_attr attr = {.qp_state = way == TO_RESET ? IBV_QPS_RESET
									    : IBV_QPS_ERR};
		struct uhca_abi_cqe e = {.wr_id = 3, .status = UHCA_ABI_WC_LOC_LEN_ERR};
		start_qp(&s);
		e.opcode = UHCA_ABI_WC_RECV;
		e.qpn = s.qpn;
		message(&s, 1);
		signal_of(&s, 2);
		assert_int_equal(s.page->ring.producer, 1);
		if (way == ERROR_CQE)
			assert_true(cq_push(s.cq, &e));
		else if (way == DESTROY)
			assert_int_equal(core_destroy_qp(s.f.client, s.handles.handle), 0);
		else
			assert_int_equal(
				fixture_modify(&s.f, s.handles.handle, &attr, IBV_QP_STATE), 0);
		assert_int_equal(poll(&s), 1);
		assert_int_equal(poll(&s), 2);
		assert_int_equal(poll(&s), way == ERROR_CQE ? 3 : 0);
		fixture_stop(&s.f);
	}
}

static void test_client_gone(void **state)
{
	struct stage s;

	(void)state;
	start_qp(&s);
	message(&s, 1);
	signal_of(&s, 2);
	core_client_destroy(s.f.client);
	s.f.client = NULL;
	assert_true(core_next_deadline(s.f.dev) == UINT64_MAX);
	fixture_stop(&s.f);
}

static int no_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	(void)user;
	(void)cm;
	(void)req;
	(void)cookie;
	return -1;
}

static void count_event(void *cookie, const struct core_cm_event *e)
{
	unsigned *heard = cookie;

	heard[e->type]++;
}

/* The peer's goodbye is not heard before the signal in front of it can be seen. */
static void test_goodbye(void **state)
{
	static const struct core_cm_ops ops = {.request = no_request, .event = count_event};
	unsigned heard[CORE_CM_RELEASED + 1] = {0};
	struct stage s;
	struct cm *cm;

	(void)state;
	start_qp(&s);
	core_cm_set_ops(s.f.dev, &ops, NULL);
	cm = core_cm_create(s.f.dev, heard);
	assert_non_null(cm);
	cm->local_qpn = s.qpn;
	message(&s, 1);
	signal_of(&s, 2);
	cm_disconnected(cm, s.now);
	assert_int_equal(heard[CORE_CM_DISCONNECTED], 1);
	fixture_sleep(&s.f, &s.now, 10000 * USEC);
	assert_int_equal(heard[CORE_CM_RELEASED], 0);
	assert_int_equal(poll(&s), 1);
	s.page->ring.handled = 1;
	fixture_sleep(&s.f, &s.now, 2000 * USEC);
	assert_int_equal(poll(&s), 2);
	fixture_sleep(&s.f, &s.now, 1000 * USEC);
	assert_int_equal(heard[CORE_CM_RELEASED], 1);
	assert_int_equal(core_cm_disconnect(cm, s.now), 0);
	fixture_sleep(&s.f, &s.now, 2000 * 1000 * USEC);
	assert_int_equal(heard[CORE_CM_RELEASED], 1);
	assert_int_equal(heard[CORE_CM_DISCONNECTED], 1);
	assert_int_equal(heard[CORE_CM_TIMEWAIT_EXIT], 1);
	core_cm_destroy(cm, s.now);
	fixture_stop(&s.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_at_once),       cmocka_unit_test(test_not_for_all),
		cmocka_unit_test(test_only_rsockets), cmocka_unit_test(test_held),
		cmocka_unit_test(test_looks),         cmocka_unit_test(test_bound),
		cmocka_unit_test(test_order),         cmocka_unit_test(test_many),
		cmocka_unit_test(test_event),         cmocka_unit_test(test_overrun),
		cmocka_unit_test(test_resize),        cmocka_unit_test(test_trouble),
		cmocka_unit_test(test_client_gone),   cmocka_unit_test(test_goodbye),
	};

	return cmocka_run_group_tests_name("deferred_completion", tests, NULL, NULL);
}
