/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Extended transport headers (IBTA vol. 1, 9.3; XRCETH annex A14; FETH annex A19). Each has a
 * value struct, a wire length, a parse and an emit; the pairs are inverses of each other.
 * Immediate data and the IETH are one 32-bit number each, in host order here.
 */
#ifndef ROCE_EXT_H
#define ROCE_EXT_H

#include <stdint.h>

#define ROCE_RETH_LENGTH         16
#define ROCE_AETH_LENGTH         4
#define ROCE_DETH_LENGTH         8
#define ROCE_ATOMICETH_LENGTH    28
#define ROCE_ATOMICACKETH_LENGTH 8
#define ROCE_IMMDT_LENGTH        4
#define ROCE_IETH_LENGTH         4
#define ROCE_XRCETH_LENGTH       4
#define ROCE_FETH_LENGTH         4

/* RDMA extended transport header: where a WRITE goes or a READ comes from. */
struct roce_reth {
	uint64_t va;
	uint32_t rkey;
	uint32_t length; /* bytes of the whole message */
};

/* ACK extended transport header; syndrome.h tells what the syndrome means. */
struct roce_aeth {
	uint8_t syndrome;
	uint32_t msn; /* 24 bits */
};

/* Datagram extended transport header. */
struct roce_deth {
	uint32_t qkey;
	uint32_t src_qp;  /* 24 bits */
	uint8_t reserved; /* sent as 0, ignored on receipt, kept by parse and emit */
};

/* For COMPARE & SWAP: swap_add is the swap value. For FETCH & ADD: the addend; compare is 0. */
struct roce_atomiceth {
	uint64_t va;
	uint32_t rkey;
	uint64_t swap_add;
	uint64_t compare;
};

/*
 * FLUSH: placement type (bit 0 global visibility, bit 1 persistence), selectivity (0 range, 1 MR).
 */
struct roce_feth {
	uint8_t placement;   /* 4 bits */
	uint8_t selectivity; /* 2 bits */
	uint32_t reserved;   /* 26 bits: sent as 0, ignored on receipt, kept by parse and emit */
};

/*
 * Each parse reads, and each emit writes, exactly the header's length at p. Parse refuses no
 * byte pattern; emit masks fields that are wider than their place on the wire.
 */
void roce_reth_parse(const uint8_t *p, struct roce_reth *out);
void roce_reth_emit(const struct roce_reth *h, uint8_t *p);
void roce_aeth_parse(const uint8_t *p, struct roce_aeth *out);
void roce_aeth_emit(const struct roce_aeth *h, uint8_t *p);
void roce_deth_parse(const uint8_t *p, struct roce_deth *out);
void roce_deth_emit(const struct roce_deth *h, uint8_t *p);
void roce_atomiceth_parse(const uint8_t *p, struct roce_atomiceth *out);
void roce_atomiceth_emit(const struct roce_atomiceth *h, uint8_t *p);
void roce_feth_parse(const uint8_t *p, struct roce_feth *out);
void roce_feth_emit(const struct roce_feth *h, uint8_t *p);

#endif
