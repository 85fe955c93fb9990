/* SPDX-License-Identifier: BSD-2-Clause */
/* See workload.h: what a seed chooses, and the loop that runs it. */
#include "workload.h"

#include "workload_life.h"
#include "workload_make.h"
#include "workload_poison.h"

#include <assert.h>
#include <stdlib.h>

struct workload_limits workload_default(void)
{
	return (struct workload_limits){
		.max_loss = 200000, .max_messages = 24, .may_restart = true};
}

/* ---- the loop ---- */

void workload_poll(struct workload *l)
{
	struct uhca_abi_cqe e;

	for (unsigned i = 0; i < l->n_nodes; i++)
		for (unsigned k = 0; k < WORKLOAD_CQS; k++)
			while (vcq_poll(&l->node[i].cq[k], &e))
				model_completion(&l->model, &l->node[i].c, &e);
}

/* Some clients look at their queues seldom. */
static bool wants_poll(struct workload *l)
{
	return !l->lazy || !prng_below(&l->rng, 12);
}

/* Up to n completions of one queue: others wait, and what comes behind is done meanwhile. */
static void poll_some(struct workload *l, uint32_t n)
{
	struct workload_node *node = &l->node[prng_below(&l->rng, l->n_nodes)];
	struct vcq *cq = &node->cq[prng_below(&l->rng, WORKLOAD_CQS)];
	struct uhca_abi_cqe e;

	while (n-- && vcq_poll(cq, &e))
		model_completion(&l->model, &node->c, &e);
}

static bool all_posted(const struct workload *l)
{
	for (unsigned i = 0; i < l->n_ends; i++) {
		const struct workload_end *e = &l->end[i];

		if (e->to_post && (!e->model->failed || workload_may_restart(l, e)))
			return false;
	}
	return true;
}

/* Drains a send queue, or takes it up again: no completion may tell the difference. */
static void toggle_drain(struct workload *l, struct workload_end *end)
{
	enum ibv_qp_state state = vqp_state(&end->qp);
	int rc = 0;

	if (end->qp.type == IBV_QPT_XRC_RECV || end->model->failed ||
	    (state != IBV_QPS_RTS && state != IBV_QPS_SQD))
		return;
	rc = vqp_to_state(&end->qp, state == IBV_QPS_RTS ? IBV_QPS_SQD : IBV_QPS_RTS);
	world_assert(l->w, rc == 0);
	world_pump(l->w);
}

static void resume_all(struct workload *l)
{
	for (unsigned i = 0; i < l->n_ends; i++)
		if (vqp_state(&l->end[i].qp) == IBV_QPS_SQD)
			toggle_drain(l, &l->end[i]);
}

/* Now and then, and sooner when nothing else can be done. */
static bool wants_restart(struct workload *l, const struct workload_end *e)
{
	bool failed = e->model->failed || (e->peer && e->peer->model->failed);

	return workload_may_restart(l, e) && !prng_below(&l->rng, failed ? 4 : 60);
}

/* One of: post requests, post receives, let time pass, poll. */
static void act(struct workload *l)
{
	struct workload_end *end = &l->end[prng_below(&l->rng, l->n_ends)];
	uint32_t n = prng_range(&l->rng, 1, 6);

	if (wants_restart(l, end)) {
		workload_restart(l, end);
		return;
	}
	if (end->model->recvs->srq && !prng_below(&l->rng, 6))
		model_arm_limit(end->model->recvs,
				prng_below(&l->rng, end->model->recvs->srq->recv.max_wr + 1));
	if (l->windows && end->qp.type == IBV_QPT_RC)
		workload_window_step(l, end);
	switch (prng_below(&l->rng, 13)) {
	case 0:
		if (workload_may_restart(l, end) && !prng_below(&l->rng, 3))
			workload_poison(l, end);
		else
			toggle_drain(l, end);
		break;
	case 1:
	case 2:
	case 3:
	case 4:
		while (n--)
			workload_post(l, end);
		world_pump(l->w);
		break;
	case 5:
	case 6:
		workload_post_recvs(l, end, n);
		break;
	case 7:
		if (wants_poll(l))
			workload_poll(l);
		break;
	case 8:
		if (wants_poll(l))
			poll_some(l, n);
		break;
	default:
		while (n-- && world_step(l->w))
			;
		break;
	}
}

/* Everything is posted: what is missing of receives, then until all is idle. */
static void wind_up(struct workload *l)
{
	uint64_t end = l->w->now + 600000000000ull;
	bool more = true;

	resume_all(l);
	while (more) {
		for (unsigned i = 0; i < l->n_ends; i++)
			workload_post_recvs(l, &l->end[i], 16);
		if (wants_poll(l))
			workload_poll(l);
		more = world_step(l->w);
		if (l->w->now > end)
			world_fail(l->w, "not done after ten minutes");
	}
	workload_poll(l);
}

/* No packet, no timer, no stale doorbell: the fabric is idle and stays so. */
static void check_idle(struct workload *l)
{
	for (unsigned i = 0; i < l->w->n_devices; i++)
		world_assert(l->w, core_next_deadline(l->w->device[i].host.dev) == UINT64_MAX);
}

void workload_run(uint64_t seed, const struct workload_limits *limits)
{
	struct workload *l = calloc(1, sizeof *l);

	assert(l);
	l->limits = *limits;
	l->rng = (struct prng){seed ^ 0x776f726b6c6f6164ull};
	workload_make(l, seed);
	while (!all_posted(l))
		act(l);
	wind_up(l);
	check_idle(l);
	model_finish(&l->model);
	workload_unmake(l);
	free(l);
}
