/* SPDX-License-Identifier: BSD-2-Clause */
/* Asynchronous events through libibverbs: read, counted, taken back. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

static void make_nonblocking(int fd)
{
	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

static struct ibv_async_event expect(struct verbs_fixture *f, enum ibv_event_type type)
{
	struct ibv_async_event e;

	assert_int_equal(ibv_get_async_event(f->context, &e), 0);
	assert_int_equal(e.event_type, type);
	return e;
}

static void expect_none(struct verbs_fixture *f)
{
	struct ibv_async_event e;

	assert_int_equal(ibv_get_async_event(f->context, &e), -1);
	assert_int_equal(errno, EAGAIN);
}

static void test_elements(void **state)
{
	struct verbs_fixture *f = *state;
	uint64_t qp = (uintptr_t)f->qp, cq = (uintptr_t)f->cq;
	struct ibv_async_event e;

	make_nonblocking(f->context->async_fd);
	expect_none(f);
	fake_async_event(&f->daemon, qp, UHCA_ABI_EVENT_COMM_EST);
	fake_async_event(&f->daemon, cq, UHCA_ABI_EVENT_CQ_ERR);
	fake_async_event(&f->daemon, 1, UHCA_ABI_EVENT_PORT_ACTIVE);
	e = expect(f, IBV_EVENT_COMM_EST);
	assert_ptr_equal(e.element.qp, f->qp);
	ibv_ack_async_event(&e);
	e = expect(f, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(e.element.cq, f->cq);
	ibv_ack_async_event(&e);
	e = expect(f, IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(e.element.port_num, 1);
	ibv_ack_async_event(&e);
	expect_none(f);
}

static void test_destroy_purges(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_async_event e;

	make_nonblocking(f->context->async_fd);
	fake_async_event(&f->daemon, (uintptr_t)f->qp, UHCA_ABI_EVENT_QP_FATAL);
	fake_async_event(&f->daemon, (uintptr_t)f->cq, UHCA_ABI_EVENT_CQ_ERR);
	fake_async_event(&f->daemon, (uintptr_t)f->qp, UHCA_ABI_EVENT_QP_LAST_WQE_REACHED);
	assert_int_equal(ibv_destroy_qp(f->qp), 0);
	f->qp = NULL;
	e = expect(f, IBV_EVENT_CQ_ERR);
	ibv_ack_async_event(&e);
	expect_none(f);
}

struct destroyer {
	struct ibv_qp *qp;
	int result, done;
};

static void *destroy(void *arg)
{
	struct destroyer *d = arg;

	d->result = ibv_destroy_qp(d->qp);
	__atomic_store_n(&d->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_destroy_waits_for_acks(void **state)
{
	struct verbs_fixture *f = *state;
	struct destroyer d = {.qp = f->qp};
	struct ibv_async_event e;
	pthread_t t;

	fake_async_event(&f->daemon, (uintptr_t)f->qp, UHCA_ABI_EVENT_QP_FATAL);
	e = expect(f, IBV_EVENT_QP_FATAL);
	assert_int_equal(pthread_create(&t, NULL, destroy, &d), 0);
	while (!__atomic_load_n(&f->daemon.calls[UHCA_CMD_DESTROY_QP], __ATOMIC_RELAXED))
		sched_yield();
	for (unsigned i = 0; i < 20; i++) { /* it has had its chance to be wrong */
		assert_false(__atomic_load_n(&d.done, __ATOMIC_ACQUIRE));
		poll(NULL, 0, 1);
	}
	ibv_ack_async_event(&e);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(d.result, 0);
	f->qp = NULL;
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_elements),
		TEST(test_destroy_purges),
		TEST(test_destroy_waits_for_acks),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
