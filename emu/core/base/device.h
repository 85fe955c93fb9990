/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One emulated HCA: its tables, limits, timers and the list of QPs that have something to send.
 * Owner: the shell, through core_create and core_destroy. Everything else in this directory hangs
 * off it and may point at it.
 */
#ifndef CORE_DEVICE_H
#define CORE_DEVICE_H

#include "emu/core/contract/verbs.h"
#include "list.h"
#include "table.h"
#include "timer.h"

struct client;
struct cm_manager;
struct cq;
struct orphan_ack;
struct delayed_write;
struct gsi;
struct qp;
struct qp_engine;
struct queue_users;

/* Local CA ACK delay (11.2.1.2): how late an ACK may leave, 4.096 us * 2^code. */
#define DEVICE_ACK_DELAY 15

/* How fast that leaves which nobody acknowledges: send_pace.h of send. */
struct send_pace {
	uint32_t bytes; /* of the burst that has begun */
	uint64_t began;
	uint64_t until;    /* the end of the pause behind it */
	struct list waits; /* struct qp.pace_link */
};

/* Keys that are no more (key_cause.h). */
#define DEVICE_DEAD_KEYS 1024u

struct device_dead_key {
	uint32_t lkey, rkey;
	uint64_t at; /* the device's time of their end */
	uint64_t start, size;
};

struct device {
	const struct core_ops *ops;
	void *user;
	struct core_config cfg;
	struct core_counters counters;
	uint64_t now;                /* of the call that is running (device_set_time) */
	uint32_t hooks;              /* core_hooks_set */
	uint64_t chance;             /* of relaxations: chance.h */
	struct uhca_abi_cause cause; /* of what is refused just now (device_because) */
	bool port_down;
	uint32_t port_speed; /* that a rule has named, units of 100 Mb/s; 0: of cfg.look */
	bool gid_left;       /* an entry of the GID table: others' addresses may be ours no more */
	bool mtu_changed;    /* since QPs may have had another */
	bool port_checks;    /* any of the three: port_refuses has something to look for */
	bool key_reuse;      /* key_reuse.h */
	bool key_split;      /* new regions have two keys (struct mr, split) */
	uint32_t freed_key;  /* last */

	struct list clients;
	struct client *leaving; /* whose end has begun; NULL: nobody's */
	struct table pds;
	struct table mrs; /* and windows: handle << 8 | key byte is the L_Key and R_Key */
	uint32_t n_mw;    /* of mrs that are windows */
	struct device_dead_key dead[DEVICE_DEAD_KEYS]; /* newest: dead[(n_dead - 1) % ...] */
	uint32_t n_dead;
	uint64_t list[UHCA_ABI_LAYOUT_BYTES / 8]; /* fast_reg.c: private copy of a list */
	struct table dms;
	uint64_t dm_used;     /* bytes, of limits.max_dm_size */
	uint64_t shared_used; /* bytes, of limits.max_shared_size */
	struct table cqs;
	struct table comp_cntrs;
	struct table qps;
	struct table srqs;
	struct table ahs;
	struct table flows;
	struct table wqs;
	struct table ind_tables;
	struct table qpns;      /* QP number -> struct qp */
	struct table qp_shares; /* handles of shared QPs, without QP_SHARE_BIT */
	struct table xrcds;
	struct table srqns; /* SRQ number -> struct srq, of XRC SRQs */
	struct list xrc_domains;
	struct list groups; /* struct mcast_group */
	uint32_t n_groups;

	struct timer_heap timers;    /* of QPs: what the network keeps waiting */
	struct timer_heap cq_timers; /* of CQs: what the program keeps waiting */
	struct timer_heap rates;     /* of QPs: what their rates keep waiting, the network's time */
	struct list tx_ready;        /* struct qp.tx_link */
	struct list tx_urgent;       /* the same of low-latency QPs */
	uint32_t urgent_run;    /* packets that those sent in a row while others may have waited */
	struct list raw_ready;  /* the same of raw packet QPs */
	struct list flow_rules; /* struct flow.link, in the order of trying */
	uint64_t frame_serial;  /* of the newest frame that arrived */
	uint32_t frame_copies;  /* of it */
	struct list waits_for_budget; /* struct qp.budget_link, budget.h */
	uint64_t budget_at;           /* the time of which budget_used tells */
	uint32_t budget_used;
	struct send_pace pace;
	/*
	 * struct copy_on_poll_ring.link in the order of since, and those whose memory did not
	 * answer, in the same order.
	 */
	struct list copies_on_poll;
	struct list copies_on_poll_later;
	struct list shares_memory; /* a ring of devices: core_share_memory */
	struct list patient; /* struct qp.ack_link: ACKs that wait for company, oldest first */
	char refusal[UHCA_ABI_REASON]; /* reason.h; "": nothing was said */
	/* Of other modules; set by core_create. */
	const struct queue_users *queue_users;
	void (*enter_deferred)(struct cq *cq);  /* deferred_completion_release, for the barrier */
	const struct qp_engine *const *engines; /* up to NULL */
	struct orphan_ack *orphan_ack;
	struct delayed_write *late; /* delayed_write.h; NULL: all is stored at once */
	struct gsi *gsi;
	struct cm_manager *cm;
};

/*
 * The time of the call. The shell may have read its clock once before and once behind an event:
 * ours never goes back, so that time stamps do not.
 */
static inline void device_set_time(struct device *dev, uint64_t now)
{
	if (now > dev->now)
		dev->now = now;
}

/* The time of rates and of congestion control: the network's, which may be slower than ours. */
static inline uint64_t device_network_now(const struct device *dev)
{
	return timer_heap_time(&dev->rates, dev->now);
}

/* table_add for a table of the device: where its limit is reached the reason says so. */
int device_add(struct device *dev, struct table *t, void *object, uint32_t *handle);

/* The connected or datagram QP with this number, or NULL. */
struct qp *device_find_qp(const struct device *dev, uint32_t qpn);

#define DEVICE_TIMERS_PER_QP 2u /* its retransmission timer and one to spare */

#define DEVICE_RATES_PER_QP 2u /* its rate limit, its congestion control */

#define DEVICE_TIMERS_PER_CQ 2u /* of its moderation and of what it holds back */

/* Room for the timers of all QPs and CQs, and of those that are to come. 0 or -ENOMEM. */
int device_reserve_timers(struct device *dev, uint32_t more_qps, uint32_t more_cqs);

static inline void device_trace(struct device *dev, enum core_trace_point point, uint32_t qpn,
				uint32_t a, uint32_t b)
{
	if (dev->hooks & 1u << point)
		dev->ops->trace(dev->user,
				&(struct core_trace){.point = point, .qpn = qpn, .a = a, .b = b});
}

/* Somebody wants to know why packets are refused and requests fail. */
static inline bool device_explains(const struct device *dev)
{
	return dev->hooks & (1u << CORE_TRACE_RX_DROP | 1u << CORE_TRACE_JUDGED |
			     1u << CORE_TRACE_NAK | 1u << CORE_TRACE_CQE | CORE_HOOK_ERRORS);
}

/* A cause: its kind and the fields that it has. */
#define CAUSE(name, ...) ((struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_##name, __VA_ARGS__})

/*
 * What is refused, dropped or completed in error next is so for this reason. It holds until
 * device_drop, device_judged or device_forget_cause.
 */
static inline void device_because(struct device *dev, const struct uhca_abi_cause *cause)
{
	dev->cause = *cause;
}

static inline void device_forget_cause(struct device *dev)
{
	dev->cause.kind = UHCA_ABI_CAUSE_NONE;
}

/* NULL: not known. */
static inline const struct uhca_abi_cause *device_cause(const struct device *dev)
{
	return dev->cause.kind ? &dev->cause : NULL;
}

/* These packets, all of the burst, are dropped: counted and told of. */
void device_drop(struct device *dev, uint32_t qpn, const struct core_burst *t, enum core_drop why);

/* The same of one packet. */
void device_drop_one(struct device *dev, uint32_t qpn, uint32_t psn, enum core_drop why);

/* These requests, all of the burst, are neither executed nor dropped. */
void device_judged(struct device *dev, uint32_t qpn, const struct core_burst *t,
		   enum core_judgement judgement);

#endif
