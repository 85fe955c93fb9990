/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ICMP messages that answer datagrams without a receiver. The kernel keeps them in the error queue
 * of the socket that sent the datagram (IP_RECVERR, ip(7)). "Port unreachable" means that the host
 * exists and has no RoCEv2 device at this address.
 */
#ifndef IO_UDP_ERRORS_H
#define IO_UDP_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

struct io_udp_errors {
	void (*unreachable)(void *arg, const uint8_t gid[16], uint16_t port); /* may be NULL */
	void *arg;
};

/* Wants them for this socket. Where the kernel refuses it there are none. */
void io_udp_errors_want(int fd, int is_v4);

/* Empties the queue. Returns how many messages of the network were in it. e may be NULL. */
unsigned io_udp_errors_take(int fd, const struct io_udp_errors *e);

/*
 * A call on the socket failed with this errno only because the network had answered to something
 * that was sent before: that is taken, and the call may be made again.
 */
bool io_udp_errors_were(int fd, const struct io_udp_errors *e, int error);

#endif
