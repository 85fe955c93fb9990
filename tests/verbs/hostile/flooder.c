/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flooder SECONDS: posts as fast as they are done what needs no network, on many deep queues: binds
 * and invalidations on some, requests that are flushed at once on the others. A device that goes on
 * as long as there is something to do would do nothing else. Prints how many completed.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define QPS   16u /* of each kind */
#define DEPTH 4096u
#define SOME  256u /* requests of one completion, where they succeed */

static struct rig rig;
static struct ibv_mr *mr;
static struct ibv_mw *window[QPS];
static struct ibv_qp *local[QPS], *flushed[QPS];
static unsigned room_local[QPS], room_flushed[QPS]; /* requests that their queues still hold */

static struct ibv_qp *deep_qp(void)
{
	struct ibv_qp_init_attr init = {.send_cq = rig.cq,
					.recv_cq = rig.cq,
					.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = DEPTH,
						.max_recv_wr = 1,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(rig.pd, &init);

	if (!qp)
		rig_die("ibv_create_qp");
	return qp;
}

static void set_up(unsigned i)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	local[i] = deep_qp();
	rig_connect(&rig, local[i], local[i]->qp_num);
	flushed[i] = deep_qp();
	if (ibv_modify_qp(flushed[i], &attr, IBV_QP_STATE))
		rig_die("ibv_modify_qp to ERR");
	window[i] = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2);
	if (!window[i])
		rig_die("ibv_alloc_mw");
	room_local[i] = room_flushed[i] = DEPTH;
}

static void post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(qp, wr, &bad))
		rig_die("ibv_post_send: errno %d", errno);
}

/* One bind and its end, as one list. */
static void post_bind(unsigned i, unsigned flags)
{
	struct ibv_send_wr end = {
		.opcode = IBV_WR_LOCAL_INV, .wr_id = i, .send_flags = flags | IBV_SEND_FENCE};
	struct ibv_send_wr bind = {
		.opcode = IBV_WR_BIND_MW,
		.next = &end,
		.bind_mw = {.mw = window[i],
			    .rkey = ibv_inc_rkey(window[i]->rkey),
			    .bind_info = {.mr = mr,
					  .addr = (uintptr_t)mr->addr,
					  .length = mr->length,
					  .mw_access_flags = IBV_ACCESS_REMOTE_READ}}};

	end.invalidate_rkey = bind.bind_mw.rkey;
	post(local[i], &bind);
}

static void fill(unsigned i)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE, .wr_id = QPS + i};

	for (; room_local[i] >= SOME; room_local[i] -= SOME)
		for (unsigned n = 2; n <= SOME; n += 2)
			post_bind(i, n == SOME ? IBV_SEND_SIGNALED : 0);
	for (; room_flushed[i]; room_flushed[i]--)
		post(flushed[i], &wr);
}

/* How many requests the completions stand for. */
static unsigned long take_completions(void)
{
	unsigned long done = 0;
	struct ibv_wc wc[64];
	int n;

	while ((n = ibv_poll_cq(rig.cq, 64, wc)) > 0)
		for (int k = 0; k < n; k++) {
			bool is_flushed = wc[k].wr_id >= QPS;

			if (wc[k].status != (is_flushed ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS))
				rig_die("queue %u: %s", (unsigned)wc[k].wr_id,
					ibv_wc_status_str(wc[k].status));
			if (is_flushed)
				room_flushed[wc[k].wr_id - QPS]++;
			else
				room_local[wc[k].wr_id] += SOME;
			done += is_flushed ? 1 : SOME;
		}
	return done;
}

int main(int argc, char **argv)
{
	double end = rig_seconds() + (argc == 2 ? atof(argv[1]) : 0);
	unsigned long done = 0;

	if (argc != 2)
		rig_die("usage: flooder SECONDS");
	rig_open(&rig, (int)(QPS * 2 * DEPTH), 4096);
	mr = ibv_reg_mr(rig.pd, rig.buf, rig.size,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);
	if (!mr)
		rig_die("ibv_reg_mr");
	for (unsigned i = 0; i < QPS; i++)
		set_up(i);
	while (rig_seconds() < end) {
		for (unsigned i = 0; i < QPS; i++)
			fill(i);
		done += take_completions();
	}
	if (!done)
		rig_die("nothing completed");
	printf("%lu requests\n", done);
	return 0;
}
