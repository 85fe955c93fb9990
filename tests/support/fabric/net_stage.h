/* SPDX-License-Identifier: BSD-2-Clause */
/* A network for tests: made of a text, with a record of what it delivered. */
#ifndef TESTS_SUPPORT_FABRIC_NET_STAGE_H
#define TESTS_SUPPORT_FABRIC_NET_STAGE_H

#include "tests/support/wire/cmocka_all.h"

#include "emu/fabric/net/fabric.h"

#define STAGE_MAX 20000u

struct stage_delivery {
	uint64_t time; /* ps */
	uint32_t host;
	uint32_t psn;
	uint32_t src;
	uint8_t class;
	uint8_t ecn;
};

struct net_stage {
	struct fabric_topology topology;
	struct fabric *f;
	struct stage_delivery got[STAGE_MAX];
	unsigned n;
	/* Hosts that send so many more packets to "to" as soon as they may: class 3, 1000 bytes. */
	uint32_t left[64];
	uint32_t to[64];
};

/* The text must be right. */
void stage_make(struct net_stage *s, const char *text);
/* The same for one that is generated. */
void stage_generate(struct net_stage *s, const char *text);
void stage_free(struct net_stage *s);

/* A packet of the class; psn counts up from 0 with each that the stage sends. */
struct stage_packet {
	uint32_t src, dst, bytes, psn;
	uint8_t class, ecn;
	uint16_t sport;
};
void stage_send(struct net_stage *s, struct stage_packet what, uint64_t now);

/* Host src keeps sending to dst until it has sent n packets of class 3, 1000 bytes each. */
void stage_stream(struct net_stage *s, uint32_t src, uint32_t dst, uint32_t n, uint64_t now);

struct fabric_counters stage_counters(struct net_stage *s);

/* How many packets host "host" got from src; from any: UINT32_MAX. */
unsigned stage_got(const struct net_stage *s, uint32_t host, uint32_t src);

#endif
