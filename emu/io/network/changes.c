/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes wrong in the network, now and later. What is to come has a timer of the model, so that
 * it comes in the model's time, between the packets that it is between.
 */
#include "inside.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <string.h>

#define PS_PER_NS 1000

void network_start_changes(struct io_network *n)
{
	for (unsigned i = 0; i < IO_NETWORK_LATER; i++)
		n->later[i].at = FABRIC_NEVER;
	memset(n->up, true, sizeof(n->up));
}

/* ---- the links of devices ---- */

static bool is_up(const struct io_network *n, uint32_t host)
{
	const struct fabric_topology *t = n->topology;

	for (uint32_t i = 0; i < t->n_links; i++)
		for (unsigned end = 0; end < 2; end++) {
			const struct fabric_node *node = &t->nodes[t->links[i].end[end]];

			if (!node->is_switch && node->index == host)
				return fabric_port_up(n->fabric, fabric_link_port(i, end));
		}
	return true;
}

/* A device whose link has gone or come back says so, as adapters do. */
static void notify_devices(struct io_network *n)
{
	for (unsigned i = 0; i < n->devices->n; i++) {
		const bool up = is_up(n, i);

		if (up == n->up[i])
			continue;
		n->up[i] = up;
		if (n->link)
			n->link(n->user, n->devices->at[i], up);
	}
}

/* ---- now ---- */

static int apply(struct io_network *n, const struct fabric_failure *f, uint64_t at)
{
	int status = 0;

	if (!fabric_failure_apply(f, n->fabric, n->topology, 1u << IO_NETWORK_CLASS, at))
		return 0;
	status = fabric_reroute(n->fabric);
	if (status < 0)
		io_log(IO_LOG_ERROR, "network: no memory for other routes");
	notify_devices(n);
	return status;
}

/* How it was before: in a link's settings, or up. */
static struct fabric_failure end_of(const struct io_network *n, const struct fabric_failure *f)
{
	struct fabric_failure end = *f;

	switch (f->what) {
	case FABRIC_GOES_DOWN:
	case FABRIC_COMES_UP:
		end.what = FABRIC_COMES_UP;
		break;
	case FABRIC_LOSES:
		end.value = n->topology->links[f->link].settings.loss;
		break;
	case FABRIC_SLOWS:
		end.value = n->topology->links[f->link].settings.rate;
		break;
	case FABRIC_DELAYS:
		end.value = n->topology->links[f->link].settings.delay;
		break;
	case FABRIC_PAUSES:
	case FABRIC_RESUMES:
		end.what = FABRIC_RESUMES;
		break;
	}
	return end;
}

/* ---- later ---- */

static enum fabric_failure_what regard(enum fabric_failure_what what)
{
	if (what == FABRIC_COMES_UP)
		return FABRIC_GOES_DOWN;
	return what == FABRIC_RESUMES ? FABRIC_PAUSES : what;
}

static bool same_thing(const struct fabric_failure *a, const struct fabric_failure *b)
{
	return regard(a->what) == regard(b->what) && a->link == b->link &&
	       (a->link != UINT32_MAX || a->node == b->node);
}

static void forget(struct io_network *n, unsigned i)
{
	n->later[i].at = FABRIC_NEVER;
	fabric_timer(n->fabric, i, FABRIC_NEVER);
}

static void forget_of(struct io_network *n, const struct fabric_failure *f)
{
	for (unsigned i = 0; i < IO_NETWORK_LATER; i++)
		if (n->later[i].at != FABRIC_NEVER && same_thing(&n->later[i].change.failure, f))
			forget(n, i);
}

static int put_later(struct io_network *n, const struct io_network_later *l)
{
	for (unsigned i = 0; i < IO_NETWORK_LATER; i++) {
		if (n->later[i].at != FABRIC_NEVER)
			continue;
		n->later[i] = *l;
		fabric_timer(n->fabric, i, l->at);
		return 0;
	}
	io_log(IO_LOG_ERROR, "network: more than %d changes are pending; this one is dropped",
	       IO_NETWORK_LATER);
	return -ENOSPC;
}

/* So many ns later, or as late as can be. */
static uint64_t after(uint64_t at, uint64_t ns)
{
	const uint64_t most = FABRIC_NEVER - 1;

	return ns < (most - at) / PS_PER_NS ? at + ns * PS_PER_NS : most;
}

/* It happens, and has an end. */
static int begin(struct io_network *n, const struct io_network_change *c, uint64_t at)
{
	const struct io_network_later end = {*c, after(at, c->last), true};
	const int status = apply(n, &c->failure, at);

	return c->last && status == 0 ? put_later(n, &end) : status;
}

/* It ends, and may come again. */
static void end(struct io_network *n, const struct io_network_change *c, uint64_t at)
{
	const struct fabric_failure f = end_of(n, &c->failure);
	struct io_network_later again = {*c, after(at, c->rest), false};

	apply(n, &f, at);
	if (c->times <= 1)
		return;
	again.change.times--;
	put_later(n, &again);
}

void network_timer(void *user, uint32_t number, uint64_t at)
{
	struct io_network *n = user;
	const struct io_network_later l = n->later[number];

	n->later[number].at = FABRIC_NEVER;
	n->at = at;
	if (l.is_end)
		end(n, &l.change, at);
	else
		begin(n, &l.change, at);
	n->news = true;
}

int io_network_change(struct io_network *n, const struct io_network_change *c, uint64_t now)
{
	const struct io_network_later soon = {*c, n->at, false};

	forget_of(n, &c->failure);
	if (n->inside)
		return put_later(n, &soon);
	network_advance(n, now);
	return begin(n, c, n->time);
}
