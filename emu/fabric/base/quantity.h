/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers with units as people write them: 100G, 32M, 1.5us, 20%, 1/256. Only integers are
 * computed with. K, M, G, T are powers of 1000; of bytes Ki, Mi, Gi are powers of 1024.
 */
#ifndef FABRIC_QUANTITY_H
#define FABRIC_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

enum fabric_unit {
	FABRIC_COUNT, /* 16, 64K */
	FABRIC_RATE,  /* bit/s: 100G, 40Gbps */
	FABRIC_BYTES, /* 32M, 4Ki, 100KB */
	FABRIC_TIME,  /* picoseconds: 1us, 0.5ms; 0 needs no unit */
	FABRIC_RATIO, /* 2^-32: 20%, 0.2, 1/256 */
};

#define FABRIC_RATIO_ONE (UINT64_C(1) << 32)
#define FABRIC_US        UINT64_C(1000000)

/* Reads the length bytes at "at", all of them. 0 or -EINVAL. */
int fabric_quantity(const char *at, size_t length, enum fabric_unit unit, uint64_t *value);

/* The value in the shortest form that reads back as the same, in buf. Returns buf. */
const char *fabric_quantity_text(uint64_t value, enum fabric_unit unit, char *buf, size_t cap);

/* What a value of the unit looks like, for messages: "a time such as 1us". */
const char *fabric_unit_example(enum fabric_unit unit);

#endif
