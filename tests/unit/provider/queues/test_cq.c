/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues and channels through libibverbs. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/queues/cq.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void test_create(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_create_cq *in = (void *)f->daemon.last[UHCA_CMD_CREATE_CQ];
	struct ibv_cq *cq = ibv_create_cq(f->context, 20, f, NULL, 0);

	assert_non_null(cq);
	assert_int_equal(cq->cqe, 32);
	assert_ptr_equal(cq->context, f->context);
	assert_ptr_equal(cq->cq_context, f);
	assert_null(cq->channel);
	assert_int_equal(in->cqe, 20);
	assert_int_equal(in->cookie, (uintptr_t)cq);
	assert_int_equal(in->channel, 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_null(ibv_create_cq(f->context, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(f->context, 1, NULL, NULL, f->context->num_comp_vectors));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(f->context, 1, NULL, NULL, -1));
	assert_int_equal(errno, EINVAL);
}

static void test_create_fails(void **state)
{
	struct verbs_fixture *f = *state;
	unsigned destroyed = f->daemon.calls[UHCA_CMD_DESTROY_CQ];

	f->daemon.fail[UHCA_CMD_CREATE_CQ] = -ENOMEM;
	assert_null(ibv_create_cq(f->context, 1, NULL, f->channel, 0));
	assert_int_equal(errno, ENOMEM);
	f->daemon.fail[UHCA_CMD_CREATE_CQ] = 0;
	/* A region that is not what the reply says is given back. */
	f->daemon.mood = FAKE_SHORT_FILE;
	assert_null(ibv_create_cq(f->context, 100, NULL, f->channel, 0));
	assert_int_equal(errno, EPROTO);
	f->daemon.mood = FAKE_ANSWERS;
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESTROY_CQ], destroyed + 1);
}

static struct ibv_cq *next_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	if (ibv_get_cq_event(channel, &cq, &context))
		return NULL;
	ibv_ack_cq_events(cq, 1);
	return cq;
}

static void make_nonblocking(int fd)
{
	assert_int_equal(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK), 0);
}

/* The device says how large the CQ is, gives a new ring, and keeps the index. */
static void test_resize(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct uhca_abi_cqe e = {.wr_id = 7};
	struct ibv_wc wc;

	fake_complete(q, &e);
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 8});
	assert_int_equal(ibv_resize_cq(f->cq, 100), 0);
	assert_int_equal(f->cq->cqe, 128);
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 8);
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 9});
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 9);
	/* What the device refuses leaves the ring as it was. */
	f->daemon.fail[UHCA_CMD_RESIZE_CQ] = -EINVAL;
	assert_int_equal(ibv_resize_cq(f->cq, 1), EINVAL);
	f->daemon.fail[UHCA_CMD_RESIZE_CQ] = 0;
	assert_int_equal(f->cq->cqe, 128);
	assert_int_equal(ibv_resize_cq(f->cq, 0), EINVAL);
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 10});
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 10);
}

/* A ring that cannot be mapped is the end of the device, and nothing hangs. */
static void test_resize_no_map(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_wc wc;

	f->daemon.mood = FAKE_SHORT_FILE;
	assert_int_not_equal(ibv_resize_cq(f->cq, 100), 0);
	f->daemon.mood = FAKE_ANSWERS;
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 0);
	assert_int_equal(ibv_resize_cq(f->cq, 100), EIO);
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
}

static void test_modify(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {.cq_count = 5, .cq_period = 1000}};
	const struct uhca_cmd_modify_cq *sent = (void *)f->daemon.last[UHCA_CMD_MODIFY_CQ];

	assert_int_equal(ibv_modify_cq(f->cq, &attr), 0);
	assert_int_equal(sent->handle, f->cq->handle);
	assert_int_equal(sent->cq_count, 5);
	assert_int_equal(sent->cq_period, 1000);
	attr.attr_mask = IBV_CQ_ATTR_RESERVED;
	assert_int_equal(ibv_modify_cq(f->cq, &attr), EINVAL);
	attr.attr_mask = 0;
	assert_int_equal(ibv_modify_cq(f->cq, &attr), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_MODIFY_CQ], 1);
}

static void test_events(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	struct pollfd p = {.fd = f->channel->fd, .events = POLLIN};

	make_nonblocking(f->channel->fd);
	assert_null(next_event(f->channel));
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(poll(&p, 1, 0), 0);
	fake_comp_event(&f->daemon, q);
	assert_int_equal(poll(&p, 1, 0), 1);
	assert_ptr_equal(next_event(f->channel), f->cq);
	assert_null(next_event(f->channel));
}

/* The device is told of entries that are unread when it is armed, if it asked for that. */
static void test_arm_unread(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	const struct uhca_cmd_handle *sent = (void *)f->daemon.last[UHCA_CMD_NOTIFY_CQ];
	const unsigned *told = &f->daemon.calls[UHCA_CMD_NOTIFY_CQ];
	struct uhca_abi_cq *page = (void *)q->base;
	struct ibv_wc wc;

	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 1});
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 0); /* strict */
	page->notify_unread = 1;
	page->arm = 0;
	assert_int_equal(ibv_req_notify_cq(f->cq, 1), 0);
	assert_int_equal(*told, 0); /* not solicited */
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 1);
	assert_int_equal(sent->handle, f->cq->handle);
	f->daemon.fail[UHCA_CMD_NOTIFY_CQ] = -ENOMEM;
	assert_int_equal(ibv_req_notify_cq(f->cq, 1), ENOMEM); /* the wider wish holds */
	f->daemon.fail[UHCA_CMD_NOTIFY_CQ] = 0;
	page->arm = 0;
	page->event_index = 1;
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 2);
	fake_complete(q, &(struct uhca_abi_cqe){.flags = UHCA_ABI_WC_SOLICITED});
	page->arm = 0;
	assert_int_equal(ibv_req_notify_cq(f->cq, 1), 0);
	assert_int_equal(*told, 3);
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 3); /* taken */
	page->arm = 0;
	fake_complete(q, &(struct uhca_abi_cqe){.status = UHCA_ABI_WC_WR_FLUSH_ERR});
	assert_int_equal(ibv_req_notify_cq(f->cq, 1), 0);
	assert_int_equal(*told, 4);
}

/*
 * Another thread is inside ibv_destroy_cq, and waits for an event to be acknowledged: the device
 * does not know the CQ any more, and arming it succeeds.
 */
static void test_arm_while_destroyed(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);

	((struct uhca_abi_cq *)(void *)q->base)->notify_unread = 1;
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 1});
	f->daemon.fail[UHCA_CMD_NOTIFY_CQ] = -ENOENT;
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_NOTIFY_CQ], 1);
	f->daemon.fail[UHCA_CMD_NOTIFY_CQ] = 0;
}

/* Indices near their wrap, and an event so long ago that its index says nothing any more. */
static void test_arm_unread_wraps(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	const unsigned *told = &f->daemon.calls[UHCA_CMD_NOTIFY_CQ];
	struct uhcav_cq *cq = uhcav_cq_of(f->cq);
	struct uhca_abi_cq *page = (void *)q->base;

	page->notify_unread = 1;
	q->producer = cq->consumer = UINT32_MAX;
	page->event_index = 0x7ffffff0u;
	fake_complete(q, &(struct uhca_abi_cqe){0});
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 1);
	page->event_index = 0;
	fake_complete(q, &(struct uhca_abi_cqe){0});
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 2);
	page->event_index = 1;
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	assert_int_equal(*told, 2);
}

/* The daemon goes while it is told: what is armed gets its last event, and nothing fails. */
static void test_arm_unread_dead(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);

	((struct uhca_abi_cq *)(void *)q->base)->notify_unread = 1;
	make_nonblocking(f->channel->fd);
	fake_complete(q, &(struct uhca_abi_cqe){.wr_id = 1});
	f->daemon.mood = FAKE_WRONG_SIZE; /* as good as gone */
	assert_int_equal(ibv_req_notify_cq(f->cq, 0), 0);
	f->daemon.mood = FAKE_ANSWERS;
	assert_ptr_equal(next_event(f->channel), f->cq);
	assert_null(next_event(f->channel));
}

/* A CQ that goes takes its unread events along, and leaves those of others in their order. */
static void test_destroy_purges(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *mine = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), *its;
	struct ibv_cq *cq = ibv_create_cq(f->context, 1, NULL, f->channel, 0);

	assert_non_null(cq);
	its = fake_newest(&f->daemon, UHCA_ABI_REGION_CQ);
	assert_int_equal(its->channel, mine->channel);
	make_nonblocking(f->channel->fd);
	fake_comp_event(&f->daemon, its);
	fake_comp_event(&f->daemon, mine);
	fake_comp_event(&f->daemon, its);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_ptr_equal(next_event(f->channel), f->cq);
	assert_null(next_event(f->channel));
}

/* ibv_destroy_cq(3) waits until every event that was read has been acknowledged. */
struct destroyer {
	struct ibv_cq *cq;
	int result;
	int done;
};

static void *destroy(void *arg)
{
	struct destroyer *d = arg;

	d->result = ibv_destroy_cq(d->cq);
	__atomic_store_n(&d->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_destroy_waits_for_acks(void **state)
{
	struct verbs_fixture *f = *state;
	struct destroyer d = {.cq = ibv_create_cq(f->context, 1, NULL, f->channel, 0)};
	unsigned before = f->daemon.calls[UHCA_CMD_DESTROY_CQ];
	struct ibv_cq *cq;
	void *context;
	pthread_t t;

	assert_non_null(d.cq);
	fake_comp_event(&f->daemon, fake_newest(&f->daemon, UHCA_ABI_REGION_CQ));
	assert_int_equal(ibv_get_cq_event(f->channel, &cq, &context), 0);
	assert_int_equal(pthread_create(&t, NULL, destroy, &d), 0);
	while (__atomic_load_n(&f->daemon.calls[UHCA_CMD_DESTROY_CQ], __ATOMIC_RELAXED) == before)
		sched_yield();
	for (unsigned i = 0; i < 20; i++) { /* it has had its chance to be wrong */
		assert_false(__atomic_load_n(&d.done, __ATOMIC_ACQUIRE));
		poll(NULL, 0, 1);
	}
	ibv_ack_cq_events(d.cq, 1);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_int_equal(d.result, 0);
}

static void test_busy(void **state)
{
	struct verbs_fixture *f = *state;

	assert_int_equal(ibv_destroy_cq(f->cq), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(f->channel), EBUSY);
}

/* The daemon is told of a channel by its first CQ, and of its end by the next use of channels. */
static void test_channel_life(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *a = ibv_create_comp_channel(f->context), *b;
	unsigned created = f->daemon.calls[UHCA_CMD_CREATE_CHANNEL];
	struct ibv_cq *cq[2];
	int fd = a->fd;

	cq[0] = ibv_create_cq(f->context, 1, NULL, a, 0);
	cq[1] = ibv_create_cq(f->context, 1, NULL, a, 0);
	assert_non_null(cq[0]);
	assert_non_null(cq[1]);
	assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_CHANNEL], created + 1);
	assert_int_equal(ibv_destroy_cq(cq[0]), 0);
	assert_int_equal(ibv_destroy_cq(cq[1]), 0);
	assert_int_equal(ibv_destroy_comp_channel(a), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESTROY_CHANNEL], 0);
	b = ibv_create_comp_channel(f->context);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESTROY_CHANNEL], 1);
	assert_int_equal(b->fd, fd); /* the same number, another channel */
	cq[0] = ibv_create_cq(f->context, 1, NULL, b, 0);
	assert_non_null(cq[0]);
	assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_CHANNEL], created + 2);
	assert_int_equal(ibv_destroy_cq(cq[0]), 0);
	assert_int_equal(ibv_destroy_comp_channel(b), 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_create),
		TEST(test_create_fails),
		TEST(test_events),
		TEST(test_arm_unread),
		TEST(test_arm_while_destroyed),
		TEST(test_arm_unread_wraps),
		TEST(test_arm_unread_dead),
		TEST(test_destroy_purges),
		TEST(test_destroy_waits_for_acks),
		TEST(test_busy),
		TEST(test_channel_life),
		TEST(test_resize),
		TEST(test_resize_no_map),
		TEST(test_modify),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
