/* SPDX-License-Identifier: BSD-2-Clause */
/* The box of a device's stack that passes packets through the fault rules. */
#include "fault_box.h"

#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/serve/serve.h"
#include "faults.h"

#include <errno.h>

/* The capture below sees what is sent; of what arrives it must be told. */
static void pass_on(struct io_fault_box *b, enum fault_direction dir, const struct core_burst *t,
		    uint64_t now)
{
	if (dir == FAULT_TX) {
		netif_send(b->netif.below, t, now);
		return;
	}
	if (t->model.rule)
		io_pcap_touched(b->dev->pcap, t);
	netif_receive(b->netif.above, t, now);
}

static void pass(void *user, enum fault_direction dir, const struct core_burst *t, uint64_t now)
{
	struct io_fault_box *b = user;
	struct core_burst mine;

	if (!b->making) {
		pass_on(b, dir, t, now);
		return;
	}
	b->making = false;
	mine = *t;
	mine.model.made = true;
	pass_on(b, dir, &mine, now);
}

static void made(void *user, enum fault_direction dir, const struct core_burst *t, uint64_t now)
{
	(void)dir;
	(void)t;
	(void)now;
	((struct io_fault_box *)user)->making = true;
}

static void dropped(void *user, enum fault_direction dir, const struct core_burst *t,
		    bool malformed, uint64_t now)
{
	(void)now;
	io_pcap_dropped(((struct io_fault_box *)user)->dev->pcap, dir, t, malformed);
}

static void device_action(void *user, const struct fault_entry *e, const struct fault_subject *s,
			  uint64_t now)
{
	struct io_fault_box *b = user;

	io_fault_device_action(b->faults, b->dev, e, s, now);
}

/* What a rule could not do: said, so that nobody looks for its effect. */
static void note(void *user, enum fault_note what, const struct core_burst *t, uint64_t now)
{
	static const char *const text[] = {
		[FAULT_NOTE_OVERFLOW] = "the rule's queue is full; packet dropped",
		[FAULT_NOTE_FULL] = "too many held packets; packet sent at once",
		[FAULT_NOTE_UNFIT] =
			"the action does not apply to this packet; packet sent unchanged",
	};
	static struct io_log_limit limit;
	const struct io_fault_box *b = user;
	uint32_t held;

	if (io_log_limit(&limit, 2, now, &held))
		io_log(IO_LOG_WARN, "%s: rule %u: %s (%u more)", b->dev->id.name, t->model.rule,
		       text[what], held);
}

static bool look_up(void *user, uint32_t qpn, struct fault_qp *out)
{
	const struct io_fault_box *b = user;
	struct core_qp_look look;
	const struct io_client *c;

	if (!core_look_at_qp(b->dev->core, qpn, &look))
		return false;
	c = look.client;
	*out = (struct fault_qp){.peer_qpn = look.peer_qpn,
				 .pd = look.pd,
				 .srq = look.srq,
				 .responds = look.responds,
				 .expected_psn = look.expected_psn,
				 .client = c ? c->id : 0,
				 .program = c ? c->program : NULL};
	return true;
}

static const struct fault_net_ops net_ops = {
	.pass = pass,
	.dropped = dropped,
	.device_action = device_action,
	.made = made,
	.note = note,
	.look_up = look_up,
};

static void show(struct io_fault_box *b, enum fault_direction dir, const struct core_burst *t,
		 uint64_t now)
{
	fault_net_burst(b->net, dir, t, NULL, now);
	/* It may keep packets: then somebody must ask when they go on. */
	b->faults->armed = true;
}

static void box_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_fault_box *b = (struct io_fault_box *)n;

	if (!b->active)
		netif_send(n->below, t, now);
	else
		show(b, FAULT_TX, t, now);
}

static void box_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct io_fault_box *b = (struct io_fault_box *)n;

	if (!b->active)
		netif_receive(n->above, t, now);
	else
		show(b, FAULT_RX, t, now);
}

static const struct netif_ops box_ops = {.send = box_send, .receive = box_receive};

int io_fault_box_init(struct io_fault_box *b, struct io_faults *f, struct io_device *dev)
{
	*b = (struct io_fault_box){.netif.ops = &box_ops, .faults = f, .dev = dev};
	b->net = fault_net_create(f->plan, dev->id.name, &net_ops, b);
	return b->net ? 0 : -ENOMEM;
}

void io_fault_box_destroy(struct io_fault_box *b)
{
	if (b->net)
		fault_net_destroy(b->net);
	b->active = false;
}

void io_fault_box_update(struct io_fault_box *b)
{
	b->active = fault_net_active(b->net);
}

void io_fault_box_tick(struct io_fault_box *b, uint64_t now)
{
	if (fault_net_deadline(b->net) <= now) {
		fault_net_tick(b->net, now);
		netif_flush(b->netif.below);
	}
	io_fault_box_update(b);
}

uint64_t io_fault_box_deadline(const struct io_fault_box *b)
{
	return b->active ? fault_net_deadline(b->net) : UINT64_MAX;
}
