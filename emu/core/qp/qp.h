/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queue pair: the struct, its life, and the one place that writes its state. The engines that work
 * with it stand above and are called through engine.h; qp.c owns lifetime only, qp_modify.c the
 * state table.
 */
#ifndef CORE_QP_H
#define CORE_QP_H

#include "ah.h"
#include "congestion_side.h"
#include "emu/core/base/base.h"
#include "emu/core/keys/keys.h"
#include "emu/core/queues/queues.h"
#include "receive_side.h"
#include "send_side.h"

/* enum ibv_qp_state values. */
enum qp_state { QPS_RESET, QPS_INIT, QPS_RTR, QPS_RTS, QPS_SQD, QPS_SQE, QPS_ERR, QPS_COUNT };

/* enum ibv_qp_create_flags: what a QP attached to a multicast group does not want to hear. */
#define QP_CREATE_BLOCK_SELF_MCAST_LB (1u << 1)

struct rss;

/* What a QP has done, for uhcactl; raw frames are not counted. */
struct qp_counters {
	uint64_t tx_packets, tx_bytes;
	uint64_t rx_packets, rx_bytes; /* those it took */
	uint64_t retries;              /* how often it went back to send again */
	uint64_t rnr;                  /* RNR NAKs that it got */
	uint64_t errors;               /* completions that are no success */
	uint64_t silent;               /* requests done whose completion nobody asked for */
};

struct qp {
	struct object obj;
	struct device *dev;
	struct pd *pd;
	struct cq *send_cq, *recv_cq;
	struct srq *srq; /* NULL: own receive queue */
	/*
	 * XRC_RECV: the domain, and the handles of clients (struct qp_share). PD, SRQ and receive
	 * CQ are those of the SRQ that the last request named, and not counted as uses.
	 */
	struct xrc_domain *domain;
	struct list shares;
	uint64_t cookie;
	uint32_t qpn;
	uint32_t doorbell;
	enum qp_type type;
	enum qp_state state; /* written by qp_set_state only */
	bool sq_sig_all;
	uint32_t create_flags;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;

	struct uhca_abi_qp_attr attr; /* what modify_qp set; query_qp reports it */
	uint32_t mtu;                 /* bytes; for UD the port's (qp_set_mtu) */
	uint32_t mtu_log;             /* its logarithm, base 2 */
	struct roce_flow flow;        /* connected types: to the peer, ports filled in */

	struct core_ring ring;
	struct uhca_abi_queue *page;
	uint32_t async_events; /* that the client was told (region.h) */
	struct recv_queue rq;  /* entries 0 with an SRQ */

	struct list tx_link; /* on a ready list of dev while it may have something to send */
	uint32_t short_run;  /* bursts of one packet of its quantum that it has sent (transmit.c) */
	struct list budget_link; /* on dev->waits_for_budget while it has to stop */
	struct list pace_link;   /* on dev->pace.waits while there is a pause */
	struct list ack_link;    /* on dev->patient while its ACK waits */
	uint64_t ack_due;
	struct requester req;
	struct responder resp;
	struct congestion *congestion; /* NULL: it has no control */
	bool comm_established;         /* COMM_EST has been raised */
	bool failed;                   /* an error took it to ERR, not the program */
	struct rss *rss;       /* RAW_PACKET: spreads frames over WQs; it has no queues itself */
	uint64_t frame_serial; /* RAW_PACKET: the newest frame it was given */
	struct qp_counters counters;
	bool counts; /* one of these is there (qp_comp_cntr.c) */
	struct comp_cntr *counter[UHCA_ABI_COMP_OPS];
};

/*
 * Frees the QP and its ring in whatever state it is, completes nothing; for teardown. In qp.c,
 * as core_destroy_qp.
 */
void qp_destroy(struct qp *qp);

/* An operation is complete: of so many bytes, for the counter that is attached, if any. */
static inline void qp_count(const struct qp *qp, enum uhca_abi_comp_op op, bool good,
			    uint32_t bytes)
{
	if (qp->counts && qp->counter[op])
		comp_cntr_count(qp->counter[op], good, bytes);
}

/* The QP ends: its counters are used by it no more. In qp_comp_cntr.c. */
void qp_drop_counters(struct qp *qp);

/* The only writer of qp->state; traces old and new, keeps the shared recv_doorbell flag. */
void qp_set_state(struct qp *qp, enum qp_state state);

/* Its bursts go before those of others, and wait for no company (UHCA_ABI_QP_LOW_LATENCY). */
static inline bool qp_is_urgent(const struct qp *qp)
{
	return qp->create_flags & UHCA_ABI_QP_LOW_LATENCY;
}

/* The P_Key of its packets (10.9.2). */
static inline uint16_t qp_pkey(const struct qp *qp)
{
	return qp->dev->cfg.look.port[qp->attr.port_num > 1].pkey[qp->attr.pkey_index];
}

static inline struct list *qp_ready_list(const struct qp *qp)
{
	if (qp->type == QPT_RAW_PACKET)
		return &qp->dev->raw_ready;
	return qp_is_urgent(qp) ? &qp->dev->tx_urgent : &qp->dev->tx_ready;
}

/* Puts the QP on its ready list (once). */
static inline void qp_kick(struct qp *qp)
{
	if (list_empty(&qp->tx_link))
		list_append(qp_ready_list(qp), &qp->tx_link);
}

/* As who uses keys. */
static inline struct key_user qp_key_user(const struct qp *qp)
{
	return (struct key_user){qp->dev, qp->pd, qp->qpn};
}

/* Every request is acknowledged (RC; the two halves of XRC). */
/* path_mtu: enum ibv_mtu. */
static inline void qp_set_mtu(struct qp *qp, uint32_t path_mtu)
{
	qp->mtu_log = 7 + path_mtu;
	qp->mtu = 1u << qp->mtu_log;
}

/* Packets of a message of so many bytes. */
static inline uint32_t qp_packets(const struct qp *qp, uint32_t length)
{
	return length ? ((length - 1) >> qp->mtu_log) + 1 : 1;
}

/* Not those that have failed or left a connection, or have none yet. */
static inline bool qp_receives(const struct qp *qp)
{
	return qp->state == QPS_RTR || qp->state == QPS_RTS || qp->state == QPS_SQD ||
	       qp->state == QPS_SQE;
}

static inline bool qp_is_reliable(const struct qp *qp)
{
	return qp->type == QPT_RC || qp->type == QPT_XRC_SEND || qp->type == QPT_XRC_RECV;
}

/* The service of its packets. */
static inline enum roce_service qp_service(const struct qp *qp)
{
	switch (qp->type) {
	case QPT_UC:
		return ROCE_SVC_UC;
	case QPT_UD:
		return ROCE_SVC_UD;
	case QPT_XRC_SEND:
	case QPT_XRC_RECV:
		return ROCE_SVC_XRC;
	case QPT_RC:
	case QPT_RAW_PACKET:
		break;
	}
	return ROCE_SVC_RC;
}

/*
 * Gives the QP the smallest free doorbell number. 0, or -ENOMEM (also when the doorbell region
 * has no bit left). In doorbell.c.
 */
int client_add_doorbell(struct client *c, struct qp *qp, uint32_t *doorbell);
void client_remove_doorbell(struct client *c, uint32_t doorbell);

/* Raises an affiliated async event of this QP; of a shared one with each client. */
void qp_event(struct qp *qp, uint32_t type);

/* The client destroys it: events that it was not told of yet are taken back. */
void qp_take_back_events(struct qp *qp);

/*
 * Error state by the device's own decision (IBTA vol. 1, 10.3.1.7 and 9.9): state ERR, every
 * outstanding work request flushed in order; raises event (UHCA_ABI_EVENT_*) unless it is
 * UINT32_MAX. Harmless when already in ERR. In qp_error.c.
 */
void qp_fail(struct qp *qp, uint32_t event);

/*
 * Completes with WR_FLUSH_ERR whatever is on the send and the receive queue now; what is more than
 * the device does at one time, a moment later (budget.h). qp_error.c.
 */
void qp_flush(struct qp *qp);

/* What it has received is in memory, its deferred completions in their CQ: before it stops. */
void qp_make_visible(struct qp *qp);

/*
 * The engines' part in a transition, called by qp_modify.c after state and attributes are set:
 * resets PSNs, windows and timers on RESET, starts and stops sending, flushes on ERR. qp_error.c.
 */
void qp_state_changed(struct qp *qp, enum qp_state old);

/*
 * A receiving QP of XRC works with the SRQ that the packet at hand names: takes its receives,
 * completes to its CQ, and has its protection domain. NULL: with none.
 */
void qp_use_srq(struct qp *qp, struct srq *srq);

/* What the queues ask of the QPs, for core_create. In qp_queues.c. */
extern const struct queue_users qp_queue_users;

extern const struct object_type object_qp;

#endif
