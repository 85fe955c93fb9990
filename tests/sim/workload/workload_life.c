/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends and remakes connections of a random workload while data flows. */
#include "workload_life.h"

#include "workload_make.h"

#include "emu/core/base/device.h"
#include "emu/core/memory/memory.h"

#include <string.h>

enum how { BY_ERROR, BY_RESET, BY_DESTRUCTION, WAYS };

bool workload_may_restart(const struct workload *l, const struct workload_end *e)
{
	return l->lives && e->lives + 1 < MODEL_MAX_LIVES;
}

/* ---- down ---- */

static void stop(struct workload *l, struct workload_end *e, enum how how)
{
	int rc = 0;

	journal_note(&l->w->journal, l->w->now, "stopped", e->qp.qpn, how);
	if (how == BY_DESTRUCTION && e->peer) /* a QP with windows of type 2A stays */
		workload_window_ended(l, e->peer, false);
	switch (how) {
	case BY_ERROR:
		rc = vqp_to_state(&e->qp, IBV_QPS_ERR);
		break;
	case BY_RESET:
		rc = vqp_to_state(&e->qp, IBV_QPS_RESET);
		break;
	case BY_DESTRUCTION:
		rc = vqp_destroy(&e->qp);
		break;
	case WAYS:
		break;
	}
	world_assert(l->w, rc == 0);
}

/* What goes on at an end whose peer is gone; one that is in ERR may post, too. */
static void meanwhile(struct workload *l, struct workload_end *e)
{
	for (uint32_t n = prng_below(&l->rng, 12); n; n--)
		switch (prng_below(&l->rng, 4)) {
		case 0:
			workload_post(l, e);
			break;
		case 1:
			workload_post_recvs(l, e, 2);
			break;
		case 2:
			workload_poll(l);
			break;
		default:
			world_step(l->w);
			break;
		}
	world_pump(l->w);
}

/* A queue in ERR has completed all it was given; then it is reset, or made anew. */
static void clear(struct workload *l, struct workload_end *e, enum how how)
{
	int rc;

	if (how != BY_ERROR)
		return;
	model_drained(e->model);
	rc = vqp_to_state(&e->qp, IBV_QPS_RESET);
	world_assert(l->w, rc == 0);
}

/* With the number it had before, or another. */
static void make_anew(struct workload *l, struct workload_end *e)
{
	uint32_t old = e->qp.qpn;
	int rc;

	if (prng_below(&l->rng, 2))
		table_revive(&e->node->c.host->dev->qpns, old);
	rc = vqp_create(&e->node->c, &e->init, &e->qp);
	world_assert(l->w, rc == 0);
	if (e->qp.qpn != old)
		model_renamed(e->model, old);
}

/* Whether the registration that was posted last has happened nobody can tell. */
static void renew_key(struct workload *l, struct workload_end *e)
{
	int rc;

	if (!e->key.mr.lkey)
		return;
	rc = vclient_dereg_mr(&e->node->c, &e->key.mr);
	world_assert(l->w, rc == 0);
	workload_key_alloc(l, &e->node->c, &e->key);
}

/* The model looks at memory that no completion speaks of. */
static void settle(const struct workload *l)
{
	for (unsigned i = 0; i < l->w->n_devices; i++)
		delayed_write_settle(l->w->device[i].host.dev);
}

static void ended(struct workload *l, struct workload_end *e, enum how how)
{
	e->lives++;
	settle(l);
	model_ended(e->model);
	renew_key(l, e);
	if (e->peer)
		workload_window_ended(l, e, prng_below(&l->rng, 2));
	if (how == BY_DESTRUCTION)
		make_anew(l, e);
}

/* ---- up ---- */

/* Far from all that the last connection sent, so that its packets are old or from the future. */
static uint32_t next_psn(struct workload *l, uint32_t psn)
{
	return (psn + prng_range(&l->rng, 1u << 19, 1u << 21)) & 0xffffff;
}

static void connect_again(struct workload *l, struct workload_end *a, struct workload_end *b)
{
	struct vqp_conn mirror;
	int rc;

	a->conn.sq_psn = next_psn(l, a->conn.sq_psn);
	a->conn.rq_psn = next_psn(l, a->conn.rq_psn);
	b->conn = mirror = a->conn;
	b->conn.sq_psn = mirror.rq_psn = a->conn.rq_psn;
	b->conn.rq_psn = a->conn.sq_psn;
	rc = vqp_init(&a->qp, &a->conn);
	rc = rc ? rc : vqp_init(&b->qp, &b->conn);
	rc = rc ? rc : vqp_rtr(&b->qp, &b->conn, a->node->c.host, a->qp.qpn);
	rc = rc ? rc : vqp_rts(&b->qp, &b->conn);
	world_assert(l->w, rc == 0);
	/* One side is faster than the other, but no more than its retries allow. */
	workload_post_recvs(l, a, 2);
	workload_post(l, b);
	for (uint32_t n = prng_below(&l->rng, 3); n; n--)
		world_step(l->w);
	rc = vqp_rtr(&a->qp, &a->conn, b->node->c.host, b->qp.qpn);
	for (uint32_t n = prng_below(&l->rng, 3); n; n--)
		world_step(l->w);
	rc = rc ? rc : vqp_rts(&a->qp, &a->conn);
	world_assert(l->w, rc == 0);
}

void workload_restart(struct workload *l, struct workload_end *e)
{
	struct workload_end *o = e->peer;
	enum how how = prng_below(&l->rng, WAYS), his = prng_below(&l->rng, WAYS);

	model_stopped(e->model);
	if (o)
		model_stopped(o->model);
	stop(l, e, how);
	if (how == BY_ERROR)
		meanwhile(l, e);
	if (o) {
		meanwhile(l, o);
		stop(l, o, his);
	}
	world_pump(l->w);
	workload_poll(l);
	clear(l, e, how);
	if (o) {
		clear(l, o, his);
		if (how == BY_ERROR && his == BY_ERROR) {
			model_drained_both(e->model);
			model_drained_both(o->model);
		}
		ended(l, o, his);
	}
	ended(l, e, how);
	if (o)
		connect_again(l, e, o);
	else
		vqp_activate(&e->qp, &e->conn);
	journal_note(&l->w->journal, l->w->now, "again", e->qp.qpn, o ? o->qp.qpn : 0);
}
