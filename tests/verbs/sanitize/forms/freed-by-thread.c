/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Another thread frees what the wr_id of a signaled send points to.
 *
 * Found by: wr-id-freed
 */
#include "tests/verbs/sanitize/pair.h"

#include <pthread.h>
#include <stdlib.h>

struct request {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	int rest[16];
};

static void *drop(void *request)
{
	free(request);
	return NULL;
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct request *r = calloc(1, sizeof(*r));
	struct ibv_send_wr *bad;
	pthread_t thread;
	struct pair p;

	pair_must(r != NULL, "memory");
	pair_open(&p);
	pair_recv(&p.b, 1, 0, 64);
	r->sge = (struct ibv_sge){(uintptr_t)p.a.memory, 64, p.a.mr->lkey};
	r->wr = (struct ibv_send_wr){.wr_id = (uintptr_t)&r->rest,
				     .sg_list = &r->sge,
				     .num_sge = 1,
				     .opcode = IBV_WR_SEND,
				     .send_flags = IBV_SEND_SIGNALED};
	pair_must(!ibv_post_send(p.a.qp, &r->wr, &bad), "ibv_post_send");
	if (mended)
		pair_wait(&p.a);
	pair_must(!pthread_create(&thread, NULL, drop, r), "a thread");
	pthread_join(thread, NULL);
	if (!mended)
		pair_wait(&p.a);
	pair_close(&p);
	return 0;
}
