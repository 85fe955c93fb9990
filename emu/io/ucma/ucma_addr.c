/* SPDX-License-Identifier: BSD-2-Clause */
/* See ucma_addr.h. The layout of an AF_IB address is the kernel's struct sockaddr_ib. */
#include "ucma_addr.h"

#include "emu/io/base/base.h"
#include "wire/packet.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

struct ucma_sockaddr_ib {
	uint16_t family;
	uint16_t pkey; /* network order, as all that follows */
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid;
	uint64_t sid_mask;
	uint64_t scope_id;
};
_Static_assert(sizeof(struct ucma_sockaddr_ib) == 48, "sockaddr_ib");

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

int ucma_addr_parse(const void *sa, size_t len, struct ucma_addr *out)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct ucma_sockaddr_ib ib;
	} u = {0};

	memset(out, 0, sizeof(*out));
	memcpy(&u, sa, len < sizeof(u) ? len : sizeof(u));
	out->family = u.any.sa_family;
	if (u.any.sa_family == AF_INET && len >= sizeof(u.v4)) {
		memcpy(out->gid, v4_prefix, sizeof(v4_prefix));
		memcpy(out->gid + 12, &u.v4.sin_addr, 4);
		out->port = ntohs(u.v4.sin_port);
		return 0;
	}
	if (u.any.sa_family == AF_INET6 && len >= sizeof(u.v6)) {
		memcpy(out->gid, &u.v6.sin6_addr, 16);
		out->port = ntohs(u.v6.sin6_port);
		out->scope = u.v6.sin6_scope_id;
		return 0;
	}
	if (u.any.sa_family == AF_IB && len >= sizeof(u.ib)) {
		memcpy(out->gid, u.ib.addr, 16);
		out->sid = be64toh(u.ib.sid);
		out->sid_mask = be64toh(u.ib.sid_mask);
		out->port = (uint16_t)(out->sid & out->sid_mask);
		return 0;
	}
	return -EINVAL;
}

static size_t size_of(sa_family_t family)
{
	switch (family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct ucma_sockaddr_ib);
	default:
		return 0;
	}
}

int ucma_addr_parse_sized(const void *sa, size_t room, size_t size, struct ucma_addr *out)
{
	if (size > room || ucma_addr_parse(sa, size, out) < 0)
		return -EINVAL;
	return size == size_of(out->family) ? 0 : -EINVAL;
}

uint16_t ucma_addr_emit_ib(const struct ucma_addr *a, uint64_t service_id, void *out)
{
	struct ucma_sockaddr_ib ib = {.family = AF_IB,
				      .pkey = 0xffff,
				      .sid = htobe64(service_id),
				      .sid_mask = htobe64(UINT64_MAX)};

	memcpy(ib.addr, a->gid, 16);
	memcpy(out, &ib, sizeof(ib));
	return sizeof(ib);
}

uint16_t ucma_addr_emit(const struct ucma_addr *a, void *out)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(a->port)};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(a->port), .sin6_scope_id = a->scope};

	if (a->family == AF_INET) {
		memcpy(&v4.sin_addr, a->gid + 12, 4);
		memcpy(out, &v4, sizeof(v4));
		return sizeof(v4);
	}
	if (a->family == AF_INET6) {
		memcpy(&v6.sin6_addr, a->gid, 16);
		memcpy(out, &v6, sizeof(v6));
		return sizeof(v6);
	}
	return a->family == AF_IB ? ucma_addr_emit_ib(a, a->sid, out) : 0;
}

bool ucma_addr_is_any(const struct ucma_addr *a)
{
	static const uint8_t none[4];

	return roce_addr_is_zero(a->gid) ||
	       (roce_addr_is_v4(a->gid) && memcmp(a->gid + 12, none, 4) == 0);
}

bool ucma_addr_is_localhost(const struct ucma_addr *a)
{
	static const uint8_t v4[4] = {127, 0, 0, 1};
	static const uint8_t v6[16] = {[15] = 1};

	return roce_addr_is_v4(a->gid) ? memcmp(a->gid + 12, v4, 4) == 0
				       : memcmp(a->gid, v6, 16) == 0;
}

/* A datagram socket, and the address with this port for it: it is closed at once. */
static int open_socket(const struct ucma_addr *a, uint16_t port, union io_sockaddr *sa,
		       socklen_t *len)
{
	struct io_address address = {.scope = a->scope};

	memcpy(address.gid, a->gid, 16);
	*len = io_address_to_sockaddr(&address, port, sa);
	return socket(sa->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

/* What a datagram socket hears that binds it. */
static int bind_error(const struct ucma_addr *a, uint16_t port)
{
	union io_sockaddr sa;
	socklen_t len;
	int fd = open_socket(a, port, &sa, &len);
	int error = fd < 0 || bind(fd, &sa.any, len) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

/* Who has the address holds RoCEv2's port of it (annex A17). */
bool ucma_addr_has_device(const struct ucma_addr *a)
{
	return bind_error(a, ROCE_UDP_PORT) == -EADDRINUSE;
}

bool ucma_addr_is_of_host(const struct ucma_addr *a)
{
	return !roce_addr_is_group(a->gid) && bind_error(a, 0) == 0;
}

bool ucma_addr_is_reached(const struct ucma_addr *to, const uint8_t from[16])
{
	return !io_address_is_loopback(from) || io_address_is_loopback(to->gid) ||
	       roce_addr_is_group(to->gid) || ucma_addr_has_device(to);
}

/* A datagram socket that is connected knows its source; nothing is sent. */
int ucma_addr_source_for(const struct ucma_addr *to, uint8_t gid[16])
{
	union io_sockaddr sa;
	socklen_t len;
	int fd = open_socket(to, 9, &sa, &len);
	int error = fd < 0 || connect(fd, &sa.any, len) < 0 ? -errno : 0;

	len = sizeof(sa);
	if (error == 0 && getsockname(fd, &sa.any, &len) < 0)
		error = -errno;
	if (fd >= 0)
		close(fd);
	if (error == 0)
		io_address_from_sockaddr(&sa, gid);
	return error;
}
