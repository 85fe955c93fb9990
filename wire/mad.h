/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Management datagrams (IBTA vol. 1, 13.4.2): 256 bytes, of which the first 24 are common to all
 * classes. What follows depends on class and attribute; for connection management see cm_msg.h.
 */
#ifndef ROCE_MAD_H
#define ROCE_MAD_H

#include <stdint.h>

#define ROCE_MAD_LENGTH        256
#define ROCE_MAD_HEADER_LENGTH 24
#define ROCE_MAD_DATA_LENGTH   (ROCE_MAD_LENGTH - ROCE_MAD_HEADER_LENGTH)

#define ROCE_MAD_BASE_VERSION 1

/* QP1, its Q_Key, and the class of communication management. */
#define ROCE_GSI_QPN        1
#define ROCE_GSI_QKEY       0x80010000u
#define ROCE_MAD_CLASS_CM   0x07
#define ROCE_MAD_CM_VERSION 2

/* Methods (13.4.5); the response bit is bit 7. */
enum roce_mad_method {
	ROCE_MAD_GET = 0x01,
	ROCE_MAD_SET = 0x02,
	ROCE_MAD_SEND = 0x03,
	ROCE_MAD_TRAP = 0x05,
	ROCE_MAD_GET_RESP = 0x81,
};

struct roce_mad {
	uint8_t base_version;
	uint8_t mgmt_class;
	uint8_t class_version;
	uint8_t method; /* response bit included */
	uint16_t status;
	uint16_t class_specific;
	uint64_t tid;
	uint16_t attr_id;
	uint16_t reserved;
	uint32_t attr_mod;
};

/* Reads the 24 bytes of the common header at p; refuses nothing. */
void roce_mad_parse(const uint8_t *p, struct roce_mad *out);

/* Writes the 24 bytes of the common header at p. */
void roce_mad_emit(const struct roce_mad *mad, uint8_t *p);

#endif
