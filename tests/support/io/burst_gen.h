/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bursts for tests of the network boxes: random ones of every opcode, and messages of many
 * packets.
 */
#ifndef TESTS_SUPPORT_BURST_GEN_H
#define TESTS_SUPPORT_BURST_GEN_H

#include "emu/core/core.h"
#include "tests/support/wire/prng.h"

#include <stdbool.h>
#include <stddef.h>

/* The flow from one address to another: no traffic class, default hops. */
struct roce_flow burst_gen_flow(const uint8_t src[16], const uint8_t dst[16], uint16_t sport);

/*
 * One packet of the opcode, which exists: random headers, a random payload that stays valid
 * until the next call.
 */
void burst_gen_single(struct prng *r, roce_opcode op, const struct roce_flow *flow,
		      struct core_burst *out);

/* First and last opcode of a message of several packets. */
struct burst_gen_message {
	uint8_t first;
	uint8_t last;
};
extern const struct burst_gen_message burst_gen_messages[];
extern const unsigned burst_gen_messages_count;

/*
 * A message of length bytes, more than mtu, at "payload", in random pieces; random PSN, QP and
 * flags.
 */
void burst_gen_message(struct prng *r, const struct burst_gen_message *m, uint32_t mtu,
		       uint32_t length, const uint8_t *payload, struct core_burst *out);

/* The payload of a burst, put together; to holds length bytes. */
void burst_gen_gather(const struct core_burst *t, uint8_t *to);

/*
 * Fails the test when two packets differ in a header field or in their payload (len bytes at
 * payload).
 */
void burst_gen_assert_packet(const struct roce_packet *got, const struct roce_packet *expected,
			     const uint8_t *payload);

/* True for the opcode of a packet that exists. */
bool burst_gen_exists(unsigned op);

#endif
