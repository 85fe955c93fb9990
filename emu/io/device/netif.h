/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of a device is a stack of boxes (design D10). A burst that the device sends enters
 * the top box by "send" and sinks; one that arrives enters the bottom box by "receive" and
 * rises; each box hands it on, changed or not, or swallows it. The top box is the device itself,
 * below it capture and (where one is asked for) faults, then the decision between device-internal
 * and wire, and UDP at the bottom.
 *
 * A burst is valid during the call only. Nothing here returns an error: what cannot be sent is
 * kept or counted by the box that could not send it.
 */
#ifndef IO_NETIF_H
#define IO_NETIF_H

#include "emu/core/core.h"

#include <stddef.h>
#include <stdint.h>

struct netif;

/* Something that a box could not deliver: a burst on its way down, or bytes on their way up. */
struct netif_lost {
	const struct core_burst *burst; /* NULL: bytes */
	const struct roce_flow *flow;
	const uint8_t *bytes; /* from the BTH to the ICRC */
	size_t len;
	const char *why; /* static text, one word */
};

struct netif_ops {
	void (*send)(struct netif *n, const struct core_burst *t, uint64_t now);
	/* NULL for a box that is always the lowest. */
	void (*receive)(struct netif *n, const struct core_burst *t, uint64_t now);
	/* NULL for a box that keeps nothing back: "send" may keep a burst until this. */
	void (*flush)(struct netif *n);
	/* Optional: a box below lost something of this device's. */
	void (*lost)(struct netif *n, const struct netif_lost *l);
	/* Optional: a burst left by the lowest box. */
	void (*left)(struct netif *n, const struct core_burst *t, uint64_t now);
	/* Optional: the device did not take a burst that came through this box. */
	void (*refused)(struct netif *n, const struct core_burst *t);
};

struct netif {
	const struct netif_ops *ops;
	struct netif *above; /* towards the device; NULL at the top */
	struct netif *below; /* towards the network; NULL at the bottom */
};

/* Puts "upper" on "lower". */
static inline void netif_stack(struct netif *upper, struct netif *lower)
{
	upper->below = lower;
	lower->above = upper;
}

static inline void netif_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	n->ops->send(n, t, now);
}

/* The device has no more to send now: what a box between it and the network keeps must go. */
static inline void netif_flush(struct netif *n)
{
	for (; n; n = n->below)
		if (n->ops->flush)
			n->ops->flush(n);
}

/* Told to the boxes above n. */
static inline void netif_report_lost(const struct netif *n, const struct netif_lost *l)
{
	for (struct netif *up = n->above; up; up = up->above)
		if (up->ops->lost)
			up->ops->lost(up, l);
}

/* Told to the boxes above n. */
static inline void netif_report_left(const struct netif *n, const struct core_burst *t,
				     uint64_t now)
{
	for (struct netif *up = n->above; up; up = up->above)
		if (up->ops->left)
			up->ops->left(up, t, now);
}

/* Told to the boxes below n. */
static inline void netif_report_refused(const struct netif *n, const struct core_burst *t)
{
	for (struct netif *down = n->below; down; down = down->below)
		if (down->ops->refused)
			down->ops->refused(down, t);
}

static inline void netif_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	n->ops->receive(n, t, now);
}

#endif
