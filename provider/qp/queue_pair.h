/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pairs: life and state. Posting is post_send.c and post_recv.c; the translation of
 * attributes is qp_attr.c.
 */
#ifndef UHCAV_QUEUE_PAIR_H
#define UHCAV_QUEUE_PAIR_H

#include "emu/abi/cqe.h"
#include "emu/abi/wqe.h"
#include "provider/context/context.h"
#include "provider/queues/queues.h"

#include <infiniband/uhcadv.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

struct uhcav_hang_qp;
struct uhcav_mw;
struct uhcav_shadow;

/* What ibv_wr_start ... ibv_wr_complete are at: under the send queue's lock (qp_ex.c). */
struct uhcav_build {
	struct uhca_abi_send_wqe *wqe; /* the entry that setters complete; NULL: none */
	uint32_t index;                /* its place */
	uint32_t start;                /* producer index before this post */
	uint32_t ops;                  /* bit o: opcode o was asked for at creation */
	int err;                       /* the first error */
	bool has_data;                 /* the entry has its payload */
	bool no_address;               /* the entry needs an address handle still */
	struct uhcav_mw *windows;      /* that entries bind (mw.h) */
};

struct uhcav_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qpx; /* qp_ex.c */
		uint8_t room[UHCAV_OBJECT_ROOM];
	};
	struct uhcav_context *ctx;
	struct uhca_abi_queue *page;
	uint32_t state;      /* enum ibv_qp_state as we know it; atomic */
	uint32_t send_mask;  /* bit o: the QP has work request opcode o */
	uint32_t peer_lacks; /* bit o: not opcode o, after all (ece.h); atomic */
	uint32_t doorbell;
	uint32_t max_inline_data;
	uint32_t gather_limit; /* payloads up to this are gathered at post; 0: none */
	/* Under the send queue's lock: is a fenced request in it, and behind which index? */
	bool fenced;
	uint32_t fence;
	uint8_t *send_data; /* data area; slot i at i * data_stride */
	uint32_t data_stride;
	struct uhcav_work_queue sq;
	struct uhcav_work_queue rq; /* no entries with an SRQ */

	struct uhcav_build build;
	struct uhcadv_qp_ex dv; /* dv_wr.c */

	/* Under the send CQ's lock: */
	uint32_t send_flushed; /* next send to flush after the daemon's death */
	bool send_failed;      /* a send has failed: from there on each completes */
	bool send_flushing;
	size_t region_size;
	uint32_t async_events_read; /* atomic */
	bool last_wqe;              /* IBV_EVENT_QP_LAST_WQE_REACHED was read; atomic */
	struct ibv_qp_cap cap;
	uint32_t create_flags; /* enum ibv_qp_create_flags, UHCA_ABI_QP_* */
	bool sq_sig_all;
	struct uhcav_shadow *send_shadow, *recv_shadow; /* sanitize/; NULL: nobody watches */
	struct uhcav_inside inside;                     /* the same */
	struct uhcav_hang_qp *hang;                     /* hang/; NULL: nobody watches */
	struct uhcav_pd *parent;                        /* the parent domain it is in, or NULL */
};

static inline struct uhcav_qp *uhcav_qp_of(struct ibv_qp *qp)
{
	return (struct uhcav_qp *)(void *)qp;
}

/* ibv_create_qp(3): NULL with errno; attr->cap gets what was granted. */
struct ibv_qp *uhcav_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/*
 * The same in two steps, between which the caller may say more of the QP: what we know of it, which
 * free(3) undoes, and what the device makes of it, with room for lists or operands of
 * max_list_bytes. 0 or -errno.
 */
int uhcav_qp_new(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr, struct uhcav_qp **out);
int uhcav_qp_open(struct uhcav_qp *qp, struct ibv_qp_init_attr *attr, uint32_t max_list_bytes);

/* ibv_modify_qp(3), ibv_query_qp(3), ibv_destroy_qp(3): 0 or an errno value. */
int uhcav_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr);
int uhcav_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask);
int uhcav_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr);
int uhcav_destroy_qp(struct ibv_qp *ibqp);

/* ibv_attach_mcast(3): 0 or an errno value. */
int uhcav_attach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid, uint16_t lid);
int uhcav_detach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid, uint16_t lid);

/*
 * The daemon is gone: up to n completions with WR_FLUSH_ERR for what it left undone, each work
 * request once. Under the lock of the queue's CQ.
 */
int uhcav_qp_flush_send(struct uhcav_qp *qp, int n, struct ibv_wc *wc);
int uhcav_qp_flush_recv(struct uhcav_qp *qp, int n, struct ibv_wc *wc);

/* Where its receives are posted. */
static inline struct uhcav_work_queue *uhcav_qp_rq(const struct uhcav_qp *qp)
{
	return qp->qp.srq ? &uhcav_srq_of(qp->qp.srq)->rq : &((struct uhcav_qp *)(uintptr_t)qp)->rq;
}

/* A completion of this QP was polled. Under the lock of its CQ. */
static inline void uhcav_qp_polled(struct uhcav_qp *qp, const struct uhca_abi_cqe *e)
{
	if (!uhca_cqe_is_receive(e)) {
		uhcav_work_queue_polled(&qp->sq, e->wqe_index + 1);
		qp->send_failed |= e->status != UHCA_ABI_WC_SUCCESS;
	} else if (qp->qp.srq) {
		uhcav_work_queue_polled_one(&uhcav_srq_of(qp->qp.srq)->rq);
	} else {
		uhcav_work_queue_polled(&qp->rq, qp->rq.polled + 1);
	}
}

/* A reset: nothing of what was posted will ever complete. Under the lock of the queue's CQ. */
void uhcav_qp_forget_sends(struct uhcav_qp *qp);
void uhcav_qp_forget_recvs(struct uhcav_qp *qp);

/* How many that would be. */
uint32_t uhcav_qp_send_outstanding(struct uhcav_qp *qp);
uint32_t uhcav_qp_recv_outstanding(struct uhcav_qp *qp);

#endif
