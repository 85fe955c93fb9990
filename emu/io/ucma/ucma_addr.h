/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of the rdma_cm interface: IPv4, IPv6 and AF_IB socket addresses in one form, whose
 * IP address is a GID as everywhere else.
 */
#ifndef IO_UCMA_ADDR_H
#define IO_UCMA_ADDR_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifndef AF_IB
#define AF_IB 27
#endif

struct ucma_addr {
	sa_family_t family; /* 0: none */
	uint8_t gid[16];
	uint16_t port; /* host order */
	uint32_t scope;
	uint64_t sid, sid_mask; /* AF_IB, host order */
};

/*
 * Reads a socket address of at most len bytes. 0, or -EINVAL for a family that is none of the
 * three or for too few bytes.
 */
int ucma_addr_parse(const void *sa, size_t len, struct ucma_addr *out);

/*
 * The same of an address that is said to have size bytes, in a place of room: exactly as many as
 * its family's. 0 or -EINVAL.
 */
int ucma_addr_parse_sized(const void *sa, size_t room, size_t size, struct ucma_addr *out);

/* Writes it in its family's form; returns its length, 0 for none. out holds 128 bytes. */
uint16_t ucma_addr_emit(const struct ucma_addr *a, void *out);

/* The same as AF_IB, with the service id that belongs to port space and port. */
uint16_t ucma_addr_emit_ib(const struct ucma_addr *a, uint64_t service_id, void *out);

bool ucma_addr_is_any(const struct ucma_addr *a);
/* 127.0.0.1 or ::1, nothing else of 127/8. */
bool ucma_addr_is_localhost(const struct ucma_addr *a);

/* Does a device of this host have it, of this daemon or any other? */
bool ucma_addr_has_device(const struct ucma_addr *a);

/*
 * Can what is sent from there arrive? From a loopback address only at one, at a multicast group, or
 * at a device of this host (RFC 1122, 3.2.1.3; RFC 4291, 2.5.3).
 */
bool ucma_addr_is_reached(const struct ucma_addr *to, const uint8_t from[16]);

/* Is it an address of one of this host's interfaces? */
bool ucma_addr_is_of_host(const struct ucma_addr *a);

/*
 * The address from which this host would send to "to": 0, or what connect(2) says, -ENETUNREACH
 * where there is no route.
 */
int ucma_addr_source_for(const struct ucma_addr *to, uint8_t gid[16]);

#endif
