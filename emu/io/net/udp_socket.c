/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens UDP sockets with the options that the ICRC needs (DF, identification). */
#include "udp_socket.h"

#include "udp_errors.h"
#include "wire/packet.h"

#include <errno.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#define RCVBUF_WANTED (8 << 20)
#define HOPS_DEFAULT  64

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif
#ifndef UDP_NO_CHECK6_RX
#define UDP_NO_CHECK6_RX 102
#endif

static int set(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/*
 * As big as granted: root may pass the limit of net.core.rmem_max, others get at most that much,
 * silently.
 */
static size_t set_rcvbuf(int fd)
{
	int granted = 0;
	socklen_t len = sizeof(granted);

	if (set(fd, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF_WANTED) < 0)
		set(fd, SOL_SOCKET, SO_RCVBUF, RCVBUF_WANTED);
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &len) < 0 || granted < 0)
		return 0;
	return (size_t)granted;
}

/* Interface that holds the address, 0 when none does. */
static unsigned index_of(const struct io_address *a)
{
	char name[IF_NAMESIZE];

	return io_address_interface(a, name) ? if_nametoindex(name) : 0;
}

/*
 * Datagrams to groups go out where the address is, and to other sockets of this machine as well.
 * IPv4 needs no word about the interface: a bound source address decides.
 */
static int set_multicast(int fd, const struct io_address *a, bool v4)
{
	if (v4)
		return set(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
	if (set(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)index_of(a)) < 0)
		return -1;
	return set(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
}

/* DF on all packets. The identification depends on it. */
static int set_df(int fd, bool v4)
{
	if (v4)
		return set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
	return set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
}

/* What a receiver wants to know of each packet. Old kernels may lack one; then it stays zero. */
static void set_receive_options(int fd, bool v4, bool gso)
{
	if (v4) {
		set(fd, IPPROTO_IP, IP_RECVTOS, 1);
		set(fd, IPPROTO_IP, IP_RECVTTL, 1);
	} else {
		set(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
		set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1);
		set(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
	}
	set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	if (gso)
		set(fd, IPPROTO_UDP, UDP_GRO, 1);
}

static int open_bound(const struct io_address *a, uint16_t port)
{
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(a, port, &sa);
	bool v4 = sa.any.sa_family == AF_INET;
	int fd = socket(sa.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -errno;
	io_udp_errors_want(fd, v4);
	if ((v4 || set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) == 0) && set_df(fd, v4) == 0 &&
	    set_multicast(fd, a, v4) == 0 && bind(fd, &sa.any, len) == 0)
		return fd;
	error = errno;
	close(fd);
	return -error;
}

int io_udp_socket_open(const struct io_address *a, bool gso, size_t *rcvbuf)
{
	int fd = open_bound(a, ROCE_UDP_PORT);

	if (fd < 0)
		return fd;
	*rcvbuf = set_rcvbuf(fd);
	set_receive_options(fd, roce_addr_is_v4(a->gid), gso);
	return fd;
}

int io_udp_socket_open_flow(const struct io_address *a, uint16_t port)
{
	int fd = open_bound(a, port);

	/*
	 * Nobody answers to this port; of what comes all the same the kernel throws most away. The
	 * room is for what the network answers (udp_errors.h).
	 */
	if (fd >= 0)
		set(fd, SOL_SOCKET, SO_RCVBUF, 4096);
	return fd;
}

/* Only what comes by this membership: not what another socket of this machine has joined. */
static int join(int fd, const union io_sockaddr *group, unsigned index)
{
	struct ip_mreqn v4 = {.imr_multiaddr = group->v4.sin_addr, .imr_ifindex = (int)index};
	struct ipv6_mreq v6 = {.ipv6mr_multiaddr = group->v6.sin6_addr, .ipv6mr_interface = index};

	if (group->any.sa_family == AF_INET) {
		set(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
		return setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &v4, sizeof(v4));
	}
	set(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
	return setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &v6, sizeof(v6));
}

int io_udp_socket_open_group(const struct io_address *group, const struct io_address *a, bool gso)
{
	union io_sockaddr sa;
	socklen_t len = io_address_to_sockaddr(group, ROCE_UDP_PORT, &sa);
	int fd = socket(sa.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -errno;
	/* Groups of interface-local and link-local scope are an interface's (RFC 4007, 6). */
	if (sa.any.sa_family == AF_INET6)
		sa.v6.sin6_scope_id = index_of(a);
	if (set(fd, SOL_SOCKET, SO_REUSEADDR, 1) == 0 && bind(fd, &sa.any, len) == 0 &&
	    join(fd, &sa, index_of(a)) == 0) {
		set_rcvbuf(fd);
		set_receive_options(fd, sa.any.sa_family == AF_INET, gso);
		return fd;
	}
	error = errno;
	close(fd);
	return -error;
}

static int int_of(const struct cmsghdr *c)
{
	int v;

	memcpy(&v, CMSG_DATA(c), sizeof(v));
	return v;
}

/* IP_TOS comes as one byte, the others as an int. */
static void read_one(const struct cmsghdr *c, struct io_udp_ancillary *out)
{
	if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
		out->segment = (uint32_t)int_of(c);
	} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS) {
		out->tclass = *CMSG_DATA(c);
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS) {
		out->tclass = (uint8_t)int_of(c);
	} else if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TTL) ||
		   (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_HOPLIMIT)) {
		out->hop_limit = (uint8_t)int_of(c);
	} else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
		out->overflow = (uint32_t)int_of(c);
		out->overflow_valid = true;
	}
}

void io_udp_socket_ancillary(struct msghdr *msg, struct io_udp_ancillary *out)
{
	*out = (struct io_udp_ancillary){.hop_limit = HOPS_DEFAULT};
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		read_one(c, out);
}
