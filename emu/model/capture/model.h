/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture as one model: who spoke, what was said, what arrived, what the devices told of
 * themselves. Works with the daemon's captures (emu/abi/packet_metadata.h) and, with less in it,
 * with those of tcpdump or Wireshark.
 *
 * Everything refers to everything by index; MODEL_NONE stands for nothing. All texts may be
 * printed: control characters in the file have become "?".
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "emu/abi/cause.h"
#include "emu/model/read/read.h"
#include "wire/packet.h"
#include "wire/udpip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_NONE UINT32_MAX

/* A device of the daemon, or an address somewhere else. */
struct model_host {
	char name[48];
	bool ours; /* the capture has what it received */
};

/* One end of a connection. */
struct model_qp {
	uint32_t host;
	uint32_t number;  /* MODEL_NONE: of a sender who is not known closer */
	uint32_t peer;    /* the other end; MODEL_NONE: not known, or it has many */
	char program[24]; /* empty: not known */
	enum roce_service service;
	uint32_t last_message; /* of those that were sent to it; see model_message.previous */
	uint32_t next;         /* of the hash table */
	uint32_t last_psn;     /* of requests to it */
	uint32_t mtu;          /* the longest payload to it or to its peer */
	uint32_t failed;       /* record: its first completion that failed by itself; or NONE */
	bool has_service;
	bool asked;    /* requests went to it */
	bool answered; /* answers went to it */
};

/* One packet as one device saw it. Texts are NULL and numbers 0 where the capture has none. */
struct model_packet {
	uint64_t ns;   /* since 1970 */
	size_t offset; /* of its block in the file */
	const uint8_t *frame;
	uint32_t captured; /* bytes of frame */
	uint32_t original; /* bytes it had */
	unsigned interface;
	unsigned direction; /* PCAPNG_INBOUND, PCAPNG_OUTBOUND or 0 */
	struct roce_flow flow;
	struct roce_packet pkt;
	bool has_wr;
	bool has_sender;
	uint64_t wr;
	uint32_t sender;      /* QP number */
	uint32_t part, parts; /* 0: not known */
	uint32_t tries;
	uint32_t rule;
	const char *op;
	const char *fault;
	const char *made;
	const char *dropped;
	const char *judged;                 /* what the receiver did instead of executing it */
	const struct uhca_abi_cause *cause; /* of dropped or judged */
	uint32_t arrow;
};

enum model_fate {
	MODEL_ARRIVED,
	MODEL_SEEN,    /* once; the capture cannot tell whether it arrived */
	MODEL_DROPPED, /* on its way, or by the sender: packet->dropped has the reason */
	MODEL_REFUSED, /* it arrived, and the receiver dropped it */
	MODEL_MISSING, /* sent, and never seen at a receiver whose packets are in the capture */
};

/* A packet on its way from one end to the other. */
struct model_arrow {
	uint64_t sent;    /* ns; the arrival's where only that was seen */
	uint64_t arrived; /* 0: not seen */
	uint32_t from;    /* QPs */
	uint32_t to;
	uint32_t out;     /* packets: as the sender saw it */
	uint32_t in;      /* as the receiver did */
	uint32_t message; /* what it is part of, or answers */
	uint32_t tries;   /* how often it was sent before */
	enum model_fate fate;
	bool answer;      /* acknowledge or READ response */
	bool copy;        /* it arrived a second time, sent once */
	bool implied_nak; /* by coming, it tells that an answer before it is lost (9.7.5.2.4) */
	uint32_t next;    /* of the hash table */
};

/* One request: the packets of it and of its answer are arrows. */
struct model_message {
	uint32_t from;
	uint32_t to;
	uint32_t previous; /* the request to the same QP before it */
	uint32_t first_psn;
	uint32_t psns; /* it takes so many PSNs (of a READ: those of its answer) */
	uint32_t bytes;
	uint32_t first_arrow;
	uint32_t last_arrow;  /* of the request's */
	uint32_t tries;       /* the most that one of its packets needed */
	uint32_t next_answer; /* PSN of the answer that is to come, of a READ */
	uint32_t completion;  /* record */
	uint64_t wr;
	uint64_t va; /* of the RETH or AtomicETH */
	uint32_t rkey;
	uint64_t began;
	uint64_t answered;  /* when it was acknowledged; 0: never */
	const char *op;     /* as the comment has it; NULL */
	roce_opcode opcode; /* of its first packet */
	bool has_wr;
	bool whole; /* its last packet was seen */
};

enum model_kind {
	MODEL_STATE,
	MODEL_COMPLETION,
	MODEL_RETRY,
	MODEL_NAK,
	MODEL_EVENT,
	MODEL_CALL,
	MODEL_LEAK,
	MODEL_RULE,
	MODEL_HIT,
	MODEL_COUNTERS,
	MODEL_REGION,
	MODEL_NOTE,
	MODEL_UNREACHABLE,
	MODEL_STANDS,
	MODEL_RECORDER,
	MODEL_REQUEST,
	MODEL_OTHER, /* a kind that is not known here */
};

/* What a device told of itself. */
struct model_record {
	uint64_t ns;
	size_t offset;
	enum model_kind kind;
	const char *name; /* of the kind, as in the file */
	uint32_t host;
	uint32_t qp;
	uint32_t message;                   /* of a completion */
	const struct uhca_abi_cause *cause; /* of a completion or NAK; NULL: not told */
	unsigned n;
	const struct model_word *word;
};

/* Everything in the order of time. */
struct model_moment {
	uint64_t ns;
	bool is_record;
	uint32_t index; /* of the record or packet */
};

struct model {
	char error[200]; /* why reading ended early; empty: it did not */
	uint64_t began;  /* time of the first moment */
	uint64_t ended;
	size_t others; /* frames without RoCEv2 */
	size_t cut;    /* RoCEv2, but the capture has not even their headers */
	bool recorder; /* of a flight recorder: completions with success are not in it */

	struct model_host *host;
	struct model_qp *qp;
	struct model_packet *packet;
	struct model_arrow *arrow;
	struct model_message *message;
	struct model_record *record;
	struct model_moment *moment;
	uint32_t n_hosts, n_qps, n_packets, n_arrows, n_messages, n_records, n_moments;

	/* What reading and putting together needs. */
	uint8_t *bytes; /* the file, so many of them */
	size_t n_bytes;
	struct arena arena;
	uint32_t *interface_host;
	uint32_t n_interfaces;
	uint32_t *qp_hash;
	char (*interface_name)[48];
	bool *interface_receives;
};

/*
 * Reads a capture, "-" for standard input, and puts it together. 0, and with s->error something in
 * it when the file was broken somewhere: what stands before that is there. -errno when nothing
 * could be read, with the reason in s->error. model_free in each case.
 */
int model_read(struct model *s, const char *path);

/* The same from memory; bytes are from malloc and are taken over. */
int model_parse(struct model *s, void *bytes, size_t size);

void model_free(struct model *s);

/* What the words of a record say: NULL (or another text), or 0; and do they say this? */
const char *model_word(const struct model_record *r, const char *name);
const char *model_word_or(const struct model_record *r, const char *name, const char *otherwise);
uint64_t model_number(const struct model_record *r, const char *name);
bool model_word_is(const struct model_record *r, const char *name, const char *value);

/* A completion that has an error; a QP that went into an error state. */
bool model_is_failure(const struct model_record *r);
bool model_is_error_state(const struct model_record *r);

/* Of a flight recorder: there was more than it still has. */
bool model_has_forgotten(const struct model *s);

/* The packet of an arrow, as its sender saw it if that is known. */
const struct model_packet *model_arrow_packet(const struct model *s, const struct model_arrow *a);

/* The reason why an arrow ended early, and the rule that touched it: NULL, 0. */
const char *model_arrow_dropped(const struct model *s, const struct model_arrow *a);

/* It has an ECN mark (CE): as it was sent, or since it was under way. */
bool model_arrow_marked(const struct model *s, const struct model_arrow *a);
uint32_t model_arrow_rule(const struct model *s, const struct model_arrow *a, const char **text);

/* "uhca0 QP 0x11": into buf, which is returned. */
const char *model_qp_name(const struct model *s, uint32_t qp, char *buf, size_t cap);

#endif
