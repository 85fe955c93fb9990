/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules let happen to a device, whatever they looked at (faults.h).
 */
#include "emu/abi/event.h"
#include "emu/io/base/base.h"
#include "emu/io/device/devices.h"
#include "fault_fleet.h"
#include "faults.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LAST_LINES_MS 100 /* for the log, before a rule ends the daemon */

/* ---- the device ---- */

/* A signal ends it early. */
static IO_FAULT_HAPPENING(freeze)
{
	struct timespec t = {.tv_sec = (time_t)(p->value.number / 1000000000u),
			     .tv_nsec = (long)(p->value.number % 1000000000u)};

	io_log(IO_LOG_INFO, "rule %u: frozen for %llu us", p->rule,
	       (unsigned long long)p->value.number / 1000);
	nanosleep(&t, NULL);
}

static IO_FAULT_HAPPENING(die)
{
	io_log(IO_LOG_INFO, "rule %u: the daemon ends at once", p->rule);
	io_log_flush(LAST_LINES_MS);
	kill(getpid(), SIGKILL);
}

static IO_FAULT_HAPPENING(fatal)
{
	f->env.fatal(f->env.user, p->dev);
}

/* ---- objects ---- */

/* Rules name an object by what they looked at: it may be of another kind, or gone. */
static void check(const struct io_fault_pending *p, int error)
{
	if (error < 0)
		io_log(IO_LOG_WARN, "rule %u: no effect: %s", p->rule,
		       error == -ENOENT ? "the object does not exist, or no longer exists"
					: strerror(-error));
}

/* What a rule does not name belongs to the QP that it looked at. */
static IO_FAULT_HAPPENING(event)
{
	struct core_event_of of = {.qpn = p->qpn, .srq = p->srq, .cq = p->cq};
	struct core_qp_look look;

	if (p->qpn && core_look_at_qp(p->dev->core, p->qpn, &look)) {
		of.srq = of.srq ? of.srq : look.srq;
		of.cq = of.cq ? of.cq : look.send_cq;
	}
	check(p, core_inject_event(p->dev->core, (uint32_t)p->value.number, &of));
}

static IO_FAULT_HAPPENING(qp_error)
{
	check(p, core_inject_qp_error(p->dev->core, p->qpn, now));
	p->dev->dirty = true;
}

static IO_FAULT_HAPPENING(key_revoke)
{
	uint32_t key = p->value.number ? (uint32_t)p->value.number : p->key;
	struct core_qp_look look;

	/* The packets in the middle of a message do not say it. */
	if (!key && p->qpn && core_look_at_qp(p->dev->core, p->qpn, &look))
		key = look.write_key;
	check(p, core_inject_revoke(p->dev->core, key));
}

static IO_FAULT_HAPPENING(key_reuse)
{
	core_inject_key_reuse(p->dev->core, true);
}

static IO_FAULT_HAPPENING(key_split)
{
	core_inject_key_split(p->dev->core, true);
}

/* The completion that found no room is lost: its QP fails. */
static IO_FAULT_HAPPENING(overrun)
{
	const struct uhca_abi_cqe e = {.qpn = p->qpn};

	check(p, core_inject_cq_overrun(p->dev->core, p->cq));
	core_inject_completion(p->dev->core, p->cq, &e, now);
	p->dev->dirty = true;
}

/* ---- all of them ---- */

static io_fault_device_action_fn *const device_actions[FAULT_ACTIONS] = {
	[FAULT_EVENT] = event,
	[FAULT_QP_ERROR] = qp_error,
	[FAULT_KEY_REVOKE] = key_revoke,
	[FAULT_KEY_REUSE] = key_reuse,
	[FAULT_DEV_FATAL] = fatal,
	[FAULT_DEV_FREEZE] = freeze,
	[FAULT_DEV_EXIT] = die,
	[FAULT_CQE_OVERRUN] = overrun,
	[FAULT_KEY_SPLIT] = key_split,
	[FAULT_PORT_DOWN] = io_fault_port_down,
	[FAULT_PORT_FLAP] = io_fault_port_flap,
	[FAULT_PORT_SPEED] = io_fault_port_speed,
	[FAULT_PORT_MTU] = io_fault_port_mtu,
	[FAULT_PORT_PKEY] = io_fault_port_pkey,
	[FAULT_GID_CHANGE] = io_fault_gid_change,
	[FAULT_GID_EMPTY] = io_fault_gid_empty,
	[FAULT_GID_ADD] = io_fault_gid_add,
	[FAULT_GID_MOVE] = io_fault_gid_move,
	[FAULT_DEV_UNPLUG] = io_fault_unplug,
	[FAULT_DEV_RESET] = io_fault_reset,
	[FAULT_DEV_HANG] = io_fault_hang,
	[FAULT_LINK_DOWN] = io_fault_network,
	[FAULT_LINK_FLAP] = io_fault_network,
	[FAULT_LINK_RATE] = io_fault_network,
	[FAULT_LINK_DELAY] = io_fault_network,
	[FAULT_LINK_LOSS] = io_fault_network,
	[FAULT_SWITCH_DOWN] = io_fault_network,
	[FAULT_SWITCH_FLAP] = io_fault_network,
	[FAULT_HOST_PAUSE] = io_fault_network,
};

/* These change files of a device, or what it is to those who have it open. */
static bool needs_device(enum fault_action a)
{
	return a == FAULT_PORT_SPEED || a == FAULT_PORT_MTU || a == FAULT_PORT_PKEY ||
	       a == FAULT_GID_EMPTY || a == FAULT_GID_ADD || a == FAULT_GID_MOVE ||
	       a == FAULT_DEV_HANG;
}

void io_fault_execute(struct io_faults *f, const struct io_fault_pending *p, uint64_t now)
{
	if (p->dev->away && needs_device(p->action)) {
		io_log(IO_LOG_WARN, "%s: %s: the device is unplugged", p->dev->id.name,
		       fault_action_name(p->action));
		return;
	}
	if (device_actions[p->action])
		device_actions[p->action](f, p, now);
}

/*
 * Clients go away at a fatal error, and the daemon stands still: nobody else may be in the middle
 * of anything then. Completions and memory are asked about by the core itself.
 */
static bool must_wait(enum fault_action a, enum fault_layer l)
{
	if (a == FAULT_DEV_EXIT)
		return false;
	if (fault_action_part(a) != FAULT_PARTS)
		return l == FAULT_LAYER_COMPLETION || l == FAULT_LAYER_MEMORY;
	return l == FAULT_LAYER_HOP || a == FAULT_DEV_FATAL || a == FAULT_DEV_FREEZE ||
	       a == FAULT_DEV_UNPLUG || a == FAULT_DEV_RESET || a == FAULT_DEV_HANG ||
	       l == FAULT_LAYER_COMPLETION || l == FAULT_LAYER_MEMORY;
}

void io_fault_later(struct io_faults *f, const struct io_fault_pending *p)
{

	if (f->n_pending == IO_FAULT_PENDING_MAX) {
		io_log(IO_LOG_ERROR, "rule %u: too many pending actions; dropped", p->rule);
		return;
	}
	f->pending[f->n_pending++] = *p;
	f->armed = true;
}

void io_fault_device_action(struct io_faults *f, struct io_device *dev, const struct fault_entry *e,
			    const struct fault_subject *s, uint64_t now)
{
	const struct io_fault_pending p = {.dev = dev,
					   .action = e->rule.action,
					   .value = e->rule.value,
					   .rule = e->number,
					   .qpn = s->qpn,
					   .srq = s->srq,
					   .cq = s->cq,
					   .key = s->key};

	if (!device_actions[p.action]) /* it counts, and nothing else */
		return;
	if (must_wait(p.action, s->layer))
		io_fault_later(f, &p);
	else
		io_fault_execute(f, &p, now);
}
