/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other ends of sockets. TCP: the connection from there to here is in the kernel's table of
 * this network namespace as well (proc(5), /proc/net/tcp). UNIX: sock_diag(7). See sockets.h.
 */
#include "sockets.h"

#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- TCP ---- */

/* An address of either family, as one of IPv6, and its port. */
struct end {
	uint32_t address[4]; /* in network order, as the tables have them */
	uint16_t port;
};

static void map_ipv4(uint32_t address[4], uint32_t ipv4)
{
	address[0] = address[1] = 0;
	address[2] = htonl(0xffff);
	address[3] = ipv4;
}

static bool to_end(const struct sockaddr_storage *a, struct end *e)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)a;
	const struct sockaddr_in *four = (const struct sockaddr_in *)a;

	if (a->ss_family == AF_INET) {
		map_ipv4(e->address, four->sin_addr.s_addr);
		e->port = ntohs(four->sin_port);
		return true;
	}
	memcpy(e->address, &six->sin6_addr, sizeof(e->address));
	e->port = ntohs(six->sin6_port);
	return a->ss_family == AF_INET6;
}

static bool is_same(const struct end *a, const struct end *b)
{
	return a->port == b->port && !memcmp(a->address, b->address, sizeof(a->address));
}

/* "ADDRESS:PORT" of a table: 8 or 32 digits, words of the machine. */
static bool read_end(const char *text, struct end *e)
{
	unsigned port;

	if (sscanf(text, "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 "%8" SCNx32 ":%x", &e->address[0],
		   &e->address[1], &e->address[2], &e->address[3], &port) != 5) {
		uint32_t ipv4;

		if (sscanf(text, "%8" SCNx32 ":%x", &ipv4, &port) != 2)
			return false;
		map_ipv4(e->address, ipv4);
	}
	e->port = (uint16_t)port;
	return true;
}

static uint64_t find_connection(const char *table, const struct end *from, const struct end *to)
{
	char line[512], local[64], remote[64];
	FILE *f = fopen(table, "re");
	uint64_t found = 0, inode;
	struct end a, b;

	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %63s %63s %*s %*s %*s %*s %*s %*s %" SCNu64, local, remote,
			   &inode) == 3 &&
		    read_end(local, &a) && read_end(remote, &b) && is_same(&a, from) &&
		    is_same(&b, to))
			found = inode;
	if (f)
		fclose(f);
	return found;
}

static uint64_t peer_of_tcp(int fd)
{
	struct sockaddr_storage here, there;
	socklen_t n = sizeof(here), m = sizeof(there);
	struct end local, remote;
	uint64_t inode;

	if (getsockname(fd, (struct sockaddr *)&here, &n) ||
	    getpeername(fd, (struct sockaddr *)&there, &m) || !to_end(&here, &local) ||
	    !to_end(&there, &remote))
		return 0;
	inode = find_connection("/proc/self/net/tcp", &remote, &local);
	return inode ? inode : find_connection("/proc/self/net/tcp6", &remote, &local);
}

/* ---- UNIX ---- */

struct question {
	struct nlmsghdr head;
	struct unix_diag_req what;
};

static uint64_t peer_in(const struct nlmsghdr *head, size_t length)
{
	const struct unix_diag_msg *msg = NLMSG_DATA(head);
	const struct rtattr *a = (const struct rtattr *)(msg + 1);
	long left;

	if (!NLMSG_OK(head, length) || head->nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	for (left = (long)(head->nlmsg_len - NLMSG_LENGTH(sizeof(*msg))); RTA_OK(a, left);
	     a = RTA_NEXT(a, left))
		if (a->rta_type == UNIX_DIAG_PEER)
			return *(const uint32_t *)RTA_DATA(a);
	return 0;
}

static uint64_t peer_of_unix(int fd)
{
	union {
		struct nlmsghdr head;
		char room[1024];
	} answer;
	int diag = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct question q = {
		.head = {.nlmsg_len = sizeof(q),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST},
		.what = {.sdiag_family = AF_UNIX,
			 .udiag_states = UINT32_MAX,
			 .udiag_show = UDIAG_SHOW_PEER,
			 .udiag_cookie = {UINT32_MAX, UINT32_MAX}},
	};
	struct stat st;
	ssize_t n = -1;

	if (diag < 0)
		return 0;
	if (!fstat(fd, &st)) {
		q.what.udiag_ino = (uint32_t)st.st_ino;
		if (send(diag, &q, sizeof(q), 0) == (ssize_t)sizeof(q))
			n = recv(diag, &answer, sizeof(answer), MSG_DONTWAIT);
	}
	close(diag);
	return n > 0 ? peer_in(&answer.head, (size_t)n) : 0;
}

/* ---- either ---- */

static int option(int fd, int name)
{
	int value = -1;
	socklen_t n = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, name, &value, &n) ? -1 : value;
}

static bool has_limit(int fd)
{
	struct timeval limit = {0};
	socklen_t n = sizeof(limit);

	return getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, &n) || limit.tv_sec || limit.tv_usec;
}

uint64_t uhcav_hang_socket_peer(int fd)
{
	if (option(fd, SO_TYPE) != SOCK_STREAM || option(fd, SO_ACCEPTCONN) || has_limit(fd))
		return 0;
	switch (option(fd, SO_DOMAIN)) {
	case AF_INET:
	case AF_INET6:
		return peer_of_tcp(fd);
	case AF_UNIX:
		return peer_of_unix(fd);
	default:
		return 0;
	}
}
