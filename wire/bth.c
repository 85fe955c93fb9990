/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base transport header (IBTA vol. 1, 9.2):
 *
 *   byte 0  opcode
 *   byte 1  SE | M | pad count (2) | TVer (4)
 *   byte 2  P_Key (16)
 *   byte 4  FECN | BECN | reserved (6)
 *   byte 5  destination QP (24)
 *   byte 8  AckReq | reserved (7)
 *   byte 9  PSN (24)
 */
#include "bth.h"

#include "bytes.h"

void roce_bth_parse(const uint8_t *p, struct roce_bth *out)
{
	out->opcode.v = p[0];
	out->solicited = p[1] >> 7;
	out->migreq = p[1] >> 6 & 1;
	out->pad = p[1] >> 4 & 3;
	out->version = p[1] & 0xf;
	out->pkey = roce_load_be16(p + 2);
	out->fecn = p[4] >> 7;
	out->becn = p[4] >> 6 & 1;
	out->reserved6 = p[4] & 0x3f;
	out->dest_qp = roce_load_be24(p + 5);
	out->ackreq = p[8] >> 7;
	out->reserved7 = p[8] & 0x7f;
	out->psn = roce_load_be24(p + 9);
}

void roce_bth_emit(const struct roce_bth *bth, uint8_t *p)
{
	p[0] = bth->opcode.v;
	p[1] = (uint8_t)((unsigned)bth->solicited << 7 | (unsigned)bth->migreq << 6 |
			 (bth->pad & 3u) << 4 | (bth->version & 0xfu));
	roce_store_be16(p + 2, bth->pkey);
	p[4] = (uint8_t)((unsigned)bth->fecn << 7 | (unsigned)bth->becn << 6 |
			 (bth->reserved6 & 0x3fu));
	roce_store_be24(p + 5, bth->dest_qp);
	p[8] = (uint8_t)((unsigned)bth->ackreq << 7 | (bth->reserved7 & 0x7fu));
	roce_store_be24(p + 9, bth->psn);
}
