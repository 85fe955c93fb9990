/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network as data: hosts, switches, links, traffic classes. It is read from a text
 * (fabric.topo, uhca-sim(1)) or generated, and it can be printed as a text.
 */
#ifndef FABRIC_TOPOLOGY_H
#define FABRIC_TOPOLOGY_H

#include "emu/fabric/base/base.h"

#include <stdio.h>

#define FABRIC_NAME_MAX  31u
#define FABRIC_NODES_MAX (1u << 18)
#define FABRIC_LINKS_MAX (1u << 20)
#define FABRIC_PORTS_MAX 4096u                /* of one switch */
#define FABRIC_MARK_MAX  UINT64_C(4000000000) /* bytes: kmin and kmax of a port */

struct fabric_link_settings {
	uint64_t rate;       /* bit/s */
	uint64_t delay;      /* ps, one way */
	uint64_t jitter;     /* ps: up to so much more, in order */
	uint64_t mtu;        /* bytes, Ethernet header to FCS: longer packets are dropped */
	uint64_t loss;       /* the probability of losing a packet, in 2^-32 */
	uint64_t lose_every; /* each n-th packet of a direction is lost; 0: none */
	uint64_t gap;        /* bytes of preamble and pause around a packet */
};

struct fabric_switch_settings {
	uint64_t buffer;   /* bytes, shared by all ports */
	uint64_t reserve;  /* bytes of each lossless class of a port, before the shared part */
	uint64_t headroom; /* bytes of it behind XOFF; FABRIC_AUTO: what its link needs */
	uint64_t alpha;    /* dynamic threshold: this part of the free buffer, in 2^-32 */
	uint64_t xon;      /* bytes below the threshold at which XON is sent */
	uint64_t watchdog; /* ps of pause after which a queue is dropped; 0: never */
	uint64_t restore;  /* ps without a pause after which it works again; 0: 2 x watchdog */
	uint64_t salt;     /* of the hash of ECMP; FABRIC_AUTO: of the switch's number */
};
#define FABRIC_AUTO UINT64_MAX

struct fabric_class_settings {
	uint64_t lossless; /* 1: PFC */
	uint64_t strict;   /* 1: before all classes that are not, the highest number first */
	uint64_t weight;   /* of the classes that are not strict, by deficit round robin */
	uint64_t kmin;     /* bytes of an egress queue at which marking begins; 0: no marks */
	uint64_t kmax;
	uint64_t pmax; /* the probability of a mark at kmax, in 2^-32; above kmax it is 1 */
	uint64_t per;  /* kmin and kmax are those of a port of this rate; 0: of every port */
};

struct fabric_node {
	char name[FABRIC_NAME_MAX + 1];
	bool is_switch;
	uint32_t index; /* of its kind: host 0, 1, ... or switch 0, 1, ... */
	uint32_t ports; /* how many links it has */
	struct fabric_switch_settings settings;
};

struct fabric_link {
	uint32_t end[2]; /* nodes */
	struct fabric_link_settings settings;
};

struct fabric_topology {
	struct fabric_node *nodes;
	struct fabric_link *links;
	uint32_t n_nodes, n_hosts, n_switches, n_links;
	uint32_t nodes_size, links_size;
	struct fabric_class_settings classes[FABRIC_CLASSES];
	/* Of 512 bit times, in a PFC frame; 0: a pause never ends by itself. */
	uint64_t pause_quanta;
	struct fabric_link_settings link;          /* of links that say nothing else */
	struct fabric_switch_settings switch_each; /* of switches that say nothing else */
	uint32_t *names;                           /* hash table of nodes by name: 1 + node */
	uint32_t names_size;
};

/*
 * An empty network with the settings that a text without them has: 100G, 1us, a buffer of 32 MB,
 * class 3 lossless and marked, class 6 strict. fini frees what it holds.
 */
void fabric_topology_init(struct fabric_topology *t);
void fabric_topology_fini(struct fabric_topology *t);

/* Adds a node. Its number, -EEXIST (name), -E2BIG or -ENOMEM. */
int64_t fabric_topology_node(struct fabric_topology *t, const char *name, bool is_switch);

/* Adds a link. 0, -EINVAL (the same node), -EBUSY (a host has one link), -E2BIG or -ENOMEM. */
int fabric_topology_link(struct fabric_topology *t, uint32_t a, uint32_t b,
			 const struct fabric_link_settings *settings);

/* The node of the name (length bytes at "at"), or UINT32_MAX. */
uint32_t fabric_topology_find(const struct fabric_topology *t, const char *at, size_t length);

/* Can it be used: two hosts at least, and each host has its link? 0 or -EINVAL, said in e. */
int fabric_topology_check(const struct fabric_topology *t, struct fabric_error *e);

/* The rate of the fastest link of a host, bit/s. */
uint64_t fabric_topology_host_rate(const struct fabric_topology *t);

/* The longest packet that all links take, bytes from Ethernet header to FCS. */
uint64_t fabric_topology_mtu(const struct fabric_topology *t);

/* How much slower than it says it runs among real programs, unless they say otherwise: so that
 * this link carries 1 Gb/s, or as much as it does where that is less. */
unsigned fabric_topology_scale(const struct fabric_topology *t);

#define FABRIC_SCALE_MAX 1000000

/* Reads a text of lines into t, which init has made. 0, -EINVAL (said in e) or -ENOMEM. */
int fabric_topology_parse(struct fabric_topology *t, const char *text, struct fabric_error *e);

/* The same for lines that are no whole network yet, such as settings. */
int fabric_topology_set(struct fabric_topology *t, const char *text, struct fabric_error *e);

/* Makes the network of a text such as "fat-tree:k=4,rate=100G". 0, -EINVAL or -ENOMEM. */
int fabric_topology_generate(struct fabric_topology *t, const char *text, struct fabric_error *e);

/* One line for each generator, for --help. */
void fabric_topology_generators(FILE *out);

/* Writes the network as a text that parse takes. */
void fabric_topology_print(const struct fabric_topology *t, FILE *out);

/* The settings of a link, a switch, a class as keys; ends with a row of zeros. */
#define FABRIC_KEYS_MAX 10
void fabric_link_keys(struct fabric_link_settings *s, struct fabric_spec_key *keys);
void fabric_switch_keys(struct fabric_switch_settings *s, struct fabric_spec_key *keys);
void fabric_class_keys(struct fabric_class_settings *s, struct fabric_spec_key *keys);

#endif
