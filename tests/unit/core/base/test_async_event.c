/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events: each to its owner, with its owner's cookie, and counted. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/async_event.h"
#include "emu/core/qp/qp.h"
#include "emu/core/queues/wq.h"

static void check(const struct fixture *f, unsigned i, uint64_t element, uint32_t type)
{
	assert_int_equal(f->async, i + 1);
	assert_ptr_equal(f->async_event[i].client, &f->client_cookie);
	assert_int_equal(f->async_event[i].event.element, element);
	assert_int_equal(f->async_event[i].event.type, type);
	assert_int_equal(f->async_event[i].event.reserved, 0);
}

static void test_events(void **state)
{
	struct fixture f;
	struct fixture_qp qp;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, QPT_RC);
	qp_event(device_find_qp(f.dev, qp.qpn), UHCA_ABI_EVENT_COMM_EST);
	check(&f, 0, 0x9b, UHCA_ABI_EVENT_COMM_EST);
	cq_event(table_find(&f.dev->cqs, qp.cq), UHCA_ABI_EVENT_CQ_ERR);
	check(&f, 1, 0xc0, UHCA_ABI_EVENT_CQ_ERR);
	srq_event(table_find(&f.dev->srqs, fixture_srq(&f, qp.pd)), UHCA_ABI_EVENT_SRQ_ERR);
	check(&f, 2, 0x5a, UHCA_ABI_EVENT_SRQ_ERR);
	fixture_stop(&f);
}

/* What went to the client stands in the object's region, less what a destroy takes back. */
static void test_counts(void **state)
{
	struct fixture f;
	struct fixture_qp made;
	struct qp *qp;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	made = fixture_qp(&f, QPT_RC);
	qp = device_find_qp(f.dev, made.qpn);
	cq = table_find(&f.dev->cqs, made.cq);
	for (unsigned i = 0; i < 3; i++)
		qp_event(qp, UHCA_ABI_EVENT_COMM_EST);
	f.async_waits = true; /* an equal one waits: not one more */
	qp_event(qp, UHCA_ABI_EVENT_COMM_EST);
	f.async_waits = false;
	cq_event(cq, UHCA_ABI_EVENT_CQ_ERR);
	assert_int_equal(qp->page->async_events, 3);
	assert_int_equal(cq->page->async_events, 1);
	assert_int_equal(cq->page->comp_events, 0);
	qp->page->async_events = 77; /* nothing that a client writes there is believed */
	f.purge_finds = 2;
	qp_take_back_events(qp);
	assert_int_equal(f.async_purged, 0x9b);
	assert_int_equal(qp->page->async_events, 1);
	f.purge_finds = 1;
	cq_take_back_events(cq);
	assert_int_equal(f.async_purged, 0xc0);
	assert_int_equal(cq->page->async_events, 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_events),
					   cmocka_unit_test(test_counts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
