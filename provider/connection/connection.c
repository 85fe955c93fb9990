/* SPDX-License-Identifier: BSD-2-Clause */
/* See connection.h. */
#include "connection.h"

#include "ends.h"

/* ---- one end ---- */

/* So many facts, told or only counted. */
static unsigned look_at_rtr(const struct ibv_qp_attr *a, int mask, bool tell)
{
	bool slow = mask & IBV_QP_MIN_RNR_TIMER && !a->min_rnr_timer;

	if (tell && slow)
		uhcav_diagnostic_fact(
			"min_rnr_timer 0 is the longest, 655 ms, and not the shortest "
			"(1: 10 us)");
	return slow;
}

static unsigned look_at_rts(const struct ibv_qp_attr *a, int mask, bool tell)
{
	const struct {
		bool so;
		const char *what;
	} facts[] = {
		{mask & IBV_QP_TIMEOUT && !a->timeout,
		 "timeout 0: what is lost is waited for without end"},
		{mask & IBV_QP_TIMEOUT && a->timeout == 31,
		 "timeout 31: what is lost is waited for 2 hours 26 minutes each time"},
		{mask & IBV_QP_RETRY_CNT && !a->retry_cnt,
		 "retry_cnt 0: the first packet that is lost ends the connection"},
		{mask & IBV_QP_RNR_RETRY && !a->rnr_retry,
		 "rnr_retry 0: a SEND that finds no receive ends the connection"},
		{mask & IBV_QP_RNR_RETRY && a->rnr_retry == 7,
		 "rnr_retry 7: a SEND that finds no receive is repeated without end"},
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (tell && facts[i].so)
			uhcav_diagnostic_fact("%s", facts[i].what);
		n += facts[i].so;
	}
	return n;
}

static void look_at_one(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
			struct uhcav_here here)
{
	const struct uhcav_stack *stack;

	if (!uhcav_check_on(UHCA_CHECK_CONN_RETRIES) ||
	    !(look_at_rtr(attr, mask, false) + look_at_rts(attr, mask, false)))
		return;
	stack = uhcav_stack_take(here);
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_CONN_RETRIES, stack, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_CONN_RETRIES,
			       "a connection gives up at once, or waits for very long");
	uhcav_diagnostic_fact("QP 0x%x", qp->qp_num);
	look_at_rtr(attr, mask, true);
	look_at_rts(attr, mask, true);
	uhcav_diagnostic_stack(stack, "modified by");
	uhcav_diagnostic_tell();
}

static bool is_connected_type(const struct ibv_qp *qp)
{
	return qp->qp_type == IBV_QPT_RC || qp->qp_type == IBV_QPT_UC;
}

void uhcav_connection_modified(struct uhcav_here here, struct ibv_qp *qp,
			       const struct ibv_qp_attr *attr, int attr_mask)
{
	struct uhcav_context *ctx = uhcav_context_of(qp->context);
	const struct uhcav_stack *stack = uhcav_stack_take(here);

	if (attr_mask & IBV_QP_QKEY)
		uhcav_left_add(ctx, "qp", qp->qp_num, "qkey", stack);
	if (!is_connected_type(qp))
		return;
	look_at_one(qp, attr, attr_mask, here);
	if (attr_mask & IBV_QP_ACCESS_FLAGS)
		uhcav_left_add(ctx, "qp", qp->qp_num, "allowed", stack);
	if (attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		uhcav_end_forget(qp);
	if (!(attr_mask & IBV_QP_AV))
		return;
	uhcav_left_add(ctx, "qp", qp->qp_num, "connected", stack);
	uhcav_end_connect(qp, stack);
}

void uhcav_connection_gone(struct uhcav_here here, const struct ibv_qp *qp)
{
	uhcav_end_forget(qp);
	uhcav_left_add(uhcav_context_of(qp->context), "qp", qp->qp_num, "gone",
		       uhcav_stack_take(here));
}
