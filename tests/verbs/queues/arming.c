/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arming a CQ in which completions wait to be polled (ibv_req_notify_cq(3)), below uhca-run; the
 * argument says how the daemon takes it: "announced" (an event at once, if none has announced
 * them), or "strict" (--strict-arming, --profile ib-strict: they are none of the arming's
 * business). On both the events are as many as the completions at the most.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUIET_MS 50 /* how long "nothing comes" is waited for */
#define ROUNDS   2000

/* Receives complete on the world's CQ, which has the channel, and sends on another one. */
struct line {
	struct world *w;
	struct ibv_cq *sent;
	struct ibv_qp *qp;
};

static void line_open(struct line *l, struct world *w)
{
	struct ibv_qp_init_attr attr = world_init_attr(w, IBV_QPT_RC);

	l->w = w;
	l->sent = ibv_create_cq(w->ctx, WORLD_CQE, NULL, NULL, 0);
	assert_non_null(l->sent);
	attr.send_cq = l->sent;
	l->qp = ibv_create_qp(w->pd, &attr);
	assert_non_null(l->qp);
	world_connect(l->qp, l->qp->qp_num, IBV_QPS_RTS);
}

static void line_close(struct line *l)
{
	if (l->qp)
		assert_int_equal(ibv_destroy_qp(l->qp), 0);
	assert_int_equal(ibv_destroy_cq(l->sent), 0);
}

static void post_recv(struct ibv_qp *qp)
{
	struct ibv_recv_wr recv = {.num_sge = 0}, *bad;

	assert_int_equal(ibv_post_recv(qp, &recv, &bad), 0);
}

static void post_send(struct ibv_qp *qp, unsigned flags)
{
	struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = flags}, *bad;

	assert_int_equal(ibv_post_send(qp, &send, &bad), 0);
}

/* A message; when this returns its receive stands in the CQ: the other end acknowledged it. */
static void receive(struct line *l, unsigned flags)
{
	struct ibv_wc wc;

	post_recv(l->qp);
	post_send(l->qp, flags);
	world_poll(l->sent, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
}

static void drain(struct line *l, unsigned n)
{
	struct ibv_wc wc;

	while (n--)
		world_poll(l->w->cq, &wc);
	assert_int_equal(ibv_poll_cq(l->w->cq, 1, &wc), 0);
}

static void arm(struct line *l, int solicited_only)
{
	assert_int_equal(ibv_req_notify_cq(l->w->cq, solicited_only), 0);
}

static int readable(struct world *w, int ms)
{
	struct pollfd p = {.fd = w->channel->fd, .events = POLLIN};

	return poll(&p, 1, ms);
}

static void take_event(struct world *w)
{
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(readable(w, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), 0);
	assert_ptr_equal(cq, w->cq);
	ibv_ack_cq_events(cq, 1);
}

static void expect_event(struct line *l)
{
	take_event(l->w);
	assert_int_equal(readable(l->w, QUIET_MS), 0);
}

static void expect_none(struct line *l)
{
	assert_int_equal(readable(l->w, QUIET_MS), 0);
}

/* ---- on both kinds of devices ---- */

static void test_taken(void **state)
{
	struct line l;

	line_open(&l, *state);
	receive(&l, IBV_SEND_SOLICITED);
	drain(&l, 1);
	arm(&l, 1);
	arm(&l, 0);
	expect_none(&l);
	receive(&l, 0);
	expect_event(&l);
	receive(&l, 0);
	drain(&l, 2);
	arm(&l, 0);
	expect_none(&l);
	line_close(&l);
}

/* Get the event, arm, then poll: what raised the event does not raise another one. */
static void test_had_its_event(void **state)
{
	struct line l;

	line_open(&l, *state);
	arm(&l, 0);
	receive(&l, 0);
	expect_event(&l);
	arm(&l, 0);
	expect_none(&l);
	drain(&l, 1);
	receive(&l, 0);
	expect_event(&l);
	line_close(&l);
}

/* ---- announced ---- */

static void test_unread(void **state)
{
	struct line l;

	line_open(&l, *state);
	receive(&l, 0);
	receive(&l, 0);
	expect_none(&l);
	arm(&l, 0);
	expect_event(&l);
	arm(&l, 0); /* one event for both */
	expect_none(&l);
	drain(&l, 2);
	receive(&l, 0);
	expect_event(&l);
	line_close(&l);
}

static void test_solicited(void **state)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	struct line l;

	line_open(&l, *state);
	receive(&l, 0);
	arm(&l, 1);
	expect_none(&l);
	arm(&l, 0); /* the wider wish */
	expect_event(&l);
	receive(&l, 0);
	receive(&l, IBV_SEND_SOLICITED);
	receive(&l, 0);
	arm(&l, 1);
	expect_event(&l);
	drain(&l, 4);
	post_recv(l.qp);
	assert_int_equal(ibv_modify_qp(l.qp, &error, IBV_QP_STATE), 0);
	arm(&l, 1); /* an error counts as solicited */
	expect_event(&l);
	drain(&l, 1);
	line_close(&l);
}

/* Completions of a QP that is gone are never polled: they are nothing to be woken for. */
static void test_gone(void **state)
{
	struct line l;

	line_open(&l, *state);
	receive(&l, 0);
	assert_int_equal(ibv_destroy_qp(l.qp), 0);
	l.qp = NULL;
	arm(&l, 0);
	expect_none(&l);
	drain(&l, 0);
	line_close(&l);
}

static void test_resized(void **state)
{
	struct line l;

	line_open(&l, *state);
	receive(&l, 0);
	assert_int_equal(ibv_resize_cq(l.w->cq, 2 * WORLD_CQE), 0);
	arm(&l, 0);
	expect_event(&l);
	assert_int_equal(ibv_resize_cq(l.w->cq, WORLD_CQE), 0);
	arm(&l, 0);
	expect_none(&l);
	drain(&l, 1);
	line_close(&l);
}

/* An entry that is being read is taken. */
static void test_being_read(void **state)
{
	struct world *w = *state;
	struct ibv_cq *mine = w->cq;
	struct ibv_cq_init_attr_ex attr = {.cqe = WORLD_CQE,
					   .channel = w->channel,
					   .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					   .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(w->ctx, &attr);
	struct line l;

	assert_non_null(cq);
	w->cq = ibv_cq_ex_to_cq(cq);
	line_open(&l, w);
	receive(&l, 0);
	assert_int_equal(ibv_start_poll(cq, &(struct ibv_poll_cq_attr){0}), 0);
	arm(&l, 0);
	expect_none(&l);
	receive(&l, 0);
	expect_event(&l);
	ibv_end_poll(cq);
	drain(&l, 1);
	line_close(&l);
	assert_int_equal(ibv_destroy_cq(w->cq), 0);
	w->cq = mine;
}

/*
 * Poll until there is nothing, arm, wait, and do not poll again: what came between the two raises
 * the event, and each event has a completion of its own.
 */
static void test_never_polls_again(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	unsigned events = 0, done = 0;
	struct ibv_wc wc;

	for (unsigned round = 0; round < ROUNDS; round++) {
		post_recv(qp);
		post_send(qp, 0);
		while (done < 2 * (round + 1)) {
			int n = ibv_poll_cq(w->cq, 1, &wc);
			assert_in_range(n, 0, 1);
			done += (unsigned)n;
			if (n)
				continue;
			assert_int_equal(ibv_req_notify_cq(w->cq, 0), 0);
			take_event(w);
			events++;
		}
		assert_true(events <= done);
	}
	printf("%u completions, %u events\n", done, events);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- strict ---- */

static void test_strict(void **state)
{
	struct line l;

	line_open(&l, *state);
	receive(&l, IBV_SEND_SOLICITED);
	arm(&l, 1);
	arm(&l, 0);
	expect_none(&l);
	receive(&l, 0);
	expect_event(&l);
	drain(&l, 2);
	line_close(&l);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest announced[] = {
		TEST(test_taken),      TEST(test_had_its_event),
		TEST(test_unread),     TEST(test_solicited),
		TEST(test_gone),       TEST(test_resized),
		TEST(test_being_read), TEST(test_never_polls_again),
	};
	const struct CMUnitTest strict[] = {
		TEST(test_taken),
		TEST(test_had_its_event),
		TEST(test_strict),
	};

	alarm(300); /* a hang is a failure */
	if (argc == 2 && strcmp(argv[1], "announced") == 0)
		return cmocka_run_group_tests_name("arming", announced, NULL, NULL);
	if (argc == 2 && strcmp(argv[1], "strict") == 0)
		return cmocka_run_group_tests_name("arming, strict", strict, NULL, NULL);
	fprintf(stderr, "usage: arming announced|strict\n");
	return 2;
}
