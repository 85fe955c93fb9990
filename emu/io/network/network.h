/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The modelled network (emu/fabric) between the devices of this daemon, in real time: device i is
 * host i. All of their packets for each other enter the model at their host's port, and come out of
 * it when its time says so. Time of the model is that of the clock divided by the scale, and
 * stands where the daemon is behind: nothing is ever delivered late, it is later.
 *
 * Devices live in the model's time, too: the clock by which they wait for the network is the
 * model's (core_network_passed), and so is that of their rates. They answer at the moment at which
 * something reaches them, however long that takes here. Programs live in that of the machine.
 *
 * Below capture and fault rules in the stack, above UDP, which takes what is for other hosts.
 */
#ifndef IO_NETWORK_H
#define IO_NETWORK_H

#include "emu/fabric/failure/failure.h"
#include "emu/io/port/port.h"
#include "flight.h"

#include <stdbool.h>
#include <stdint.h>

/* Whoever gives no traffic class has this one: that of data in RoCE networks (lossless, marked). */
#define IO_NETWORK_CLASS 3u

#define IO_NETWORK_PORT_NAME (FABRIC_NAME_MAX + 16)
#define IO_NETWORK_LINK_NAME (2 * FABRIC_NAME_MAX + 2)

struct io_network;

/* A device's place in the network. */
struct io_network_box {
	struct netif netif;
	struct io_network *network; /* NULL: there is none, and the box is in no stack */
	struct io_device *dev;
	uint32_t host;
	uint64_t told; /* ns of the model: the device's clock is there */
};

/* A port of the network whose packets somebody looks at. */
struct io_network_tap {
	/* t: one packet; out: it leaves the port, else it comes in. False: no more. */
	bool (*seen)(const struct io_network_tap *tap, const struct core_burst *t, bool out);
	void *user;
	uint32_t port;
	unsigned interface; /* the caller's number */
};

/* What is to happen to a link, switch or host, and what becomes of it later. */
struct io_network_change {
	struct fabric_failure failure;
	uint64_t last; /* ns until it ends, 0: it stays; of one that flaps, how long it lasts ... */
	uint64_t rest; /* ... ns between two times ... */
	uint64_t times; /* ... and how often it happens; 0 and 1: once */
};

/* One that is to come: at the time of the model's timer of its number. */
struct io_network_later {
	struct io_network_change change;
	uint64_t at; /* ps; FABRIC_NEVER: this place is free */
	bool is_end; /* the change ends then */
};

#define IO_NETWORK_LATER 256

/* A packet that a port of a switch is about to send. */
struct io_network_hop {
	struct io_device *from;         /* who sent it */
	const char *port;               /* "leaf0/port3" */
	const struct core_burst *burst; /* one packet */
	/* The verdict. */
	bool lost, marked;
};

struct io_network {
	const struct fabric_topology *topology; /* the settings' */
	const char *name;                       /* the same */
	struct fabric *fabric;
	const struct io_fabric *addresses;
	struct io_devices *devices;
	struct io_network_box *box[IO_MAX_DEVICES]; /* of host i; NULL: nobody */
	uint16_t *number;                           /* of each port at its node, from 1 */
	struct io_flights flights;
	unsigned scale;
	uint64_t time;      /* ps: up to here everything has happened */
	uint64_t at;        /* ps: of what happens now ... */
	uint64_t clock;     /* ... and its time of the clock */
	uint64_t base_time; /* ps of the model ... */
	uint64_t base_wall; /* ... at this time of the clock; it moves when the daemon is behind */
	uint64_t behind;    /* ns of the clock that the model's time stood still */
	uint64_t said;      /* so much of it was logged */
	bool news;          /* a device got something, or may send */
	struct io_network_tap tap;
	bool inside; /* the model is at work, and may not be changed */
	struct io_network_later later[IO_NETWORK_LATER];
	bool up[IO_MAX_DEVICES]; /* the link of each device, as "link" was told last */
	/* Set by its owner: told of each device whose link has gone or come back; or NULL. */
	void (*link)(void *user, struct io_device *dev, bool up);
	void *user;
	void (*judge)(void *user, struct io_network_hop *hop, uint64_t now); /* NULL: nobody */
	void *judge_user;
	char (*name_of_link)[IO_NETWORK_LINK_NAME]; /* look.c; NULL: nobody has asked yet */
};

/*
 * Makes the network of the settings, with no device in it. 0, -EINVAL (logged) or -ENOMEM; nothing
 * remains of what failed. addresses and devices outlive it.
 */
int io_network_create(struct io_network **out, const struct io_settings *settings,
		      const struct io_fabric *addresses, struct io_devices *devices, uint64_t now);
void io_network_destroy(struct io_network *n);

/* The box of the device, which is host number dev->id.index, to be put in its stack. */
void io_network_join(struct io_network *n, struct io_network_box *box, struct io_device *dev);

/*
 * Lets happen what is due at now (io_clock_now), but nothing behind the first moment at which a
 * device has something to do. True when there was such a moment.
 */
bool io_network_run(struct io_network *n, uint64_t now);

/* When to call it next, by the clock; UINT64_MAX: nothing is under way. */
uint64_t io_network_next(const struct io_network *n);

/*
 * Something fails, or works again (failure.h); routes follow at once. Its end, or its next time,
 * come in the model's time. What was to happen later to the same thing, in the same regard, does
 * not happen any more. While the model is at work (a packet has just come out of it) it happens as
 * soon as that pauses, before anything else. 0; -ENOMEM: routes do not follow; -ENOSPC: too much is
 * to come.
 */
int io_network_change(struct io_network *n, const struct io_network_change *c, uint64_t now);

/* The host of the device: its link's rate in the model, bit/s. */
uint64_t io_network_rate(const struct io_network *n, const struct io_device *dev);

/* The port of the name ("leaf0/port1", or "h3": its only one); -ENOENT. */
int64_t io_network_port(const struct io_network *n, const char *name);

/* Its name, in text of so many bytes. */
void io_network_port_name(const struct io_network *n, uint32_t port,
			  char text[IO_NETWORK_PORT_NAME]);

/*
 * Names that rules have for links: that of the port at either end, and those of both nodes in
 * either order ("leaf0/spine1"). Name i is of link i / IO_NETWORK_LINK_NAMES; NULL behind the last,
 * or without memory.
 */
#define IO_NETWORK_LINK_NAMES 4
const char *io_network_link_name(struct io_network *n, unsigned i);

/* The name of port number i of all switches, among those of links; NULL behind the last. */
const char *io_network_switch_port(struct io_network *n, unsigned i);

/* Node number i of the kind, hosts in their order; *node, and its name; NULL behind the last. */
const char *io_network_node_name(const struct io_network *n, bool is_switch, unsigned i,
				 uint32_t *node);

/* Both directions of a port are looked at; NULL: no more. One at a time. */
void io_network_look(struct io_network *n, const struct io_network_tap *tap);

/* Asks of every packet at every port of a switch, from now on; NULL: no more. */
void io_network_on_hop(struct io_network *n,
		       void (*judge)(void *user, struct io_network_hop *hop, uint64_t now),
		       void *user);

/*
 * The way of a flow between two addresses: links, at most "most" of them. How many; 0: no device
 * has one of the addresses, or there is no way.
 */
unsigned io_network_path(const struct io_network *n, const struct roce_flow *flow, uint32_t *links,
			 unsigned most);

#endif
