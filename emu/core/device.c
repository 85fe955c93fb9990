/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device's life and its clock. What it reports about itself stands in device_query.c.
 */
#include "emu/core/base/base.h"
#include "emu/core/cm/management.h"
#include "emu/core/congestion/congestion.h"
#include "emu/core/contract/late.h"
#include "emu/core/keys/keys.h"
#include "emu/core/memory/memory.h"
#include "emu/core/packets/packets.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/queues/queues.h"
#include "emu/core/receive/receive.h"
#include "emu/core/send/send.h"

#include <stdlib.h>

#define STATE_ACTIVE   4 /* enum ibv_port_state */
#define QPN_BITS       24
/* One bit less than other handles: it tells those of shared QPs (qp_share.h). */
#define QP_HANDLE_BITS 31

static void construct_tables(struct device *dev)
{
	const struct core_limits *l = &dev->cfg.limits;
	uint32_t salt[4];
	dev->ops->random(dev->user, salt, sizeof(salt));
	table_construct(&dev->pds, l->max_pd);
	table_construct(&dev->dms, DM_MAX_PIECES);
	table_construct(&dev->cqs, l->max_cq);
	table_construct(&dev->comp_cntrs, l->max_comp_cntr ? l->max_comp_cntr : 1);
	table_construct_bits(&dev->qps, l->max_qp, QP_HANDLE_BITS, 0);
	table_construct_bits(&dev->qp_shares, CORE_MOST_OBJECTS, QP_HANDLE_BITS, 0);
	table_construct(&dev->xrcds, l->max_xrcd);
	table_construct(&dev->srqs, l->max_srq);
	table_construct(&dev->ahs, l->max_ah);
	table_construct(&dev->flows, l->max_flow ? l->max_flow : 1);
	table_construct(&dev->wqs, l->max_wq ? l->max_wq : 1);
	table_construct(&dev->ind_tables, l->max_rwq_ind_table ? l->max_rwq_ind_table : 1);
	/* Numbers that strangers may name in packets begin where nobody can tell. */
	table_construct_bits(&dev->mrs, l->max_mr + l->max_mw, MR_HANDLE_BITS, salt[0] | 1);
	if (dev->cfg.same_qp_numbers)
		salt[1] = (uint32_t)dev->cfg.relaxation_seed;
	table_construct_bits(&dev->qpns, l->max_qp, QPN_BITS, salt[1] | 1);
	table_construct_bits(&dev->srqns, l->max_srq, QPN_BITS, salt[2] | 1);
	gsi_construct(dev->gsi);
	cm_manager_construct(dev->cm, salt[3] | 1);
}

/* In the order in which a transition asks them. */
static const struct qp_engine *const engines[] = {
	&send_engine, &receive_engine, &orphan_ack_engine, &mcast_engine, &congestion_engine, NULL};

/* A device with what it only points to. */
struct whole {
	struct device dev;
	struct orphan_ack orphan_ack;
	struct gsi gsi;
	struct cm_manager cm;
};

static struct device *allocate(void)
{
	struct whole *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->dev.orphan_ack = &w->orphan_ack;
	w->dev.gsi = &w->gsi;
	w->dev.cm = &w->cm;
	w->dev.queue_users = &qp_queue_users;
	w->dev.enter_deferred = deferred_completion_release;
	w->dev.engines = engines;
	return &w->dev;
}

/* What waits for the network does so by its time. */
static void slow_down(struct device *dev)
{
	dev->timers.slow = dev->rates.slow = dev->cm->timers.slow = dev->cfg.congestion.scale;
}

struct device *core_create(const struct core_ops *ops, void *user, const struct core_config *cfg)
{
	struct device *dev = core_config_valid(cfg) ? allocate() : NULL;
	if (!dev)
		return NULL;
	dev->ops = ops;
	dev->hooks = ops->trace ? CORE_HOOK_TRACE_ALL : 0;
	dev->user = user;
	dev->cfg = *cfg;
	dev->chance = cfg->relaxation_seed;
	dev->port_down = cfg->look.port[0].state < STATE_ACTIVE;
	if (delayed_write_create(dev) != 0) {
		free(list_entry(dev, struct whole, dev));
		return NULL;
	}
	core_config_settle(&dev->cfg);
	list_init(&dev->clients);
	list_init(&dev->tx_ready);
	list_init(&dev->tx_urgent);
	list_init(&dev->raw_ready);
	list_init(&dev->flow_rules);
	list_init(&dev->copies_on_poll);
	list_init(&dev->copies_on_poll_later);
	list_init(&dev->shares_memory);
	list_init(&dev->patient);
	list_init(&dev->waits_for_budget);
	list_init(&dev->pace.waits);
	list_init(&dev->xrc_domains);
	list_init(&dev->groups);
	timer_heap_construct(&dev->timers);
	timer_heap_construct(&dev->cq_timers);
	timer_heap_construct(&dev->rates);
	construct_tables(dev);
	slow_down(dev);
	return dev;
}

void core_hooks_set(struct device *dev, uint32_t hooks)
{
	dev->hooks = hooks;
}

void core_destroy(struct device *dev)
{
	if (!dev)
		return;
	while (!list_empty(&dev->clients))
		core_client_destroy(list_entry(dev->clients.next, struct client, link));
	cm_manager_destruct(dev->cm);
	gsi_destruct(dev->gsi);
	table_destruct(&dev->pds);
	table_destruct(&dev->mrs);
	table_destruct(&dev->dms);
	table_destruct(&dev->cqs);
	table_destruct(&dev->comp_cntrs);
	table_destruct(&dev->qps);
	table_destruct(&dev->srqs);
	table_destruct(&dev->ahs);
	table_destruct(&dev->flows);
	table_destruct(&dev->wqs);
	table_destruct(&dev->ind_tables);
	table_destruct(&dev->qpns);
	table_destruct(&dev->qp_shares);
	table_destruct(&dev->xrcds);
	table_destruct(&dev->srqns);
	timer_heap_destruct(&dev->timers);
	timer_heap_destruct(&dev->cq_timers);
	timer_heap_destruct(&dev->rates);
	delayed_write_destroy(dev);
	list_remove(&dev->shares_memory);
	free(list_entry(dev, struct whole, dev));
}

void core_tick(struct device *dev, uint64_t now)
{
	device_set_time(dev, now);
	timer_heap_run(&dev->timers, now);
	timer_heap_run(&dev->cq_timers, now);
	timer_heap_run(&dev->rates, now);
	timer_heap_run(&dev->cm->timers, now);
	barrier_tick(dev);
	answer_wake(dev, now);
	budget_resume(dev);
	send_pace_resume(dev);
}

void core_share_memory(struct device *dev, struct device *other)
{
	list_append(&other->shares_memory, &dev->shares_memory);
}

void core_freeze(struct device *dev, bool on, uint64_t now)
{
	device_set_time(dev, now);
	timer_heap_stand(&dev->timers, on, dev->now);
	timer_heap_stand(&dev->cm->timers, on, dev->now);
}

void core_skip(struct device *dev, uint64_t time)
{
	timer_heap_skip(&dev->timers, time);
	timer_heap_skip(&dev->cm->timers, time);
}

void core_network_passed(struct device *dev, uint64_t now, uint64_t passed)
{
	device_set_time(dev, now);
	timer_heap_pass(&dev->timers, now, passed);
	timer_heap_pass(&dev->cm->timers, now, passed);
	timer_heap_pass(&dev->rates, now, passed);
}

/* Of its clock, from when core_network_passed last looked. */
static uint64_t until_due(const struct timer_heap *h)
{
	const uint64_t next = timer_heap_next(h);

	return next == UINT64_MAX ? next : (next - h->at) / h->slow;
}

bool core_gives_up(struct device *dev, uint64_t now)
{
	struct timer *t;

	while ((t = timer_heap_due(&dev->timers, now)))
		if (!retry_timer_postpone(t, now))
			return true;
	return timer_heap_due(&dev->cm->timers, now) != NULL;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t core_network_due(const struct device *dev)
{
	return earlier(earlier(until_due(&dev->timers), until_due(&dev->cm->timers)),
		       until_due(&dev->rates));
}

uint64_t core_next_deadline(const struct device *dev)
{
	uint64_t next = timer_heap_next(&dev->timers);
	const struct qp *qp;

	next = earlier(next, timer_heap_next(&dev->cq_timers));
	next = earlier(next, timer_heap_next(&dev->cm->timers));
	next = earlier(next, timer_heap_next(&dev->rates));
	next = earlier(next, budget_deadline(dev));
	next = earlier(next, send_pace_deadline(dev));
	next = earlier(next, barrier_due(dev));
	if (list_empty(&dev->patient))
		return next;
	qp = list_entry(dev->patient.next, const struct qp, ack_link);
	return earlier(next, qp->ack_due);
}

const struct core_counters *core_counters(const struct device *dev)
{
	return &dev->counters;
}

const char *core_drop_name(enum core_drop d)
{
	static const char *const name[] = {
		[CORE_DROP_NO_QP] = "no_qp",       [CORE_DROP_STATE] = "state",
		[CORE_DROP_SERVICE] = "service",   [CORE_DROP_ADDRESS] = "address",
		[CORE_DROP_PKEY] = "pkey",         [CORE_DROP_QKEY] = "qkey",
		[CORE_DROP_SEQUENCE] = "sequence", [CORE_DROP_DUPLICATE] = "duplicate",
		[CORE_DROP_RESPONSE] = "response", [CORE_DROP_NO_RECV] = "no_recv",
		[CORE_DROP_LENGTH] = "length",     [CORE_DROP_PORT] = "port_down",
	};
	_Static_assert(sizeof(name) / sizeof(name[0]) == CORE_DROP_COUNT, "a name for each");
	return (unsigned)d < CORE_DROP_COUNT ? name[d] : "unknown";
}
