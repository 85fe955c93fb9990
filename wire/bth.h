/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base transport header, 12 bytes (IBTA vol. 1, 9.2; annex A17 for FECN and BECN).
 */
#ifndef ROCE_BTH_H
#define ROCE_BTH_H

#include "opcode.h"

#include <stdbool.h>
#include <stdint.h>

#define ROCE_BTH_LENGTH 12

struct roce_bth {
	roce_opcode opcode;
	bool solicited;  /* SE: the receive completion raises a solicited event */
	bool migreq;     /* M: IBTA says 1 in the migrated state, which is all RoCE knows */
	uint8_t pad;     /* 0..3 bytes after the payload */
	uint8_t version; /* TVer, 0 */
	uint16_t pkey;
	bool fecn;
	bool becn;
	uint8_t reserved6; /* six bits between BECN and the QP number, not covered by the ICRC */
	uint32_t dest_qp;  /* 24 bits */
	bool ackreq;
	uint8_t reserved7; /* seven bits after AckReq */
	uint32_t psn;      /* 24 bits */
};

/* Reads 12 bytes at p. No byte pattern is refused here: roce_packet_parse judges. */
void roce_bth_parse(const uint8_t *p, struct roce_bth *out);

/* Writes 12 bytes at p; fields wider than their place on the wire are masked. */
void roce_bth_emit(const struct roce_bth *bth, uint8_t *p);

#endif
