/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network at work: packets and times in, packets out. Time is an argument, in picoseconds, and
 * the caller's; nothing here reads a clock or does I/O. Switches store and forward. A run is the
 * same, bit by bit, for one topology, one seed and the same calls.
 *
 * Packets come from fabric_packet_get and belong to the network from fabric_send until they are
 * delivered; it returns lost ones to the store itself.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include "emu/fabric/topo/topo.h"

/* Why a packet was dropped. */
enum fabric_drop {
	FABRIC_DROP_BUFFER,   /* the buffer of a switch was full */
	FABRIC_DROP_TAIL,     /* a lossy queue was at its threshold */
	FABRIC_DROP_HEADROOM, /* a lossless one had used up its headroom */
	FABRIC_DROP_LOSS,     /* lost on a link, as its settings say */
	FABRIC_DROP_DOWN,     /* the link or switch was down */
	FABRIC_DROP_ROUTE,    /* no route */
	FABRIC_DROP_MTU,      /* longer than the link takes */
	FABRIC_DROP_STORM,    /* the watchdog dropped its paused queue */
	FABRIC_DROPS
};
const char *fabric_drop_name(enum fabric_drop d);

struct fabric_counters {
	uint64_t hops;      /* packets sent by a port, PFC frames not counted */
	uint64_t delivered; /* packets that reached their host */
	uint64_t marked;    /* ECT that became CE */
	uint64_t xoff;      /* PFC frames that paused a class, repeated ones not counted */
	uint64_t xon;
	/* ps that classes of ports were paused, with packets or not, all added up */
	uint64_t paused;
	uint64_t storms;
	uint64_t deadlocks;
	uint64_t events;
	uint64_t dropped[FABRIC_DROPS];
};

/* A port: an end of a link. */
struct fabric_port_state {
	const char *node;
	const char *peer;
	bool is_switch;
	uint8_t paused;     /* classes, one bit each */
	uint64_t rate;      /* bit/s */
	uint64_t delay;     /* ps, of the link */
	uint64_t loss;      /* of the link, in 2^-32 */
	uint64_t packets;   /* sent */
	uint64_t bytes;     /* sent, gaps not counted */
	uint64_t queued;    /* bytes, of all classes */
	uint64_t queue_max; /* bytes of the longest queue of a class so far */
	uint64_t marked;
	uint64_t dropped;
	uint64_t xoff;       /* frames that paused it */
	uint64_t pause_time; /* ps, of all classes */
};

struct fabric_ops {
	/* A packet has reached its host, which owns it now. */
	void (*deliver)(void *user, uint32_t host, struct fabric_packet *p, uint64_t now);
	/* The host asked by fabric_want to hear when it may send. */
	void (*ready)(void *user, uint32_t host, uint64_t now);
	/* A timer of fabric_timer is due. */
	void (*timer)(void *user, uint32_t number, uint64_t now);
	/* Optional: a port has dropped the packet, which goes back to the store afterwards. */
	void (*lost)(void *user, uint32_t port, const struct fabric_packet *p,
		     enum fabric_drop why);
	/*
	 * Optional, and may change nothing: the packet is about to be delivered, or (NULL) the host
	 * about to hear that it may send. What it needs then may be fetched into the cache.
	 */
	void (*soon)(void *user, uint32_t host, const struct fabric_packet *p);
	/*
	 * A port of fabric_judge is about to send the packet, and may be told to lose it (false).
	 * The call may mark it, and change nothing else.
	 */
	bool (*judge)(void *user, uint32_t port, struct fabric_packet *p, uint64_t now);
	/* A port of fabric_tap begins to send the packet; it may still get lost on the link. */
	void (*sent)(void *user, uint32_t port, const struct fabric_packet *p, uint64_t now);
};

struct fabric;

/*
 * A network of the topology, which must stay as long as it does, with so many timers for the
 * caller. 0, -EINVAL (said in e) or -ENOMEM.
 */
struct fabric_start {
	const struct fabric_topology *topology;
	uint64_t seed;
	uint32_t timers;
	const struct fabric_ops *ops;
	void *user;
};
int fabric_create(struct fabric **out, const struct fabric_start *start, struct fabric_error *e);
void fabric_destroy(struct fabric *f);

struct fabric_packet *fabric_packet_get(struct fabric *f);
void fabric_packet_put(struct fabric *f, struct fabric_packet *p);

/* What ECMP sees of a flow: hosts, UDP source port. */
uint32_t fabric_flow_key(uint32_t src, uint32_t dst, uint16_t sport);

/* The packet waits in its host's queue, or leaves. */
void fabric_send(struct fabric *f, uint32_t host, struct fabric_packet *p, uint64_t now);

/* Would a packet of the class leave at once? */
bool fabric_idle(const struct fabric *f, uint32_t host, unsigned class, uint64_t now);

/*
 * Calls ready as soon as a packet of this class would leave at once: during this call, if it would
 * now. FABRIC_NO_CLASS: never.
 */
#define FABRIC_NO_CLASS FABRIC_CLASSES
void fabric_want(struct fabric *f, uint32_t host, unsigned class, uint64_t now);

/* The rate of the host's link. */
uint64_t fabric_host_rate(const struct fabric *f, uint32_t host);

/* Sets a timer of the caller; FABRIC_NEVER: none. */
void fabric_timer(struct fabric *f, uint32_t number, uint64_t time);

/* When something happens next; FABRIC_NEVER: never. */
uint64_t fabric_next(const struct fabric *f);

/* Everything up to and including the time happens. */
void fabric_run(struct fabric *f, uint64_t until);

/* ---- what goes wrong ---- */

/*
 * Packets on the link and those sent to it are lost while it is down. Routes stay as they are. A
 * link is up when it is said to be, and the nodes at both ends are.
 */
void fabric_link_up(struct fabric *f, uint32_t link, bool up, uint64_t now);
/* A switch that is down loses what it holds, and all its links are down meanwhile. */
void fabric_node_up(struct fabric *f, uint32_t node, bool up, uint64_t now);
void fabric_link_loss(struct fabric *f, uint32_t link, uint64_t loss);
/*
 * The link has another rate (bit/s, not 0) from the next packet on, and marks are those of a port
 * of this rate. Headroom stays as it was made, which a slower peer may use up.
 */
void fabric_link_rate(struct fabric *f, uint32_t link, uint64_t rate);
/* Packets on the link keep their time; later ones never overtake them. Headroom stays. */
void fabric_link_delay(struct fabric *f, uint32_t link, uint64_t delay);
/* Routes avoid what is down, from now on. 0 or -ENOMEM, and routes stay. */
int fabric_reroute(struct fabric *f);
/* The host sends PFC for these classes (bits), as one does that cannot take what it gets. */
void fabric_host_pause(struct fabric *f, uint32_t host, uint8_t classes, uint64_t now);

/* ---- looking ---- */

void fabric_count(struct fabric *f, uint64_t now, struct fabric_counters *out);
uint32_t fabric_ports(const struct fabric *f);
void fabric_port(const struct fabric *f, uint32_t port, uint64_t now,
		 struct fabric_port_state *out);
static inline uint32_t fabric_link_port(uint32_t link, unsigned end)
{
	return 2 * link + end;
}
/* Bytes of the class in the port's queue. */
uint64_t fabric_queued(const struct fabric *f, uint32_t port, unsigned class);

/* Is the port's end of its link up? */
bool fabric_port_up(const struct fabric *f, uint32_t port);

/* The port tells "sent" of what it sends, or does not any more. */
void fabric_tap(struct fabric *f, uint32_t port, bool on);

/* The port asks "judge" of what it sends, or does not any more. */
void fabric_judge(struct fabric *f, uint32_t port, bool on);

/* Is it a port of a switch? */
bool fabric_is_switch_port(const struct fabric *f, uint32_t port);

/* Links of the longest path that there may be: no switch is on it twice. */
static inline uint32_t fabric_path_max(const struct fabric_topology *t)
{
	return t->n_switches + 1;
}

/*
 * The links of the path from one host to another for a flow, at most n. How many; 0: none is up, or
 * it is longer.
 */
unsigned fabric_path(const struct fabric *f, const uint32_t hosts[2], uint32_t flow,
		     uint32_t *links, unsigned n);

/*
 * Looks for a circle of queues each of which is paused for longer than "age" because the next one
 * is full. The ports of the circle, at most n; 0: there is none.
 */
unsigned fabric_deadlock(struct fabric *f, uint64_t now, uint64_t age, uint32_t *ports, unsigned n);

#endif
