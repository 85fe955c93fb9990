/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of librdmacm that fail or wait because a rule says so, errors of addresses and routes as
 * the kernel tells them, and the end of a device under its ids. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <string.h>
#include <unistd.h>

static struct uhcactl *ctl;

/* uhca0's own: another daemon of the host may have 127.0.0.1. */
static struct sockaddr_in address(uint16_t port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct ibv_context *ctx = world_open("uhca0");
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(ctx, 1, 0, &gid), 0);
	memcpy(&a.sin_addr, gid.raw + 12, 4);
	assert_int_equal(ibv_close_device(ctx), 0);
	return a;
}

static int add(const char *rule)
{
	struct uhcactl_error error;
	int number = uhcactl_fault_add(ctl, rule, &error);

	if (number <= 0)
		fail_msg("%s: column %u: %s", rule, error.column, error.text);
	return number;
}

static void end(int rule, uint64_t hits)
{
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), hits);
	assert_true(uhcactl_fault_remove(ctl, rule, NULL) >= 0);
}

struct stage {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

static int setup(void **state)
{
	static struct stage s;

	ctl = uhcactl_open(NULL, NULL);
	assert_non_null(ctl);
	s.channel = rdma_create_event_channel();
	assert_non_null(s.channel);
	assert_int_equal(rdma_create_id(s.channel, &s.id, NULL, RDMA_PS_TCP), 0);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	assert_true(uhcactl_fault_clear(ctl, NULL) >= 0);
	uhcactl_close(ctl);
	assert_int_equal(rdma_destroy_id(s->id), 0);
	rdma_destroy_event_channel(s->channel);
	return 0;
}

/* The next event is this one; returns its status. */
static int take_event(struct stage *s, enum rdma_cm_event_type type)
{
	struct pollfd p = {.fd = s->channel->fd, .events = POLLIN};
	struct rdma_cm_event *e;
	int status;

	assert_int_equal(poll(&p, 1, FAULTY_DEADLINE), 1);
	assert_int_equal(rdma_get_cm_event(s->channel, &e), 0);
	assert_string_equal(rdma_event_str(e->event), rdma_event_str(type));
	status = e->status;
	assert_int_equal(rdma_ack_cm_event(e), 0);
	return status;
}

static int resolve_addr(struct rdma_cm_id *id)
{
	struct sockaddr_in to = address(7471);

	return rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000);
}

/* Told at once, or by an event; then it can be tried again. */
static void test_address(void **state)
{
	static const struct {
		const char *rule;
		int error;
		bool later;
	} cases[] = {
		{"call.fail=EADDRNOTAVAIL call=rdma_resolve_addr nth=1", EADDRNOTAVAIL, false},
		{"call.fail=ENETUNREACH call=rdma_resolve_addr nth=1", ENETUNREACH, false},
		{"call.fail=ETIMEDOUT call=rdma_resolve_addr nth=1", ETIMEDOUT, true},
		{"call.fail=EHOSTUNREACH call=rdma_resolve_addr nth=1", EHOSTUNREACH, true},
		{"call.fail=ENODEV call=rdma_resolve_addr nth=1", ENODEV, true},
	};
	struct stage *s = *state;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rule = add(cases[i].rule);

		if (cases[i].later) {
			assert_int_equal(resolve_addr(s->id), 0);
			assert_int_equal(take_event(s, RDMA_CM_EVENT_ADDR_ERROR), -cases[i].error);
		} else {
			assert_int_equal(resolve_addr(s->id), -1);
			assert_int_equal(errno, cases[i].error);
		}
		end(rule, 1);
	}
	assert_int_equal(resolve_addr(s->id), 0);
	assert_int_equal(take_event(s, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
}

static void test_route(void **state)
{
	struct stage *s = *state;
	int now = add("call.fail=EINVAL call=rdma_resolve_route nth=1");
	int later = add("call.fail=ETIMEDOUT call=rdma_resolve_route nth=1");

	assert_int_equal(resolve_addr(s->id), 0);
	assert_int_equal(take_event(s, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
	assert_int_equal(rdma_resolve_route(s->id, 1000), -1);
	assert_int_equal(errno, EINVAL);
	end(now, 1);
	assert_int_equal(rdma_resolve_route(s->id, 1000), 0);
	assert_int_equal(take_event(s, RDMA_CM_EVENT_ROUTE_ERROR), -ETIMEDOUT);
	end(later, 1);
	assert_int_equal(rdma_resolve_route(s->id, 1000), 0);
	assert_int_equal(take_event(s, RDMA_CM_EVENT_ROUTE_RESOLVED), 0);
}

static void test_others(void **state)
{
	struct stage *s = *state;
	struct sockaddr_in at = address(0);
	struct rdma_cm_id *id;
	int create = add("call.fail=ENOMEM call=rdma_create_id nth=1");
	int bind = add("call.fail=EADDRINUSE call=rdma_bind_addr nth=1");
	int listen = add("call.fail=ENOSPC call=rdma_listen nth=1");

	assert_int_equal(rdma_create_id(s->channel, &id, NULL, RDMA_PS_TCP), -1);
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(rdma_bind_addr(s->id, (struct sockaddr *)&at), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_int_equal(rdma_bind_addr(s->id, (struct sockaddr *)&at), 0);
	assert_int_equal(rdma_listen(s->id, 1), -1);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(rdma_listen(s->id, 1), 0);
	end(create, 1);
	end(bind, 1);
	end(listen, 1);
}

static void *resolve_slowly(void *id)
{
	return resolve_addr(id) ? id : NULL;
}

/* One id waits; another one of the same channel goes on. */
static void test_slow(void **state)
{
	struct stage *s = *state;
	struct sockaddr_in at = address(0);
	uint64_t begin = faulty_now();
	int rule = add("call.slow=500ms call=rdma_resolve_addr nth=1");
	struct rdma_cm_id *other;
	pthread_t thread;
	void *failed;

	assert_int_equal(rdma_create_id(s->channel, &other, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(pthread_create(&thread, NULL, resolve_slowly, s->id), 0);
	assert_int_equal(uhcactl_fault_wait(ctl, rule, 1, FAULTY_DEADLINE, NULL), 0);
	assert_int_equal(rdma_bind_addr(other, (struct sockaddr *)&at), 0);
	assert_int_equal(rdma_destroy_id(other), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	assert_true(faulty_now() - begin >= 490);
	assert_int_equal(take_event(s, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
	end(rule, 1);
}

/* Each id of the device hears of it; it can do nothing more, and be ended. */
static void test_removal(void **state)
{
	struct stage *s = *state;
	struct sockaddr_in at = address(0);
	struct rdma_cm_id *listener;
	int rule;

	assert_int_equal(rdma_create_id(s->channel, &listener, NULL, RDMA_PS_TCP), 0);
	assert_int_equal(rdma_bind_addr(listener, (struct sockaddr *)&at), 0);
	assert_int_equal(rdma_listen(listener, 1), 0);
	assert_int_equal(resolve_addr(s->id), 0);
	assert_int_equal(take_event(s, RDMA_CM_EVENT_ADDR_RESOLVED), 0);
	rule = add("dev.fatal at=time dev=uhca0 after=0s");
	take_event(s, RDMA_CM_EVENT_DEVICE_REMOVAL);
	take_event(s, RDMA_CM_EVENT_DEVICE_REMOVAL);
	end(rule, 1);
	assert_int_equal(rdma_resolve_route(s->id, 1000), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(rdma_destroy_id(listener), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_address), CASE(test_route),   CASE(test_others),
		CASE(test_slow),    CASE(test_removal), /* the last: librdmacm keeps devices open */
	};

	return cmocka_run_group_tests_name("fault_cm", tests, NULL, NULL);
}
