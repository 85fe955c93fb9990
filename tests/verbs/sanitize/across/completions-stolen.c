/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two threads share a completion queue. Each polls until it sees its own wr_id, and drops what is
 * the other's: this waits for ever.
 *
 * Found by: poll-nothing
 */
#include "tests/verbs/sanitize/far.h"
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>

static struct far f;
static pthread_barrier_t turn;

static void write_one(uint64_t id)
{
	struct ibv_sge sge = {(uintptr_t)f.memory + 64 * id, 64, f.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	wr.wr.rdma.remote_addr = f.there.addr + 64 * id;
	wr.wr.rdma.rkey = f.there.rkey;
	pair_must(!ibv_post_send(f.qp, &wr, &bad), "ibv_post_send");
}

static bool take(uint64_t mine)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(f.cq, 1, &wc)) /* <- */
		;
	return wc.wr_id == mine;
}

/* One after the other they take the first completion that there is; then each goes on by itself. */
static void wait_for(uint64_t mine, bool is_first)
{
	bool found;

	if (!is_first)
		pthread_barrier_wait(&turn);
	found = take(mine);
	if (is_first)
		pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	while (!found)
		found = take(mine);
}

static void *first(void *arg)
{
	wait_for(*(uint64_t *)arg, true);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t mine =
		pair_mended(argc, argv) ? 1 : 2; /* completions come in the order of posts */
	pthread_t thread;

	far_open(&f, IBV_QPT_RC);
	far_connect(&f, far_usual());
	if (!f.server) {
		write_one(1);
		write_one(2);
		pthread_barrier_init(&turn, NULL, 2);
		pair_must(!pthread_create(&thread, NULL, first, &mine), "a thread");
		wait_for(3 - mine, false);
		pair_must(!pthread_join(thread, NULL), "its end");
		pthread_barrier_destroy(&turn);
	}
	far_meet(&f);
	far_close(&f);
	return 0;
}
