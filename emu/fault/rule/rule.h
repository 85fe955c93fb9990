/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One fault rule: what is to happen, to what, and how often. The text of a rule is one line,
 *
 *	[NAME:] ACTION[=VALUE] [PARAMETER=VALUE]... [SELECTOR]... [LIMIT]...
 *
 * for example  lost-ack: drop opcode=rc.ack nth=3
 *
 * uhca-fault(7) tells all words; the tables in rule_words.c are their one list. Parsing is exact:
 * what is not understood, what stands twice and what cannot be (a parameter that the action does
 * not have, a selector of another layer, limits that exclude each other) is refused with the column
 * of the word. Pure: no I/O, no clock.
 */
#ifndef FAULT_RULE_H
#define FAULT_RULE_H

#include "wire/packet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_TEXT_MAX  512 /* bytes of a rule's line with its NUL */
#define FAULT_NAME_MAX  32
#define FAULT_WORD_MAX  64
#define FAULT_LIST_MAX  16 /* ranges of a list such as nth=1,4..6 */
#define FAULT_PEERS_MAX 64 /* addresses of peer= */
#define FAULT_PARTS_MAX 256
#define FAULT_NETS_MAX  8 /* networks of to= */
#define FAULT_ERROR_MAX 160

/* What a rule looks at: the moment at which it can fire. */
enum fault_layer {
	FAULT_LAYER_PACKET,     /* a packet passes the device's port, on its way out or in */
	FAULT_LAYER_CALL,       /* a program calls a verb */
	FAULT_LAYER_COMPLETION, /* a completion is about to enter its queue */
	FAULT_LAYER_MEMORY,     /* the device reads or writes a program's memory */
	FAULT_LAYER_TIME,       /* nothing but the clock: "after" alone */
	FAULT_LAYER_HOP,        /* a port of a switch of the modelled network sends a packet */
	FAULT_LAYERS
};

enum fault_action {
	/* Packets. Those of the second block answer in the name of the device at the other end. */
	FAULT_DROP,
	FAULT_DUPLICATE, /* "dup[=N]": N copies more; time=T: they come so much later */
	FAULT_REORDER,   /* "reorder=K": K later packets of the same flow overtake it */
	FAULT_DELAY,     /* "delay=T", jitter=T, limit=N */
	FAULT_RATE,      /* "rate=BITS": per second, as 10mbit; limit=N */
	FAULT_BURST,     /* "burst=P/Q": Gilbert: P of good to bad, Q of bad to good; bad drops */
	FAULT_PAUSE,     /* "pause=T": the line stands still for T from here on; limit=N */
	FAULT_CORRUPT,   /* "corrupt=icrc", "=bit:N", "=payload[:N]": the ICRC becomes wrong; */
			 /* "=silent[:N]": byte N of the message, and the ICRC is right */
	FAULT_SET,       /* "set=FIELD:VALUE": consistent, the ICRC is right */
	FAULT_TRUNCATE,  /* "truncate=N": payload bytes that stay; the ICRC is right */
	FAULT_ECN,       /* marked "congestion experienced" */
	FAULT_HOLD,      /* waits in the step queue */

	FAULT_RNR,   /* "rnr[=CODE]": taken away, answered with an RNR NAK */
	FAULT_NAK,   /* "nak=sequence|invalid|access|operational|N": taken away, NAK */
	FAULT_GHOST, /* taken away, answered with an ACK as if it had been executed */
	FAULT_CNP,   /* goes on, and a congestion notification goes back */
	FAULT_FORGE, /* "forge=ack|nak:...|rnr": goes on, and this goes back as well */

	/* Connection management: the packet is a message of the CM. */
	FAULT_CM_REJECT, /* "cm.reject=REASON": taken away, answered with a REJ */
	FAULT_CM_MRA,    /* "cm.mra[=T]": goes on, and an MRA goes back */

	/* Verbs. */
	FAULT_CALL_FAIL, /* "call.fail=ERRNO", bad_wr=K for posts: K requests are taken first */
	FAULT_CALL_SLOW, /* "call.slow=T" */

	/* Completions. */
	FAULT_CQE_SET,      /* "cqe.set=status:NAME|vendor:N|length:N|imm:N" */
	FAULT_CQE_DELAY,    /* "cqe.delay=T" */
	FAULT_CQE_WITHHOLD, /* never comes */
	FAULT_CQE_OVERRUN,  /* the CQ is full from now on: CQ_ERR */
	FAULT_CQE_ANNOUNCE, /* "cqe.announce=T": its CQ's event comes now, it comes T later */
	FAULT_CQE_GARBAGE,  /* what a failed one leaves undefined is anything */

	/* Memory. */
	FAULT_MEM_FAIL, /* the access finds nothing there */

	/* Things that happen to the device, at any layer's moment. */
	FAULT_EVENT,      /* "event=IBV_NAME", of the QP, CQ, SRQ or port */
	FAULT_QP_ERROR,   /* the QP goes to ERR, its requests are flushed */
	FAULT_KEY_REVOKE, /* "key.revoke[=KEY]": the key opens nothing any more */
	FAULT_KEY_REUSE,  /* from now on a new region gets the key freed last */
	FAULT_KEY_SPLIT,  /* from now on R_Keys are not the L_Keys */
	FAULT_PORT_DOWN,  /* "port.down[=T]": and up again after T */
	FAULT_PORT_FLAP,  /* "port.flap=down:T,up:T,times:N": down and up so often */
	FAULT_PORT_SPEED, /* "port.speed=BITS": per second; what it says and how fast it sends */
	FAULT_PORT_MTU,   /* "port.mtu=N": of the network interface, in bytes */
	FAULT_PORT_PKEY,  /* "port.pkey=N": the entry of the P_Key table */
	FAULT_GID_CHANGE, /* GID_CHANGE: event */
	FAULT_GID_EMPTY,  /* "gid.empty[=INDEX]": entries go; time=T: and come back after T */
	FAULT_GID_ADD,    /* "gid.add[=ADDRESS]": addresses that went come back */
	FAULT_GID_MOVE,   /* "gid.move=INDEX:INDEX" */
	FAULT_DEV_FATAL,  /* device removal: DEVICE_FATAL, rdma_cm's DEVICE_REMOVAL */
	FAULT_DEV_UNPLUG, /* "dev.unplug[=T]": not there for T */
	FAULT_DEV_RESET,  /* "dev.reset[=T]": the same, and the same uverbs number */
	FAULT_DEV_HANG,   /* "dev.hang[=T]": for T nothing moves; time=T: of a command */
	FAULT_DEV_FREEZE, /* "dev.freeze=T": the daemon does nothing for so long */
	FAULT_DEV_EXIT,   /* the daemon ends at once, as if killed */

	/* To the modelled network: link=, switch= or host= name what it happens to. */
	FAULT_LINK_DOWN,   /* "link.down[=T]": and up again after T of the network's time */
	FAULT_LINK_FLAP,   /* "link.flap=down:T,up:T,times:N" */
	FAULT_LINK_RATE,   /* "link.rate=BITS": per second; time=T: for so long */
	FAULT_LINK_DELAY,  /* "link.delay=T": one way; time=T */
	FAULT_LINK_LOSS,   /* "link.loss=P": of each packet; time=T */
	FAULT_SWITCH_DOWN, /* "switch.down[=T]" */
	FAULT_SWITCH_FLAP, /* "switch.flap=down:T,up:T,times:N" */
	FAULT_HOST_PAUSE,  /* "host.pause[=T]": it sends PFC pauses */
	FAULT_COUNT,       /* nothing: what the rule matches is counted, and in the trace */
	FAULT_ACTIONS
};

/* The parts of a modelled network. */
enum fault_part {
	FAULT_PART_LINK,
	FAULT_PART_SWITCH,
	FAULT_PART_HOST,
	FAULT_PART_PORT,
	FAULT_PARTS
};

enum fault_direction { FAULT_TX, FAULT_RX, FAULT_BOTH };

/* What "set=" can change. Not all packets have all of them: what is not there stays so. */
enum fault_field {
	FAULT_FIELD_BTH_OPCODE,
	FAULT_FIELD_BTH_SE,
	FAULT_FIELD_BTH_MIGREQ,
	FAULT_FIELD_BTH_VERSION,
	FAULT_FIELD_BTH_PKEY,
	FAULT_FIELD_BTH_FECN,
	FAULT_FIELD_BTH_BECN,
	FAULT_FIELD_BTH_DEST_QP,
	FAULT_FIELD_BTH_ACKREQ,
	FAULT_FIELD_BTH_PSN,
	FAULT_FIELD_RETH_VA,
	FAULT_FIELD_RETH_RKEY,
	FAULT_FIELD_RETH_LENGTH,
	FAULT_FIELD_AETH_SYNDROME,
	FAULT_FIELD_AETH_MSN,
	FAULT_FIELD_CREDITS, /* the AETH's credit code, where it is an ACK */
	FAULT_FIELD_DETH_QKEY,
	FAULT_FIELD_DETH_SRC_QP,
	FAULT_FIELD_ATOMIC_VA,
	FAULT_FIELD_ATOMIC_RKEY,
	FAULT_FIELD_ATOMIC_SWAP, /* or the addend */
	FAULT_FIELD_ATOMIC_COMPARE,
	FAULT_FIELD_ATOMIC_ACK,
	FAULT_FIELD_IMMDT,
	FAULT_FIELD_IETH,
	FAULT_FIELD_XRC_SRQ,
	FAULT_FIELD_PAYLOAD,    /* "payload:N", a byte */
	FAULT_FIELD_CM_PRIVATE, /* "cm.private:N", a byte of the private data of a CM message */
	FAULT_FIELDS
};

struct fault_range {
	uint64_t low, high; /* both included */
};

/* n 0: the word was not given, everything matches. */
struct fault_list {
	unsigned n;
	struct fault_range range[FAULT_LIST_MAX];
};

/* ---- the parts of a rule ---- */

struct fault_select {
	char device[FAULT_WORD_MAX];  /* its name; globs, separated by commas; "" any */
	char program[FAULT_WORD_MAX]; /* its name; globs, separated by commas */
	char port[FAULT_WORD_MAX];    /* at=leaf0/port3: of a switch; globs, separated by commas */
	struct fault_list client;
	struct fault_list qp;       /* the device's own QP: sender of tx, destination of rx */
	struct fault_list qp_order; /* "qp=#N": the Nth QP that the plan saw, from 1 */
	struct fault_list peer_qp;
	struct fault_list srq, pd, cq;
	struct fault_list key, address;
	struct fault_list length; /* payload bytes of a packet, bytes of a completion */
	struct fault_list sport;  /* UDP source port */
	struct fault_list dscp;
	struct fault_list offset; /* bytes of the message before the packet */
	uint64_t byte;            /* of the message, which the packet has ... */
	bool by_byte;             /* ... where this says so (corrupt=silent:N) */
	struct fault_list psn;
	struct fault_list
		psn_relative; /* "psn=+N": from the first packet of this QP and direction */
	enum fault_direction direction;
	/* opcode=: one of the three must be so. */
	bool by_opcode;
	uint8_t opcode[32];   /* the opcode's byte is in this set of 256 */
	uint8_t ack_kinds[2]; /* an Acknowledge of RC, of XRC: bits 1 << enum roce_ack_kind */
	bool to_gsi;          /* it goes to QP 1 */
	uint8_t peer[FAULT_PEERS_MAX][16]; /* peer=: the other end has one of these addresses ... */
	unsigned n_peers;
	uint8_t to[FAULT_NETS_MAX][16]; /* to=: the packet goes to one of these networks */
	uint8_t to_bits[FAULT_NETS_MAX];
	unsigned n_to;
	bool names_peers; /* ... or one of a device that is named, which the plan adds to them */
	uint32_t cm;      /* bits 1 << (attribute & 31) of CM messages; 0: any packet */
	char call[FAULT_WORD_MAX]; /* verb: create_qp, post_send...; globs, separated by commas */
	uint64_t wc_status, wc_opcode; /* bits 1 << value; 0: any; see fault_wc_opcode_bit */
	bool retry;                    /* "retry": only packets that were sent before */
};

struct fault_limit {
	struct fault_list nth; /* of the packets (calls, ...) that the selectors match, from 1 */
	uint64_t every;        /* every kth; 0: each */
	uint64_t first;        /* the first n only; 0: all */
	uint64_t skip;         /* not the first n */
	uint64_t max_hits;     /* "times=N"; 0: any number */
	uint32_t probability;  /* parts per 2^32 - 1; UINT32_MAX: always */
	uint64_t after, until; /* ns since the rule was added; until 0: for ever */
	uint64_t period;       /* "every=T": one hit in each T of the clock; 0: not given */
	char after_rule[FAULT_NAME_MAX]; /* "after=NAME[:N]": once that rule has hit N times */
	uint64_t after_hits;
	char while_file[FAULT_TEXT_MAX / 2]; /* only while this file is there */
	uint64_t stream; /* of random numbers; 0: made of the seed and the rule's number */
};

#define FAULT_BY_CHANCE UINT64_MAX /* which bit or byte: fault_plan_random says */
#define FAULT_GID_ALL   UINT64_MAX /* of gid.empty and gid.add: not one of them */

struct fault_value {
	/*
	 * Of "=N", times in ns, rates in bits per second, codes, errno, an event's type; burst's P
	 * (as probability below); the N of set=payload:N and set=cm.private:N; down of port.flap;
	 * an index of the GID table, or FAULT_GID_ALL; link.loss in 2^-32.
	 */
	uint64_t number;
	/*
	 * burst's Q; N of bit:N, payload:N; code of forge=nak:, rnr:; value of set, cqe.set; up of
	 * port.flap; the second index of gid.move.
	 */
	uint64_t number2;
	char word[FAULT_WORD_MAX]; /* icrc, bit, nak, the field of set, the name of an event ... */
	enum fault_field field;    /* of set */
	bool relative;             /* set=FIELD:+N: number2 is added to what the packet has */
	uint64_t time, jitter;     /* parameters time=, jitter= */
	/* limit=: how many may wait, or how many bytes of them; 0: not given */
	uint64_t limit_packets, limit_bytes;
	uint64_t bad_wr;
	uint64_t times;              /* of port.flap */
	char parts[FAULT_PARTS_MAX]; /* link=, switch=, host=: globs, separated by commas */
	uint8_t gid[16];             /* of gid.add=ADDRESS */
	bool by_queue; /* order=queue: only what is of the same send or receive queue waits */
};

struct fault_rule {
	char name[FAULT_NAME_MAX]; /* "" none given */
	enum fault_layer layer;
	enum fault_action action;
	struct fault_value value;
	struct fault_select select;
	struct fault_limit limit;
	char text[FAULT_TEXT_MAX]; /* as given, without line end */
};

struct fault_error {
	unsigned column; /* of the word, from 1 */
	char text[FAULT_ERROR_MAX];
};

/* 0; -EINVAL with *error filled in, *out is unspecified then. text ends at NUL or newline. */
int fault_rule_parse(const char *text, struct fault_rule *out, struct fault_error *error);

/* "drop", "cqe.set", ...; "packet", "call", ...: static text. */
const char *fault_action_name(enum fault_action a);
const char *fault_layer_name(enum fault_layer l);

/* By a name such as "bth.psn"; FAULT_FIELDS: there is none. Indexed: name:N. */
enum fault_field fault_field_find(const char *name);
bool fault_field_indexed(enum fault_field f);

/* Which bit of wc_opcode stands for an opcode of a completion (UHCA_ABI_WC_*). */
unsigned fault_wc_opcode_bit(uint32_t opcode);

/* The action takes the packet away: nothing that stands behind it in the plan sees it. */
bool fault_action_swallows(enum fault_action a);

/* The action is one that happens to the device, whatever made the rule fire. */
bool fault_action_is_of_device(enum fault_action a);

/* The part of a modelled network that it happens to; FAULT_PARTS: none. */
enum fault_part fault_action_part(enum fault_action a);
/* "link", "switch", "host": static text. */
const char *fault_part_name(enum fault_part p);

#endif
