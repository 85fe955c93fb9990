/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of a network at work. Ports 2i and 2i+1 are the ends of link i. A port sends packets of
 * its queues, one at a time, onto its link; the link keeps them in order until they arrive. A node
 * that is a switch has a buffer, which counts what its ports hold.
 */
#ifndef FABRIC_NETWORK_H
#define FABRIC_NETWORK_H

#include "fabric.h"

#define FABRIC_PFC       0xffu /* the class of a PFC frame */
#define FABRIC_PFC_BYTES 64u

/* What a port waits for, each an event of its own. */
enum port_slot { SLOT_ARRIVE, SLOT_FREE, SLOT_PAUSE, SLOT_WATCH, PORT_SLOTS };

struct queue {
	struct fabric_packet *first;
	struct fabric_packet *last;
};

enum { PORT_TAPPED = 1, PORT_JUDGED = 2 };

/* A class of a port: a line of the cache, which is all that a packet needs of it. */
struct lane {
	struct queue queue;
	uint64_t bytes; /* in the queue, and the most that there were */
	uint64_t bytes_max;
	uint32_t kmin; /* of this port's rate */
	uint32_t kmax;
	uint64_t deficit;
	/* What came in here and has not left the switch: lossless classes. */
	uint64_t used;
	uint64_t over; /* in headroom */
};

/* The times of pauses, which few packets need. */
struct pauses {
	uint64_t until[FABRIC_CLASSES];
	uint64_t since[FABRIC_CLASSES];
	uint64_t ended[FABRIC_CLASSES];
	uint64_t refresh_at;
	uint64_t xoffs; /* frames that paused it */
	uint64_t time;  /* of pauses that have ended */
	uint32_t seen;  /* by which search for a deadlock */
};

/* What each packet needs comes first: a line of the cache. */
struct port {
	_Alignas(64) uint64_t busy_until;
	struct queue on_link; /* sent, not arrived */
	uint64_t delay;       /* of the link, as are rate, gap and mtu */
	uint32_t ps_per_byte; /* 0: no integer, the rate is divided by */
	uint32_t gap;
	uint32_t mtu;
	uint32_t node;
	uint32_t far;     /* the node at the other end */
	uint8_t nonempty; /* classes with packets, bits */
	uint8_t paused;   /* classes that the peer paused */
	uint8_t stormed;  /* classes that the watchdog drops */
	uint8_t xoff;     /* classes that this port has paused the peer for */
	uint8_t round;    /* the class whose turn it is */
	uint8_t wanted;   /* a host's, of fabric_want */
	bool pfc_due;     /* a PFC frame is to be sent */
	bool fresh;       /* the class whose turn it is has its quantum */
	bool down;        /* the link, or a node at one of its ends */
	bool lossy;       /* the link loses packets */
	bool uneven;      /* packets may be late: it has jitter, or had another delay */
	uint8_t watched;  /* PORT_TAPPED, PORT_JUDGED */
	uint64_t packets, bytes;
	uint64_t last_at; /* jitter: when the last packet on the link will have arrived */
	struct fabric_link_settings link;
	uint64_t headroom;
	uint64_t marked, dropped;
	bool cut; /* the link itself is down */
	_Alignas(64) struct lane lane[FABRIC_CLASSES];
	struct pauses pause;
};

/* What packets need comes first: a line of the cache. */
struct node {
	_Alignas(64) uint64_t shared; /* bytes of the buffer that are no reserve and no headroom */
	uint64_t shared_used;
	uint64_t alpha; /* of its settings */
	uint64_t reserve;
	uint64_t salt;
	uint32_t index; /* of its kind */
	bool is_switch;
	bool down;
	uint32_t n_ports;
	uint32_t *ports; /* of its links */
	const struct fabric_node *of;
};

/* Where a host is: its own port, and the node at the other end of its link. */
struct place {
	uint32_t port;
	uint32_t node;
	uint32_t index; /* of the node */
	bool by_switch; /* the node is a switch */
};

struct fabric {
	const struct fabric_topology *topology;
	struct fabric_calendar events;
	struct fabric_store store;
	struct port *ports;
	struct node *nodes;
	uint32_t *port_lists; /* of all nodes */
	struct place *places; /* of hosts */
	struct routes *routes;
	uint32_t n_ports;
	uint8_t lossless; /* classes, bits */
	uint8_t strict;
	uint32_t searches;
	uint64_t random;
	struct fabric_counters counters;
	const struct fabric_ops *ops;
	void *user;
};

static inline uint32_t port_slot(const struct fabric *f, const struct port *p, enum port_slot s)
{
	return (uint32_t)(p - f->ports) * PORT_SLOTS + s;
}

static inline struct port *port_peer(struct fabric *f, const struct port *p)
{
	return &f->ports[(uint32_t)(p - f->ports) ^ 1u];
}

static inline uint64_t port_time(const struct port *p, uint64_t bytes)
{
	const uint64_t n = bytes + p->gap;

	return p->ps_per_byte ? n * p->ps_per_byte : n * UINT64_C(8000000000000) / p->link.rate;
}

/* Classes that the port has paused its peer for. While nobody is paused it is not looked at. */
static inline uint8_t port_xoff(const struct fabric *f, const struct port *p)
{
	return f->counters.xoff == f->counters.xon ? 0 : p->xoff;
}

static inline bool node_is_switch(const struct node *n)
{
	return n->is_switch;
}

/* fabric.c: what the port makes of the rate of its link */
void port_set_rate(const struct fabric *f, struct port *p, uint64_t rate);

/* port.c: queues and links */
void port_enqueue(struct port *p, struct fabric_packet *k);
struct fabric_packet *port_dequeue(struct port *p, unsigned class);
/* Sends, if it may, and else sees to it that it does later. */
void port_go(struct fabric *f, struct port *p, uint64_t now);
struct fabric_packet *port_arrive(struct fabric *f, struct port *p);
void port_clear_link(struct fabric *f, struct port *p);
void fabric_lose(struct fabric *f, struct port *p, struct fabric_packet *k, enum fabric_drop why);

/* buffer.c: a switch's buffer */
int buffer_init(struct fabric *f, struct node *n, struct fabric_error *e);
bool buffer_admit(struct fabric *f, struct node *n, struct port *in, struct port *out,
		  struct fabric_packet *k);
void buffer_release(struct fabric *f, struct port *out, struct fabric_packet *k, uint64_t now);
/* PFC for what came in at the port: does it have to pause or resume its peer? */
void buffer_judge(struct fabric *f, struct port *in, unsigned class, uint64_t now);

/* pause.c: PFC frames */
void pause_set(struct fabric *f, struct port *p, uint8_t xoff, uint64_t now);
struct fabric_packet *pause_frame(struct fabric *f, struct port *p, uint64_t now);
void pause_receive(struct fabric *f, struct port *p, const struct fabric_packet *k, uint64_t now);
void pause_due(struct fabric *f, struct port *p, uint64_t now);
void pause_watch(struct fabric *f, struct port *p, uint64_t now);
void pause_watch_later(struct fabric *f, struct port *p, uint64_t now);

/* ahead.c: fetches into the cache what the next events will touch; changes nothing (calendar.h) */
void ahead_near(const void *fabric, uint32_t slot, unsigned row);

/* routes.c */
void routes_ahead(const struct fabric *f, const struct node *n, uint32_t host);
int routes_make(struct fabric *f, struct routes **out);
void routes_free(struct routes *r);
/* The port towards the host, or NULL. */
struct port *routes_next(const struct fabric *f, const struct node *n, uint32_t host,
			 uint32_t flow);

#endif
