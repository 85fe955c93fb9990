/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A test as users of libuhcactl write theirs: plain libibverbs, a rule in force for one case, what
 * the program then sees, the rule gone again. Run below uhca-run --private --devices 2.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <uhcactl.h>

#define DEADLINE (WORLD_LIMIT * 1000)

static struct uhcactl *ctl;
static struct uhcactl_error error;

static int setup(void **state)
{
	ctl = uhcactl_open(NULL, &error);
	if (!ctl)
		fail_msg("%s", error.text);
	return world_setup(state);
}

/* Whatever a case left. */
static int teardown(void **state)
{
	uhcactl_fault_clear(ctl, NULL);
	uhcactl_close(ctl);
	return world_teardown(state);
}

static int add(const char *rule)
{
	int number = uhcactl_fault_add(ctl, rule, &error);

	if (number <= 0)
		fail_msg("column %u: %s", error.column, error.text);
	return number;
}

static uint64_t counter(const char *name)
{
	uint64_t value;

	assert_int_equal(uhcactl_counter(ctl, "uhca0", name, &value, &error), 0);
	return value;
}

/* A rule of packets: the acknowledgement is lost, the message arrives once all the same. */
static void test_lost_ack(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	uint64_t before = counter("duplicates");
	int rule = add("lost-ack: drop opcode=rc.ack nth=1");

	world_assert_works(w, qp);
	assert_int_equal(uhcactl_fault_wait(ctl, rule, 1, DEADLINE, &error), 0);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), 1);
	assert_int_equal(counter("duplicates"), before + 1);
	assert_int_equal(uhcactl_fault_remove(ctl, rule, &error), 0);
	assert_int_equal(uhcactl_fault_remove(ctl, rule, &error), -EINVAL);
	assert_string_equal(error.text, "unknown rule '1'");
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A rule that answers for the peer: the exact status, and the way back. */
static void test_access_error(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_sge sge = {(uintptr_t)w->memory, 8, w->mr->lkey};
	struct ibv_send_wr send = {.sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_RDMA_WRITE,
				   .wr.rdma = {(uintptr_t)w->memory + 8, w->mr->rkey}};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int rule = add("nak=access opcode=write times=1");

	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	qp = world_qp(w, NULL);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* A rule of calls: the errno that is asked for, once, and nothing is left of it. */
static void test_failed_call(void **state)
{
	struct world *w = *state;
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);
	struct ibv_qp *qp;
	int rule = add("call.fail=ENOMEM call=create_qp nth=1");

	errno = 0;
	assert_null(ibv_create_qp(w->pd, &attr));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), 1);
	qp = ibv_create_qp(w->pd, &attr);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Another rule in the place of one: it counts anew. */
static void test_change(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int rule = add("drop opcode=rc.ack nth=1");

	world_assert_works(w, qp);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), 1);
	assert_int_equal(uhcactl_fault_change(ctl, rule, "ecn opcode=send", &error), 0);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, NULL), 0);
	world_assert_works(w, qp);
	assert_int_not_equal(uhcactl_fault_hits(ctl, rule, NULL), 0);
	assert_int_equal(uhcactl_fault_clear(ctl, NULL), 0);
	assert_int_equal(uhcactl_fault_hits(ctl, rule, &error), -ENOENT);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_mistakes(void **state)
{
	uint64_t value;

	(void)state;
	assert_int_equal(uhcactl_fault_add(ctl, "drop opcod=rc.ack", &error), -EINVAL);
	assert_int_equal(error.column, 6);
	assert_true(strlen(error.text) > 0);
	assert_int_equal(uhcactl_fault_add(ctl, "drop opcod=rc.ack", NULL), -EINVAL);
	assert_int_equal(uhcactl_fault_change(ctl, 4711, "drop", &error), -EINVAL);
	assert_int_equal(uhcactl_fault_wait(ctl, add("drop client=4711"), 1, 0, &error),
			 -ETIMEDOUT);
	assert_int_equal(uhcactl_counter(ctl, "uhca0", "dreams", &value, &error), -ENOENT);
	assert_int_equal(uhcactl_counter(ctl, "uhca7", "errors", &value, &error), -ENOENT);
	assert_int_equal(uhcactl_counter(ctl, NULL, "errors", &value, &error), -ENOENT);
	assert_int_equal(uhcactl_event(ctl, "uhca0", "DOOMSDAY", &error), -EINVAL);
	assert_int_equal(uhcactl_port(ctl, "uhca7", 1, &error), -EINVAL);
	assert_int_equal(uhcactl_fault_now(ctl, "drop", &error), -EINVAL);
	assert_int_equal(error.column, 1);
	assert_int_equal(uhcactl_fault_now(ctl, "dev.unplug dev=uhca7", &error), -EINVAL);
	assert_int_equal(error.column, 16);
	assert_null(uhcactl_open("/nonexistent/instance", &error));
	assert_null(uhcactl_open(".", &error));
	assert_null(uhcactl_open("no-such-instance-of-anybody", NULL));
	uhcactl_close(NULL);
}

static void expect_async(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct pollfd p = {.fd = ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&p, 1, DEADLINE), 1);
	assert_int_equal(ibv_get_async_event(ctx, &event), 0);
	assert_int_equal(event.event_type, type);
	ibv_ack_async_event(&event);
}

static void test_events(void **state)
{
	struct world *w = *state;

	assert_int_equal(uhcactl_port(ctl, "uhca0", 0, &error), 0);
	expect_async(w->ctx, IBV_EVENT_PORT_ERR);
	assert_int_equal(uhcactl_port(ctl, "uhca0", 1, &error), 0);
	expect_async(w->ctx, IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(uhcactl_event(ctl, "uhca0", "GID_CHANGE", &error), 0);
	expect_async(w->ctx, IBV_EVENT_GID_CHANGE);
	assert_int_equal(uhcactl_fault_now(ctl, "gid.change", &error), 2);
	expect_async(w->ctx, IBV_EVENT_GID_CHANGE);
	add("port.down=1ms after=1ms device=uhca0");
	expect_async(w->ctx, IBV_EVENT_PORT_ERR);
	expect_async(w->ctx, IBV_EVENT_PORT_ACTIVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lost_ack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_access_error, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mistakes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
