/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Atomics with masks on integers of 4, 8, 16 or 32 bytes: compare and swap of chosen bits, fetch
 * and add to several fields of one integer. Arithmetic, and the operands' way from a work request
 * to the wire and back; they are executed in atomic.h.
 */
#ifndef CORE_MASKED_ATOMIC_H
#define CORE_MASKED_ATOMIC_H

#include "emu/core/contract/verbs.h"

#include <stdbool.h>
#include <stdint.h>

#define MASKED_MAX          32u
#define MASKED_MAX_OPERANDS 4u
#define MASKED_MAX_PAYLOAD  (MASKED_MAX * MASKED_MAX_OPERANDS)

/* An integer; the least significant word first. Words beyond its size are zero. */
struct masked_int {
	uint64_t word[MASKED_MAX / 8];
};

struct masked_atomic {
	bool cas;
	uint32_t size; /* bytes of each integer */
	union {
		struct {
			struct masked_int compare, swap, compare_mask, swap_mask;
		};
		/* A set bit of the boundary is the most significant one of a field. */
		struct {
			struct masked_int add, boundary;
		};
		struct masked_int operand[MASKED_MAX_OPERANDS];
	};
};

/* The sizes a device of these features (UHCA_ABI_HAS_*) has: 4 | 8 | 16 | 32, or 0. */
uint32_t masked_sizes(uint32_t features);

/* Whether it has this one. */
bool masked_size_ok(uint32_t features, uint32_t size);

/* Bytes of all operands of a compare and swap, or of a fetch and add. */
uint32_t masked_payload(bool cas, uint32_t size);

/* Integers of size bytes in host byte order (memory) and in big-endian order (wire). */
void masked_load(const void *from, uint32_t size, struct masked_int *out);
void masked_store(const struct masked_int *v, uint32_t size, void *to);
void masked_load_be(const uint8_t *from, uint32_t size, struct masked_int *out);
void masked_store_be(const struct masked_int *v, uint32_t size, uint8_t *to);

/* The payload of a request from its operands as a client has them; masked_payload bytes each. */
void masked_to_wire(bool cas, uint32_t size, const uint8_t *operands, uint8_t *payload);

/*
 * The operation that a request packet asks for. False when it is none for a device of these
 * features: a size it does not have, another payload, an address that is no multiple of the size.
 */
bool masked_parse(uint32_t features, const struct core_burst *t, struct masked_atomic *out);

/* The value in an answer, all of its payload (at most MASKED_MAX bytes). */
void masked_load_burst(const struct core_burst *t, struct masked_int *out);

/*
 * *value becomes what the operation makes of it. Compare and swap: where all bits of the compare
 * mask are equal, the bits of the swap mask are replaced; otherwise false, *value is unchanged.
 * Fetch and add: no carry leaves a field.
 */
bool masked_compute(const struct masked_atomic *m, struct masked_int *value);

#endif
