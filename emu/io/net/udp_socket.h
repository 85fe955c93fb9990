/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UDP sockets as RoCEv2 needs them (annex A17; udp(7), ip(7), ipv6(7)).
 *
 * Every packet must leave with DF set and an identification that is known beforehand, because
 * the ICRC covers both. Linux does that for an unconnected socket with IP_PMTUDISC_DO: the
 * identification is 0, and 0, 1, 2, ... for the segments of one UDP_SEGMENT send. (A connected
 * socket counts on its own; without DO the kernel picks a random one. Seen in captures on
 * Linux 6.1 and 6.18.) UDP_SEGMENT and a UDP checksum of zero exclude each other (EINVAL), so
 * packets have a checksum; receivers do not care.
 */
#ifndef IO_UDP_SOCKET_H
#define IO_UDP_SOCKET_H

#include "emu/io/base/base.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a datagram's ancillary data said. */
struct io_udp_ancillary {
	uint32_t segment; /* bytes of each datagram in the buffer but the last; 0: it is one */
	uint8_t tclass;
	uint8_t hop_limit;
	uint32_t overflow; /* datagrams lost so far because the socket's buffer was full */
	bool overflow_valid;
};

/* Room for the control messages of one received buffer. */
#define IO_UDP_CONTROL 192

/*
 * A socket that receives on the RoCEv2 port of the address. gso: ask for receive offload as
 * well. *rcvbuf is the granted receive buffer in bytes as the kernel counts (with its own
 * overhead). Returns the descriptor or -errno: EADDRINUSE (another RoCEv2 stack),
 * EADDRNOTAVAIL.
 */
int io_udp_socket_open(const struct io_address *a, bool gso, size_t *rcvbuf);

/* A socket that only sends, from this port of the address. Descriptor or -errno. */
int io_udp_socket_open_flow(const struct io_address *a, uint16_t port);

/*
 * A socket that receives what is sent to a multicast group on the interface that holds the
 * address. Others may listen, too. Descriptor or -errno.
 */
int io_udp_socket_open_group(const struct io_address *group, const struct io_address *a, bool gso);

/* Reads the control messages of a received message. */
struct msghdr;
void io_udp_socket_ancillary(struct msghdr *msg, struct io_udp_ancillary *out);

#endif
