/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deaf SECONDS: a client that never reads an event. Its CQs are armed and complete, its QPs go to
 * error and say so, again and again; both channels are full soon. The daemon must not grow with
 * that, and the client can destroy everything afterwards: what nobody read needs no
 * acknowledgement (ibv_destroy_cq(3)).
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAIRS    400u /* more than the records a socket holds */
#define GROWN_KB 2048

static struct rig rig;

static struct pair {
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp[2]; /* the second receives from the SRQ */
} pairs[PAIRS];

static void make(struct pair *p)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = RIG_DEPTH, .max_sge = 1}};

	p->cq = rig_cq_with_events(&rig, 4 * RIG_DEPTH);
	p->srq = ibv_create_srq(rig.pd, &srq);
	p->qp[0] = rig_qp(&rig, p->cq, NULL);
	p->qp[1] = rig_qp(&rig, p->cq, p->srq);
	if (!p->srq || !p->qp[0] || !p->qp[1])
		rig_die("SRQ or QP");
}

static void drain(struct ibv_cq *cq, int n)
{
	double end = rig_seconds() + 60;
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(cq, 1, &wc);

		if (got < 0 || rig_seconds() > end)
			rig_die("%d completions are missing", n);
		if (got > 0 && wc.status != IBV_WC_SUCCESS)
			rig_die("%s", ibv_wc_status_str(wc.status));
		n -= got;
	}
}

/* A message, hence a completion event; then the error state, hence "last WQE reached". */
static void provoke(struct pair *p)
{
	struct ibv_sge sge = {(uintptr_t)rig.buf, 64, rig.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	rig_connect(&rig, p->qp[0], p->qp[1]->qp_num);
	rig_connect(&rig, p->qp[1], p->qp[0]->qp_num);
	if (ibv_req_notify_cq(p->cq, 0) || ibv_post_srq_recv(p->srq, &wr, &bad) ||
	    !rig_post_send(&rig, p->qp[0], 64, 64))
		rig_die("posting");
	drain(p->cq, 2);
	if (ibv_modify_qp(p->qp[1], &attr, IBV_QP_STATE))
		rig_die("to the error state");
}

static void destroy(struct pair *p)
{
	if (ibv_destroy_qp(p->qp[0]) || ibv_destroy_qp(p->qp[1]) || ibv_destroy_srq(p->srq) ||
	    ibv_destroy_cq(p->cq))
		rig_die("an object cannot be destroyed");
}

int main(int argc, char **argv)
{
	unsigned seconds = argc > 1 ? (unsigned)atoi(argv[1]) : 0, n = 0;
	struct rig_daemon before, after;
	double end;

	if (seconds == 0) {
		fprintf(stderr, "usage: deaf SECONDS\n");
		return 2;
	}
	alarm(seconds + 300);
	rig_open(&rig, 16, 4096);
	for (unsigned i = 0; i < PAIRS; i++)
		make(&pairs[i]);
	for (unsigned i = 0; i < PAIRS; i++)
		provoke(&pairs[i]);
	rig_daemon(&before);
	for (end = rig_seconds() + seconds; n < PAIRS || rig_seconds() < end; n++)
		provoke(&pairs[n % PAIRS]);
	rig_daemon(&after);
	printf("%u rounds over %u CQs: the daemon had %ld KiB of its own, has %ld\n", n, PAIRS,
	       before.anonymous_kb, after.anonymous_kb);
	if (after.anonymous_kb > before.anonymous_kb + rig_slack_kb(GROWN_KB))
		rig_die("the daemon grows");
	for (unsigned i = 0; i < PAIRS; i++)
		destroy(&pairs[i]);
	rig_close(&rig);
	return 0;
}
