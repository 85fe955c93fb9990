/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry of channels: closed ones are found and cost nothing afterwards, and a program that
 * has many does not pay for them when it makes one more.
 */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MANY 300u

static _Thread_local unsigned looks; /* descriptors that were polled without waiting */

/* In place of the C library's, for the plugin as well. */
__attribute__((visibility("default"))) int poll(struct pollfd *p, nfds_t n, int timeout)
{
	struct timespec t = {timeout / 1000, timeout % 1000 * 1000000L};

	looks += timeout == 0 ? (unsigned)n : 0;
	return ppoll(p, n, timeout < 0 ? NULL : &t, NULL);
}

static void make(struct verbs_fixture *f, struct ibv_comp_channel **ch, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		ch[i] = ibv_create_comp_channel(f->context);
		assert_non_null(ch[i]);
	}
}

static void destroy(struct ibv_comp_channel **ch, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(ibv_destroy_comp_channel(ch[i]), 0);
}

/* Open descriptors of this process below the limit; each channel has two. */
static unsigned open_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += dup2(fd, fd) == fd;
	return n;
}

struct use {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

static void *use_cancelled(void *arg)
{
	struct use *u = arg;

	pthread_cancel(pthread_self());
	u->cq = ibv_create_cq(u->channel->context, 1, NULL, u->channel, 0);
	pthread_testcancel();
	return NULL;
}

/*
 * A thread that is cancelled comes to the end of its call, and the registry's lock does not stay.
 */
static void test_cancelled(void **state)
{
	struct ibv_comp_channel *ch[2]; /* one to use, one to look at */
	struct use use = {0};
	pthread_t thread;
	void *result;

	make(*state, ch, 2);
	use.channel = ch[0];
	assert_int_equal(pthread_create(&thread, NULL, use_cancelled, &use), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_non_null(use.cq);
	assert_int_equal(ibv_destroy_cq(use.cq), 0);
	destroy(ch, 2);
}

static void test_many(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *ch[MANY], *one;

	make(f, ch, MANY);
	looks = 0;
	make(f, &one, 1);
	assert_in_range(looks, 1, 8);
	destroy(&one, 1);
	destroy(ch, MANY);
}

/* Closed ones are found, wherever they stand among those that are open. */
static void test_closed_among_open(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *ch[MANY], *one;
	unsigned before;

	make(f, ch, MANY);
	before = open_fds();
	destroy(ch + MANY / 2, 20);
	for (unsigned i = 0; i < MANY; i++) {
		make(f, &one, 1);
		destroy(&one, 1);
	}
	/* What came last may stay until the turn comes to it. */
	assert_in_range(open_fds(), before - 40, before - 40 + MANY / 7 + 1);
	destroy(ch, MANY / 2);
	destroy(ch + MANY / 2 + 20, MANY / 2 - 20);
}

/* All that a program closed is free again with the next one it makes. */
static void test_all_closed(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *ch[MANY], *one;
	unsigned before;

	make(f, &one, 1);
	destroy(&one, 1);
	before = open_fds();
	make(f, ch, MANY);
	destroy(ch, MANY);
	make(f, &one, 1);
	assert_int_equal(open_fds(), before + 1); /* it has two, and the first of all left one */
	destroy(&one, 1);
}

/* Where descriptors are short, those of closed channels are found first. */
static void test_short_of_descriptors(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *ch[MANY], *one;
	struct rlimit old, low;

	make(f, ch, MANY);
	destroy(&ch[MANY - 1], 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = (struct rlimit){(rlim_t)dup(0), old.rlim_max};
	close((int)low.rlim_cur);
	low.rlim_cur += 2; /* the end that was closed is free, ours of that channel is not, yet */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	one = ibv_create_comp_channel(f->context);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_non_null(one);
	destroy(&one, 1);
	destroy(ch, MANY - 1);
}

/* Where no descriptor is left, and none of a closed channel is to be had, there is no channel. */
static void test_no_descriptor(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *one;
	struct rlimit old, low;

	make(f, &one, 1);
	destroy(&one, 1);
	make(f, &one, 1); /* of what was closed there is nothing left now */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = (struct rlimit){(rlim_t)dup(0), old.rlim_max};
	close((int)low.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	errno = 0;
	assert_null(ibv_create_comp_channel(f->context));
	assert_int_equal(errno, EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	destroy(&one, 1);
}

/* A number that is used again names the new channel only. */
static void test_number_used_again(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_comp_channel *old, *new;
	unsigned created = f->daemon.calls[UHCA_CMD_CREATE_CHANNEL];
	struct ibv_cq *cq;
	int fd;

	make(f, &old, 1);
	fd = old->fd;
	destroy(&old, 1);
	make(f, &new, 1);
	assert_int_equal(new->fd, fd);
	cq = ibv_create_cq(f->context, 1, NULL, new, 0);
	assert_non_null(cq);
	assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_CHANNEL], created + 1);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	destroy(&new, 1);
}

/* Of many CQs one after the other, and of two at a time: it is made once, and nothing is left. */
static void test_shared(void **state)
{
	struct verbs_fixture *f = *state;
	unsigned created = f->daemon.calls[UHCA_CMD_CREATE_CHANNEL], before = open_fds();
	struct ibv_comp_channel *ch;
	struct ibv_cq *cq[2];

	for (unsigned round = 1; round <= 50; round++) {
		make(f, &ch, 1);
		for (unsigned i = 0; i < 2; i++) {
			cq[i] = ibv_create_cq(f->context, 1, NULL, ch, 0);
			assert_non_null(cq[i]);
		}
		assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_CHANNEL], created + round);
		assert_int_equal(ibv_destroy_cq(cq[0]), 0);
		assert_int_equal(ibv_destroy_comp_channel(ch), EBUSY);
		cq[0] = ibv_create_cq(f->context, 1, NULL, ch, 0);
		assert_non_null(cq[0]);
		for (unsigned i = 0; i < 2; i++)
			assert_int_equal(ibv_destroy_cq(cq[i]), 0);
		destroy(&ch, 1);
	}
	make(f, &ch, 1);
	assert_in_range(open_fds(), before, before + 3);
	destroy(&ch, 1);
}

/* A channel belongs to the context of its first CQ; what is no channel is none. */
static void test_of_another(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_context *other = verbs_fixture_open();
	struct ibv_comp_channel *ch, none;
	struct ibv_cq *cq;
	int fd = dup(0);

	assert_non_null(other);
	make(f, &ch, 1);
	cq = ibv_create_cq(f->context, 1, NULL, ch, 0);
	assert_non_null(cq);
	errno = 0;
	assert_null(ibv_create_cq(other, 1, NULL, ch, 0));
	assert_int_equal(errno, EINVAL);
	none = *ch;
	none.fd = fd;
	errno = 0;
	assert_null(ibv_create_cq(f->context, 1, NULL, &none, 0));
	assert_int_equal(errno, EINVAL);
	close(fd);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	destroy(&ch, 1);
	assert_int_equal(ibv_close_device(other), 0);
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cancelled),
		TEST(test_many),
		TEST(test_closed_among_open),
		TEST(test_all_closed),
		TEST(test_short_of_descriptors),
		TEST(test_no_descriptor),
		TEST(test_number_used_again),
		TEST(test_shared),
		TEST(test_of_another),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
