/* SPDX-License-Identifier: BSD-2-Clause */
/* Random values of the wire room's structs, for round-trip tests. */
#ifndef TESTS_SUPPORT_WIRE_GEN_H
#define TESTS_SUPPORT_WIRE_GEN_H

#include "prng.h"
#include "wire/packet.h"
#include "wire/udpip.h"

/* Every field random, but opcode 0, version 0. The struct's padding is zero. */
void gen_bth(struct prng *r, struct roce_bth *out);

/*
 * A packet of the given opcode: the headers it has are random, all others zero; a payload of up
 * to 4096 bytes where the opcode allows one, taken from a buffer that stays valid until the next
 * call; the pad matches it, with random pad bytes. The struct's padding is zero.
 */
void gen_packet(struct prng *r, roce_opcode op, struct roce_packet *out);

/* Two IPv4-mapped addresses, or two that are not; everything else random. */
void gen_flow(struct prng *r, bool v4, struct roce_flow *out);

#endif
