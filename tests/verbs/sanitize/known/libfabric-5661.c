/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libfabric, https://github.com/ofiwg/libfabric/pull/5661
 *
 * By the opcode of a completion the verbs provider knows what its wr_id points to: a send's context
 * or a receive's. When a connection ends the completions have errors, and any opcode.
 *
 * Found by: wc-unset
 */
#include "tests/verbs/sanitize/kinds.h"

struct context {
	enum { SEND, RECEIVE } of;
};

static const struct context contexts[] = {{SEND}, {RECEIVE}};

/* By what is known of the request, or by the completion. */
static bool is_receive(const struct ibv_wc *wc, bool mended)
{
	const struct context *c = (const struct context *)(uintptr_t)wc->wr_id;

	return mended ? c->of == RECEIVE : (wc->opcode & IBV_WC_RECV) != 0;
}

int main(int argc, char **argv)
{
	struct ibv_qp_attr err = {.qp_state = IBV_QPS_ERR};
	bool mended = pair_mended(argc, argv);
	struct pair p;
	struct ibv_wc wc;

	pair_open(&p);
	pair_recv(&p.b, (uintptr_t)&contexts[RECEIVE], 0, 64);
	pair_must(!ibv_modify_qp(p.b.qp, &err, IBV_QP_STATE), "ibv_modify_qp");
	pair_next(&p.b, &wc);
	pair_must(is_receive(&wc, mended) == mended, "what completes is a receive");
	pair_close(&p);
	return 0;
}
