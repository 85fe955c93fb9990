/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of a simulation (see host.h). A connection sends messages, one after the other; a
 * workload says which. It learns when a message has been received, and when its sender knows.
 */
#ifndef SIM_CONNECTION_H
#define SIM_CONNECTION_H

#include "emu/core/cc/cc.h"
#include "emu/fabric/net/net.h"

enum sim_retransmit {
	SIM_GO_BACK_N,
	SIM_SELECTIVE, /* as in IRN (Mittal et al., SIGCOMM 2018) */
	SIM_RESTART,   /* each loss sends the message again from its first packet */
};

#define SIM_BITS 1024u /* packets in flight with selective retransmission, at most */

struct sim_settings {
	uint32_t mtu;       /* payload of a packet */
	uint32_t header;    /* bytes of a packet beside its payload, Ethernet to FCS */
	uint32_t ack_bytes; /* of an ACK, a CNP */
	uint32_t cnp_bytes;
	/* Packets for one ACK; one that ends a message or fills the window has its own. */
	uint32_t ack_every;
	uint8_t data_class, ack_class, cnp_class;
	bool echo;             /* ACKs echo CE marks, and no CNP is sent */
	uint64_t cnp_interval; /* ps, of a connection */
	uint64_t rto;          /* ps */
	enum sim_retransmit retransmit;
	struct cc_settings cc;
};

struct sim_counters {
	uint64_t data;        /* packets sent */
	uint64_t retransmits; /* of these sent before */
	uint64_t timeouts;
	uint64_t naks;
	uint64_t cnps;         /* received */
	uint64_t ce;           /* data packets received with a mark */
	uint64_t out_of_order; /* data packets received beyond the expected one */
	uint64_t delivered;    /* bytes of payload, each once */
};

struct sim_connection {
	_Alignas(64) struct cc_flow cc; /* lines of the cache are its own */
	uint32_t number;
	uint32_t src, dst;
	uint32_t key; /* of ECMP */
	uint32_t tag; /* the workload's */
	uint8_t load; /* which workload's it is */
	bool active;  /* it has a message whose last ACK has not come */
	bool closed;
	bool ready;   /* in its host's list of those that may send */
	bool watched; /* in its list of those that wait for an ACK */
	bool nak_sent;
	bool recovers; /* selective: between a loss and its repair */
	/* The message: packets first to end - 1. */
	uint64_t bytes;
	uint64_t began; /* ps */
	uint32_t first, end;
	/* The sender. */
	uint32_t una, next, highest; /* acknowledged, to be sent, ever sent: all below */
	uint32_t asked;              /* above the last packet that asks for an ACK */
	uint32_t sacked;    /* selective: above the highest one that arrived out of order */
	uint32_t repair;    /* selective: the next that may have to be sent again */
	uint32_t recovered; /* selective: recovery ends when all below are acknowledged */
	uint32_t last_bytes;
	uint64_t last_sent; /* ps */
	uint64_t progress;  /* ps, when the timeout began */
	/* The receiver. */
	uint32_t expected;
	uint32_t since_ack;
	uint32_t marked; /* since the last ACK */
	uint64_t next_cnp;
	uint64_t delivered;              /* bytes */
	uint64_t measured;               /* delivered when measuring began */
	uint64_t first_began, last_done; /* ps */
	uint64_t *bits; /* selective: SIM_BITS of the receiver, and as many of the sender */
	/* Lists. */
	struct sim_connection *next_ready;
	struct sim_connection *newer, *older; /* of those that wait for an ACK */
};

struct sim_host {
	struct sim_connection *first_ready, *last_ready;
	struct sim_connection *oldest, *newest;
	struct fabric_events paced; /* by connection */
	uint32_t connections;       /* that may be in it */
};

struct sim;

/* What a workload is told; it may send further messages then. */
struct sim_ops {
	void (*received)(void *user, struct sim_connection *c, uint64_t now);
	void (*done)(void *user, struct sim_connection *c, uint64_t now);
	void (*timer)(void *user, uint32_t number, uint64_t now);
};

struct sim {
	struct fabric *fabric;
	const struct fabric_topology *topology;
	struct sim_settings settings;
	struct sim_counters counters;
	struct sim_host *hosts;
	uint32_t *host_nodes;
	uint32_t *path;                 /* links of the one that is looked at */
	struct sim_connection **chunks; /* of SIM_CHUNK connections: sim_at */
	struct sim_connection *unused;  /* closed ones, by next_ready */
	uint32_t *positions;            /* of connections in their hosts' queues */
	uint32_t n, size;
	const struct sim_ops *ops;
	void *user;
};

/* Many lie side by side, so that a number is enough to know where one is. */
#define SIM_CHUNK 64u

static inline struct sim_connection *sim_at(const struct sim *s, uint32_t number)
{
	return &s->chunks[number / SIM_CHUNK][number % SIM_CHUNK];
}

/* Timers of the caller of a simulation, at most. */
#define SIM_TIMERS 16u

/*
 * A simulation of the topology, which must stay. 0, -EINVAL (said in e) or -ENOMEM. The settings'
 * header and sizes of packets must fit the links.
 */
int sim_create(struct sim **out, const struct fabric_topology *t, const struct sim_settings *s,
	       uint64_t seed, struct fabric_error *e);
void sim_destroy(struct sim *s);

/* A connection between two hosts; NULL: no memory. sport: of UDP, for ECMP. */
struct sim_connection *sim_open(struct sim *s, uint32_t src, uint32_t dst, uint16_t sport,
				uint64_t now);
/* It has no message. Its memory is used again. */
void sim_close(struct sim *s, struct sim_connection *c);

/* Sends a message of bytes (1 and more) on a connection that has none. */
void sim_message(struct sim *s, struct sim_connection *c, uint64_t bytes, uint64_t now);

/* Timer number of the caller, below SIM_TIMERS; FABRIC_NEVER: none. */
void sim_timer(struct sim *s, uint32_t number, uint64_t time);

/* Delivered bytes that the next loss takes away: --retransmit restart. */
uint64_t sim_unsure(const struct sim *s, const struct sim_connection *c);

/* The name of a host's node. */
const char *sim_host_name(const struct sim *s, uint32_t host);

/* ps that a message of so many bytes takes in an empty network, from first bit to the last ACK. */
uint64_t sim_ideal(const struct sim *s, const struct sim_connection *c, uint64_t bytes);

#endif
