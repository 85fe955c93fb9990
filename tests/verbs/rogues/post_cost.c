/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What posting and polling cost a program, in nanoseconds per request: ibv_post_send and
 * ibv_poll_cq, ibv_wr_* and extended polling, and both without locks (thread domain). Only the
 * calls are timed: a round posts a batch, waits until it is complete, polls it one by one. The ways
 * take turns round by round, so that a slow moment of the machine does not hit one only.
 *
 * "Post" holds the waking of a sleeping daemon, shared by the batch. Prints a table and ends with
 * 0; how fast is for the reader to judge.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH  16u
#define ROUNDS 2000u
#define BYTES  8u

enum { OLD, OLD_UNLOCKED, NEW, NEW_UNLOCKED, WAYS };

static const char *const name[WAYS] = {"ibv_post_send, ibv_poll_cq", "  in a thread domain",
				       "ibv_wr_*, extended polling", "  in a thread domain"};

struct way {
	struct ibv_pd *pd;
	struct ibv_cq_ex *cq;
	struct ibv_qp *qp;
	uint64_t polled; /* in polls that are counted */
	uint64_t post_ns, poll_ns, enter_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_way(struct rig *r, struct way *w, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr domain = {.pd = r->pd, .td = td};
	struct ibv_cq_init_attr_ex cq = {.cqe = 2 * BATCH,
					 .wc_flags = IBV_WC_STANDARD_FLAGS,
					 .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD};
	struct ibv_qp_init_attr_ex qp = {.qp_type = IBV_QPT_RC,
					 .cap = {BATCH, 1, 1, 1, BYTES},
					 .comp_mask = IBV_QP_INIT_ATTR_PD |
						      IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					 .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};

	w->pd = ibv_alloc_parent_domain(r->ctx, &domain);
	cq.parent_domain = w->pd;
	w->cq = w->pd ? ibv_create_cq_ex(r->ctx, &cq) : NULL;
	if (!w->cq)
		rig_die("no extended CQ in a parent domain");
	qp.pd = w->pd;
	qp.send_cq = qp.recv_cq = ibv_cq_ex_to_cq(w->cq);
	w->qp = ibv_create_qp_ex(r->ctx, &qp);
	if (!w->qp)
		rig_die("no extended QP");
	rig_connect(r, w->qp, w->qp->qp_num);
}

static void close_way(struct way *w)
{
	if (ibv_destroy_qp(w->qp) || ibv_destroy_cq(ibv_cq_ex_to_cq(w->cq)) ||
	    ibv_dealloc_pd(w->pd))
		rig_die("cannot destroy");
}

/* One list, one doorbell. */
static void post_old(struct rig *r, struct way *w)
{
	struct ibv_send_wr wr[BATCH], *bad;
	struct ibv_sge sge = {(uintptr_t)r->buf, BYTES, r->mr->lkey};

	for (unsigned i = 0; i < BATCH; i++)
		wr[i] = (struct ibv_send_wr){.wr_id = i,
					     .next = i + 1 < BATCH ? &wr[i + 1] : NULL,
					     .sg_list = &sge,
					     .num_sge = 1,
					     .opcode = IBV_WR_RDMA_WRITE,
					     .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
					     .wr.rdma = {(uintptr_t)r->buf + 64, r->mr->rkey}};
	if (ibv_post_send(w->qp, wr, &bad))
		rig_die("ibv_post_send failed");
}

static void post_new(struct rig *r, struct way *w)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(w->qp);

	ibv_wr_start(q);
	for (unsigned i = 0; i < BATCH; i++) {
		q->wr_id = i;
		q->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(q, r->mr->rkey, (uintptr_t)r->buf + 64);
		ibv_wr_set_inline_data(q, r->buf, BYTES);
	}
	if (ibv_wr_complete(q))
		rig_die("ibv_wr_complete failed");
}

/* One at a time, as programs do that look for one answer. */
static unsigned poll_old(struct way *w)
{
	unsigned done = 0;
	struct ibv_wc wc;

	while (done < BATCH && ibv_poll_cq(ibv_cq_ex_to_cq(w->cq), 1, &wc) == 1) {
		if (wc.status)
			rig_die("a request failed: %s", ibv_wc_status_str(wc.status));
		done++;
	}
	return done;
}

static unsigned poll_new(struct way *w)
{
	struct ibv_poll_cq_attr attr = {0};
	unsigned done = 0;

	while (done < BATCH && !ibv_start_poll(w->cq, &attr)) {
		if (w->cq->status || ibv_wc_read_opcode(w->cq) != IBV_WC_RDMA_WRITE)
			rig_die("a request failed: %s", ibv_wc_status_str(w->cq->status));
		ibv_end_poll(w->cq);
		done++;
	}
	return done;
}

/* What it costs to begin a post and to leave it: the lock, and little else. */
static void enter(struct way *w)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(w->qp);
	uint64_t begin = now_ns();

	for (unsigned i = 0; i < BATCH; i++) {
		ibv_wr_start(q);
		ibv_wr_abort(q);
	}
	w->enter_ns += now_ns() - begin;
}

/* A pause lets the device finish, so that polls find the whole batch; others are not counted. */
static void round_of(struct rig *r, struct way *w, int extended)
{
	const struct timespec pause = {.tv_nsec = 50000};
	uint64_t begin;
	time_t limit = time(NULL) + 120;
	unsigned done = 0, n;

	enter(w);
	begin = now_ns();
	if (extended)
		post_new(r, w);
	else
		post_old(r, w);
	w->post_ns += now_ns() - begin;
	while (done < BATCH) {
		nanosleep(&pause, NULL);
		begin = now_ns();
		n = extended ? poll_new(w) : poll_old(w);
		if (n == BATCH) {
			w->poll_ns += now_ns() - begin;
			w->polled += n;
		} else if (time(NULL) > limit)
			rig_die("no completion");
		done += n;
	}
}

int main(void)
{
	struct ibv_td_init_attr td_attr = {0};
	struct way way[WAYS] = {{0}};
	double per = (double)BATCH * ROUNDS;
	struct ibv_td *td;
	struct rig r;

	rig_open(&r, 16, 4096);
	td = ibv_alloc_td(r.ctx, &td_attr);
	if (!td)
		rig_die("no thread domain");
	for (int i = 0; i < WAYS; i++)
		open_way(&r, &way[i], i == OLD_UNLOCKED || i == NEW_UNLOCKED ? td : NULL);
	for (unsigned n = 0; n < ROUNDS; n++)
		for (int i = 0; i < WAYS; i++)
			round_of(&r, &way[i], i == NEW || i == NEW_UNLOCKED);
	printf("%-28s %8s %8s %8s\n", "ns per request or call", "post", "poll", "enter");
	for (int i = 0; i < WAYS; i++)
		printf("%-28s %8.1f %8.1f %8.1f\n", name[i], (double)way[i].post_ns / per,
		       way[i].polled ? (double)way[i].poll_ns / (double)way[i].polled : 0.0,
		       (double)way[i].enter_ns / per);
	printf("beginning and leaving a post without locks, to with locks: %.2f\n",
	       (double)(way[OLD_UNLOCKED].enter_ns + way[NEW_UNLOCKED].enter_ns) /
		       (double)(way[OLD].enter_ns + way[NEW].enter_ns));
	for (int i = 0; i < WAYS; i++)
		close_way(&way[i]);
	if (ibv_dealloc_td(td))
		rig_die("the thread domain is busy");
	rig_close(&r);
	return 0;
}
