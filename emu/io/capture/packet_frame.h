/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet as it would stand on an Ethernet: for captures. The addresses are locally administered
 * ones that show the last four bytes of the IP addresses.
 */
#ifndef IO_PACKET_FRAME_H
#define IO_PACKET_FRAME_H

#include "emu/core/core.h"
#include "wire/packet.h"

#include <stddef.h>
#include <stdint.h>

#define IO_FRAME_ETHERNET 14
/* The longest frame without payload. */
#define IO_FRAME_HEADERS  (IO_FRAME_ETHERNET + 48 + ROCE_MAX_HEADER_LENGTH + ROCE_ICRC_LENGTH)

/*
 * Writes the frame of packet i of the burst at p, as much of it as fits into "room" bytes, at
 * least IO_FRAME_HEADERS; returns its full length. What stands behind "room" is not looked at, nor
 * is an ICRC made that does not fit.
 */
size_t io_frame_make(const struct core_burst *t, uint32_t i, uint8_t *p, size_t room);

/* The same of a datagram's bytes, from the BTH to the ICRC. */
size_t io_frame_wrap(const struct roce_flow *flow, const uint8_t *bytes, size_t len, uint8_t *p,
		     size_t room);

/* Bytes of the frame up to the payload. */
size_t io_frame_headers(const struct core_burst *t, uint32_t i);

#endif
