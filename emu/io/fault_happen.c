/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rules let happen to a device, whatever they looked at (faults.h).
 */
#include "daemon.h"
#include "event.h"
#include "log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- the port ---- */

int io_fault_port(struct io_daemon *d, struct io_device *dev, bool up)
{
	/* Whoever is told by the event finds the files as they are then. */
	int error = io_sysfs_port(d->instance.dir, &dev->id, up);

	if (error < 0) {
		io_log(IO_LOG_ERROR, "%s: the files of the port: %s", dev->id.name,
		       strerror(-error));
		return error;
	}
	core_port_set(dev->core, up);
	dev->dirty = true;
	io_log(IO_LOG_INFO, "%s: port %s", dev->id.name, up ? "up" : "down");
	return 0;
}

static void port_down(struct io_daemon *d, const struct io_fault_pending *p, uint64_t now)
{
	struct io_faults *f = &d->faults;

	if (io_fault_port(d, p->dev, false) < 0 || p->value.number == 0)
		return;
	if (f->n_returns == IO_FAULT_RETURNS_MAX) {
		io_log(IO_LOG_ERROR, "%s: too many ports are down; this one stays so",
		       p->dev->id.name);
		return;
	}
	f->returns[f->n_returns++] =
		(struct io_fault_return){.dev = p->dev, .at = now + p->value.number};
}

/* ---- the device ---- */

/* A signal ends it early. */
static void freeze(const struct io_fault_pending *p)
{
	struct timespec t = {.tv_sec = (time_t)(p->value.number / 1000000000u),
			     .tv_nsec = (long)(p->value.number % 1000000000u)};

	io_log(IO_LOG_INFO, "rule %u: frozen for %llu us", p->rule,
	       (unsigned long long)p->value.number / 1000);
	nanosleep(&t, NULL);
}

static void die(const struct io_fault_pending *p)
{
	io_log(IO_LOG_INFO, "rule %u: the daemon ends at once", p->rule);
	kill(getpid(), SIGKILL);
}

/* ---- all of them ---- */

void io_fault_execute(struct io_daemon *d, const struct io_fault_pending *p, uint64_t now)
{
	switch (p->action) {
	case FAULT_PORT_DOWN:
		port_down(d, p, now);
		break;
	case FAULT_GID_CHANGE:
		core_port_event(p->dev->core, UHCA_ABI_EVENT_GID_CHANGE);
		break;
	case FAULT_DEV_FATAL:
		io_daemon_fatal(d, p->dev);
		break;
	case FAULT_DEV_FREEZE:
		freeze(p);
		break;
	case FAULT_DEV_EXIT:
		die(p);
		break;
	/* FAULT_EVENT, FAULT_QP_ERROR, FAULT_KEY_REVOKE, FAULT_KEY_REUSE: core_inject_*. */
	default:
		break;
	}
}

/*
 * Clients go away at a fatal error, and the daemon stands still: nobody else may be in the middle
 * of anything then. Completions and memory are asked about by the core itself.
 */
static bool must_wait(enum fault_action a, enum fault_layer l)
{
	if (a == FAULT_DEV_EXIT)
		return false;
	return a == FAULT_DEV_FATAL || a == FAULT_DEV_FREEZE || l == FAULT_LAYER_COMPLETION ||
	       l == FAULT_LAYER_MEMORY;
}

void io_fault_happen(struct io_daemon *d, struct io_device *dev, const struct fault_entry *e,
		     const struct fault_subject *s, uint64_t now)
{
	struct io_faults *f = &d->faults;
	struct io_fault_pending p = {.dev = dev,
				     .action = e->rule.action,
				     .value = e->rule.value,
				     .rule = e->number,
				     .qpn = s->qpn,
				     .srq = s->srq,
				     .cq = s->cq,
				     .key = s->key};

	if (!must_wait(p.action, s->layer)) {
		io_fault_execute(d, &p, now);
	} else if (f->n_pending < IO_FAULT_PENDING_MAX) {
		f->pending[f->n_pending++] = p;
		f->armed = true;
	} else {
		io_log(IO_LOG_ERROR, "rule %u: too much happens at once; this does not", e->number);
	}
}
