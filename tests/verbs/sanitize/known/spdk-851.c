/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SPDK, https://github.com/spdk/spdk/issues/851
 *
 * A queue pair is torn down when its connection closes, and once more when the last request of the
 * upper layer comes back: the second time it is queried and moved to ERR after it was destroyed.
 *
 * Found by: object-gone
 */
#include "tests/verbs/sanitize/pair.h"

struct connection {
	struct ibv_qp *qp;
	bool closed;
};

static void close_connection(struct connection *c, bool mended)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_qp_init_attr init;

	if (mended && c->closed)
		return;
	c->closed = true;
	if (!ibv_query_qp(c->qp, &attr, IBV_QP_STATE, &init) && attr.qp_state != IBV_QPS_ERR) {
		attr.qp_state = IBV_QPS_ERR;
		ibv_modify_qp(c->qp, &attr, IBV_QP_STATE);
	}
	ibv_destroy_qp(c->qp);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct connection c;
	struct pair p;

	pair_open(&p);
	c = (struct connection){.qp = p.a.qp};
	close_connection(&c, mended); /* the peer has gone */
	close_connection(&c, mended); /* the last request is back */
	p.a.qp = NULL;
	pair_close(&p);
	return 0;
}
