/* SPDX-License-Identifier: BSD-2-Clause */
/* Records QP attributes, and compares both ends of a connection. */
#include "connection.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define PSN_MASK 0xffffffu

/* A queue pair, with what it was told since its last reset. */
struct end {
	LIST_ENTRY(end) link;
	const struct ibv_qp *qp;
	int known; /* enum ibv_qp_attr_mask */
	struct ibv_qp_attr attr;
	bool loops; /* its address is its own port's */
	const struct uhcav_stack *connected, *allowed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, end) ends = LIST_HEAD_INITIALIZER(ends);

static struct end *end_find(const struct ibv_qp *qp)
{
	struct end *e;

	LIST_FOREACH(e, &ends, link)
	if (e->qp == qp)
		return e;
	return NULL;
}

static struct end *find_or_make(const struct ibv_qp *qp)
{
	struct end *e = end_find(qp);

	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->qp = qp;
	LIST_INSERT_HEAD(&ends, e, link);
	return e;
}

/* Of the attributes, only those that the mask names are there. */
static void keep(struct end *e, const struct ibv_qp_attr *from, int mask)
{
	struct ibv_qp_attr *to = &e->attr;

	e->known |= mask;
	if (mask & IBV_QP_ACCESS_FLAGS)
		to->qp_access_flags = from->qp_access_flags;
	if (mask & IBV_QP_DEST_QPN)
		to->dest_qp_num = from->dest_qp_num;
	if (mask & IBV_QP_PATH_MTU)
		to->path_mtu = from->path_mtu;
	if (mask & IBV_QP_RQ_PSN)
		to->rq_psn = from->rq_psn & PSN_MASK;
	if (mask & IBV_QP_SQ_PSN)
		to->sq_psn = from->sq_psn & PSN_MASK;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		to->max_rd_atomic = from->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		to->max_dest_rd_atomic = from->max_dest_rd_atomic;
}

static void note(struct end *e, const struct ibv_qp_attr *attr, int mask, struct uhcav_here here)
{
	if (mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET) {
		e->known = 0;
		e->attr.qp_access_flags = 0;
		e->allowed = NULL;
		return;
	}
	keep(e, attr, mask);
	if (mask & IBV_QP_AV)
		e->connected = uhcav_stack_take(here);
	if (mask & IBV_QP_ACCESS_FLAGS)
		e->allowed = uhcav_stack_take(here);
}

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
	uhcav_diagnostic_tell();
}

void uhcav_connection_modified(struct uhcav_here here, struct ibv_qp *qp,
			       const struct ibv_qp_attr *attr, int attr_mask)
{
	bool loops;
	struct end *e;

	if (qp->qp_type != IBV_QPT_RC && qp->qp_type != IBV_QPT_UC)
		return;
	look_at_one(qp, attr, attr_mask, here);
	if (!uhcav_check_on(UHCA_CHECK_CONN_MISMATCH) && !uhcav_check_on(UHCA_CHECK_QP_ACCESS) &&
	    !uhcav_check_on(UHCA_CHECK_KEY_DEVICE))
		return;
	loops = attr_mask & IBV_QP_AV && uhcav_connection_loops(qp->context, &attr->ah_attr);
	pthread_mutex_lock(&lock);
	e = find_or_make(qp);
	if (e)
		note(e, attr, attr_mask, here);
	if (e && attr_mask & IBV_QP_AV)
		e->loops = loops;
	pthread_mutex_unlock(&lock);
}

void uhcav_connection_gone(const struct ibv_qp *qp)
{
	struct end *e;

	pthread_mutex_lock(&lock);
	e = end_find(qp);
	if (e)
		LIST_REMOVE(e, link);
	pthread_mutex_unlock(&lock);
	free(e);
}

/* ---- both ends ---- */

static bool know(const struct end *a, int mine, const struct end *b, int its)
{
	return a->known & mine && b->known & its;
}

/* What a sends, and b expects. So many facts, told or only counted. */
static unsigned look_one_way(const struct end *a, const struct end *b, bool tell)
{
	bool psn = know(a, IBV_QP_SQ_PSN, b, IBV_QP_RQ_PSN) && a->attr.sq_psn != b->attr.rq_psn;
	bool reads = know(a, IBV_QP_MAX_QP_RD_ATOMIC, b, IBV_QP_MAX_DEST_RD_ATOMIC) &&
		     a->attr.max_rd_atomic > b->attr.max_dest_rd_atomic;

	if (tell && psn)
		uhcav_diagnostic_fact("QP 0x%x has sq_psn 0x%x, QP 0x%x has rq_psn 0x%x",
				      a->qp->qp_num, a->attr.sq_psn, b->qp->qp_num, b->attr.rq_psn);
	if (tell && reads)
		uhcav_diagnostic_fact(
			"QP 0x%x has max_rd_atomic %u, QP 0x%x has max_dest_rd_atomic %u",
			a->qp->qp_num, a->attr.max_rd_atomic, b->qp->qp_num,
			b->attr.max_dest_rd_atomic);
	return (unsigned)psn + reads;
}

static unsigned look_both_ways(const struct end *a, const struct end *b, bool tell)
{
	bool mtu = know(a, IBV_QP_PATH_MTU, b, IBV_QP_PATH_MTU) &&
		   a->attr.path_mtu != b->attr.path_mtu;

	if (tell && mtu)
		uhcav_diagnostic_fact("QP 0x%x has path_mtu %u, QP 0x%x %u", a->qp->qp_num,
				      128u << a->attr.path_mtu, b->qp->qp_num,
				      128u << b->attr.path_mtu);
	return mtu + look_one_way(a, b, tell) + look_one_way(b, a, tell);
}

static bool is_of(const struct end *p, const struct end *e)
{
	return p->attr.dest_qp_num == e->qp->qp_num;
}

static bool is_up(const struct end *e)
{
	return e->qp->state == IBV_QPS_RTR || e->qp->state == IBV_QPS_RTS;
}

/* The end on the same device that it was told of, and that was told of one itself. */
static const struct end *told_of(const struct end *e)
{
	const struct end *p;

	LIST_FOREACH(p, &ends, link)
	if (p->qp->qp_num == e->attr.dest_qp_num &&
	    p->qp->context->device == e->qp->context->device && p->loops &&
	    p->known & IBV_QP_DEST_QPN)
		return p;
	return NULL;
}

/*
 * Does a send to one that is connected with another? Of UC a packet does not say who has sent it,
 * and some programs live by that.
 */
static bool is_crossed(const struct end *a, const struct end *b)
{
	return a->qp->qp_type == IBV_QPT_RC && !is_of(b, a);
}

static void tell_mismatch(const struct end *a, const struct end *b)
{
	if (!uhcav_diagnostic_is_new(UHCA_CHECK_CONN_MISMATCH, a->connected, b->connected))
		return;
	uhcav_diagnostic_begin(UHCA_CHECK_CONN_MISMATCH,
			       "the two ends of a connection have different attributes");
	if (is_crossed(a, b))
		uhcav_diagnostic_fact(
			"QP 0x%x has dest_qp_num 0x%x, and that QP has dest_qp_num 0x%x",
			a->qp->qp_num, a->attr.dest_qp_num, b->attr.dest_qp_num);
	else
		look_both_ways(a, b, true);
	uhcav_diagnostic_stack(a->connected, "QP 0x%x connected by", a->qp->qp_num);
	uhcav_diagnostic_stack(b->connected, "QP 0x%x connected by", b->qp->qp_num);
	uhcav_diagnostic_tell();
}

bool uhcav_connection_look(const struct ibv_qp *qp)
{
	const struct end *e, *peer;
	bool over;

	pthread_mutex_lock(&lock);
	e = end_find(qp);
	peer = e && e->loops ? told_of(e) : NULL;
	if (peer && !is_up(peer))
		peer = NULL;
	over = !e || !e->loops || (peer && is_of(peer, e));
	if (peer && (is_crossed(e, peer) || (over && look_both_ways(e, peer, false))))
		tell_mismatch(e, peer);
	pthread_mutex_unlock(&lock);
	return over;
}

bool uhcav_connection_peer(const struct ibv_qp *qp, struct uhcav_connection_peer *out)
{
	const struct end *e, *peer;

	pthread_mutex_lock(&lock);
	e = end_find(qp);
	peer = e && e->loops ? told_of(e) : NULL;
	if (peer && !is_of(peer, e))
		peer = NULL;
	if (peer)
		*out = (struct uhcav_connection_peer){peer->qp->qp_num, peer->attr.qp_access_flags,
						      peer->allowed};
	pthread_mutex_unlock(&lock);
	return peer;
}

const struct ibv_device *uhcav_connection_device(const struct ibv_qp *qp)
{
	const struct ibv_device *device = NULL;
	const struct end *e, *p;

	pthread_mutex_lock(&lock);
	e = end_find(qp);
	LIST_FOREACH(p, &ends, link)
	if (e && is_of(p, e) && is_of(e, p) && e->loops == p->loops &&
	    e->loops == (p->qp->context->device == qp->context->device))
		device = p->qp->context->device;
	pthread_mutex_unlock(&lock);
	return device;
}

void uhcav_connection_lock(void)
{
	pthread_mutex_lock(&lock);
}

void uhcav_connection_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
