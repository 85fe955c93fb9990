/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * IP addresses of the emulated devices. An address is kept as a RoCEv2 GID: 16 bytes, IPv4 in
 * the mapped form ::ffff:a.b.c.d (annex A17).
 */
#ifndef IO_ADDRESS_H
#define IO_ADDRESS_H

#include "emu/core/core.h"

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* One slot of the GID table always stays empty. */
#define IO_MAX_ADDRESSES (CORE_GID_TABLE - 1)
#define IO_ADDRESS_TEXT  INET6_ADDRSTRLEN

struct io_address {
	uint8_t gid[16];
	uint32_t scope; /* interface index of a link-local IPv6 address, else 0 */
	bool inside;    /* this machine has it not: it is reached inside the daemon only */
	uint8_t subnet; /* bits of the GID that its subnet shares; 0: unknown */
};

struct io_address_list {
	unsigned count;
	struct io_address a[IO_MAX_ADDRESSES];
};

union io_sockaddr {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/*
 * Reads "192.0.2.1", "2001:db8::1" or "fe80::1%eth0". Unspecified and multicast addresses are
 * refused. 0 or -EINVAL, -ENODEV (no such interface).
 */
int io_address_parse(const char *text, struct io_address *out);

/* The text form of a GID; out holds IO_ADDRESS_TEXT bytes. Returns out. */
const char *io_address_format(const uint8_t gid[16], char *out);

/* Socket address of GID and port (host order). Returns its length. */
socklen_t io_address_to_sockaddr(const struct io_address *a, uint16_t port, union io_sockaddr *sa);

/* The GID of a socket address. */
void io_address_from_sockaddr(const union io_sockaddr *sa, uint8_t gid[16]);

/* 127/8 and ::1: what is sent from there stays on this host. */
bool io_address_is_loopback(const uint8_t gid[16]);

/*
 * The address device number i has when none is given: 127.0.0.(1+i); the first device has ::1
 * as well when this machine has it.
 */
void io_address_default(unsigned i, struct io_address_list *out);

/*
 * All usable addresses of a network interface, IPv4 first. 0, -ENODEV (no such interface) or
 * -EADDRNOTAVAIL (it has none).
 */
int io_address_of_interface(const char *ifname, struct io_address_list *out);

/*
 * Can sockets be bound to the address? Not where this machine does not have it, nor to an IPv6
 * address that is tentative: duplicate address detection (RFC 4862, 5.4) takes a second or two.
 */
bool io_address_can_bind(const struct io_address *a);

/* Interface that holds the address, "lo" for all of 127/8. False when none does. */
bool io_address_interface(const struct io_address *a, char ifname[IF_NAMESIZE]);

/* MTU of an interface in bytes, 0 when there is no such interface. */
unsigned io_address_mtu(const char *ifname);

/*
 * The largest path MTU (enum ibv_mtu, 1 for 256 to 5 for 4096 bytes of payload) whose packets
 * fit an interface MTU of so many bytes with the longest headers that payload can have; 1 when
 * none does.
 */
uint32_t io_address_path_mtu(unsigned interface_mtu);

/* What an interface has to take for a path MTU of this code. */
unsigned io_address_interface_mtu(uint32_t code);

/*
 * Node GUID (host order) of the device with this first address: stable, and different for
 * different addresses (certainly so for IPv4).
 */
uint64_t io_address_guid(const struct io_address *a);

#endif
