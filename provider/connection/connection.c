/* SPDX-License-Identifier: BSD-2-Clause */
/* Records QP attributes, and compares both ends of a connection. */
#include "connection.h"

#include "ends.h"

#include <dlfcn.h>
#include <string.h>

typedef int query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid);

/*
 * Queue pairs of other devices have the same numbers, so the address must be the port's own. The
 * name without a version would be that of libibverbs' first one, which has other structs.
 */
bool uhcav_connection_loops(struct ibv_context *context, const struct ibv_ah_attr *ah)
{
	void *library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
	query_gid *query = NULL;
	union ibv_gid gid;
	bool own;

	if (!library)
		return false;
	*(void **)&query = dlvsym(library, "ibv_query_gid", "IBVERBS_1.1");
	own = query && ah->is_global && !query(context, ah->port_num, ah->grh.sgid_index, &gid) &&
	      !memcmp(&gid, &ah->grh.dgid, sizeof(gid));
	dlclose(library);
	return own;
}

/* ---- one end ---- */

/* So many facts, told or only counted. What is so by habit is told of beside others alone. */
static unsigned look_at_rtr(const struct ibv_qp_attr *a, int mask, bool tell)
{
	bool slow = mask & IBV_QP_MIN_RNR_TIMER && !a->min_rnr_timer;

	if (tell && slow)
		uhcav_diagnostic_fact(
			"min_rnr_timer 0 is the longest time, 655 ms; the shortest is 1, 10 us");
	return slow;
}

static unsigned look_at_rts(const struct ibv_qp_attr *a, int mask, bool tell)
{
	const struct {
		bool so;
		const char *what;
		bool habit; /* nearly all programs choose it; a peer that is gone ends it, too */
	} facts[] = {
		{mask & IBV_QP_TIMEOUT && !a->timeout,
		 "timeout 0: the QP waits for a lost packet without end", false},
		{mask & IBV_QP_TIMEOUT && a->timeout == 31,
		 "timeout 31: each retry waits 2 hours 26 minutes", false},
		{mask & IBV_QP_RETRY_CNT && !a->retry_cnt,
		 "retry_cnt 0: the first lost packet ends the connection", false},
		{mask & IBV_QP_RNR_RETRY && !a->rnr_retry,
		 "rnr_retry 0: a SEND that finds no receive ends the connection", false},
		{mask & IBV_QP_RNR_RETRY && a->rnr_retry == 7,
		 "rnr_retry 7: a SEND that finds no receive is repeated without end", true},
	};
	unsigned n = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		if (tell && facts[i].so)
			uhcav_diagnostic_fact("%s", facts[i].what);
		n += facts[i].so && !facts[i].habit;
	}
	return n;
}

static bool look_at_all(const struct ibv_qp_attr *attr, int mask)
{
	return look_at_rtr(attr, mask, false) + look_at_rts(attr, mask, false) > 0;
}

/*
 * librdmacm modifies by what the CM hands out. Of that the programs choose retry_cnt (who connects)
 * and rnr_retry (the other end of each), and no call of its chooses min_rnr_timer.
 */
static void look_at_one(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask,
			struct uhcav_here here)
{
	const struct uhcav_stack *stack;
	bool by_cm;

	if (!uhcav_check_on(UHCA_CHECK_CONN_RETRIES) || !look_at_all(attr, mask))
		return;
	stack = uhcav_stack_take(here);
	by_cm = uhcav_stack_is_of(stack, "librdmacm");
	mask &= by_cm ? ~IBV_QP_MIN_RNR_TIMER : ~0;
	if (!look_at_all(attr, mask) ||
	    !uhcav_diagnostic_is_new(UHCA_CHECK_CONN_RETRIES, stack, NULL))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_CONN_RETRIES,
			       "a connection gives up at once, or waits for very long");
	uhcav_diagnostic_fact("QP 0x%x", qp->qp_num);
	look_at_rtr(attr, mask, true);
	look_at_rts(attr, mask, true);
	if (by_cm)
		uhcav_diagnostic_fact("the CM has retry_cnt from rdma_connect's retry_count, and "
				      "rnr_retry from the rnr_retry_count of the other end's call");
	uhcav_diagnostic_stack(stack, "modified by");
	uhcav_diagnostic_report();
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
	struct uhcav_context *ctx = uhcav_context_of(qp->context);

	uhcav_end_forget(qp);
	uhcav_datagram_over(&(struct uhcav_datagram){.who = {ctx, qp->handle}});
	uhcav_left_add(ctx, "qp", qp->qp_num, "gone", uhcav_stack_take(here));
}
