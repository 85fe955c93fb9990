/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice of loopback addresses. It reads the kernel's tables of UDP sockets (proc(5)) and binds
 * nothing where there are such: an address that is only looked at stays free for the daemon that
 * takes it.
 */
#include "run_addr.h"

#include "emu/abi/ctl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ROCE_UDP_PORT 4791

void run_addr_name(unsigned block, unsigned device, char out[16])
{
	snprintf(out, 16, "127.0.%u.%u", block & 255, (device + 1) & 255);
}

/* Whose first n addresses are free? Only with the lease of a block: who is bound is in the way. */
static bool try_block(unsigned block, unsigned n)
{
	bool is_free = true;
	for (unsigned i = 0; i < n && is_free; i++) {
		struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(ROCE_UDP_PORT)};
		char name[16];
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		run_addr_name(block, i, name);
		inet_pton(AF_INET, name, &at.sin_addr);
		is_free = fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 ||
			  errno != EADDRINUSE;
		if (fd >= 0)
			close(fd);
	}
	return is_free;
}

/* ::1 is the first device's of block 0, :: everybody's. */
static bool is_taken_6(const char *line, unsigned block)
{
	static const char any[] = "00000000000000000000000000000000";
	static const char loopback[] = "00000000000000000000000001000000";
	char address[33];
	unsigned port;
	if (sscanf(line, " %*u: %32[0-9A-F]:%x", address, &port) != 2 || port != ROCE_UDP_PORT)
		return false;
	return strcmp(address, any) == 0 || (block == 0 && strcmp(address, loopback) == 0);
}

static bool is_taken_4(const char *line, unsigned block, unsigned n)
{
	unsigned address, port;
	if (sscanf(line, " %*u: %x:%x", &address, &port) != 2 || port != ROCE_UDP_PORT)
		return false;
	uint32_t host = ntohl(address), first = 0x7f000001 + (block << 8);
	return host == INADDR_ANY || (host >= first && host < first + n);
}

/* Has one of the first n addresses of the block its RoCEv2 port taken? */
static bool is_taken(unsigned block, unsigned n)
{
	FILE *table = fopen("/proc/net/udp", "re"), *table6 = fopen("/proc/net/udp6", "re");
	bool taken = !table && !try_block(block, n);
	char line[256];
	while (table && !taken && fgets(line, sizeof(line), table))
		taken = is_taken_4(line, block, n);
	while (table6 && !taken && fgets(line, sizeof(line), table6))
		taken = is_taken_6(line, block);
	if (table)
		fclose(table);
	if (table6)
		fclose(table6);
	return taken;
}

/* The first address of a device, as the files have it, to an address as people write it. */
static bool first_address(const char *dir, unsigned device, char out[INET6_ADDRSTRLEN])
{
	char path[PATH_MAX], gid[64];
	struct in6_addr a;
	FILE *file;
	bool is_there;

	snprintf(path, sizeof(path), "%s/addresses/by-number/%u", dir, device);
	file = fopen(path, "re"); /* of a described machine */
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/uhca%u/ports/1/gids/0", dir, device);
	if (!file)
		file = fopen(path, "re");
	if (!file)
		return false;
	is_there = fgets(gid, sizeof(gid), file) != NULL;
	fclose(file);
	gid[is_there ? strcspn(gid, "\n") : 0] = '\0';
	if (inet_pton(AF_INET6, gid, &a) != 1)
		return false;
	if (IN6_IS_ADDR_V4MAPPED(&a))
		return inet_ntop(AF_INET, &a.s6_addr[12], out, INET6_ADDRSTRLEN);
	return inet_ntop(AF_INET6, &a, out, INET6_ADDRSTRLEN);
}

int run_addr_export(const char *dir)
{
	char name[32];

	for (unsigned i = 0; i < UHCA_DEVICES_MAX; i++) {
		snprintf(name, sizeof(name), "UHCA_ADDR_%u", i);
		unsetenv(name); /* of an instance around this one */
	}
	return run_addr_export_more(dir);
}

int run_addr_export_more(const char *dir)
{
	char name[32], text[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < UHCA_DEVICES_MAX; i++) {
		snprintf(name, sizeof(name), "UHCA_ADDR_%u", i);
		if (first_address(dir, i, text) && setenv(name, text, 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * An abstract socket of the block's name (unix(7)): one in each network namespace, whoever made it,
 * and it ends with its owner.
 */
static int take_name(unsigned block)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "uhca/addresses/127.0.%u",
			 block & 255);
	socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, length) == 0)
		return fd < 0 ? -errno : fd;
	int error = -errno;
	close(fd);
	return error;
}

bool run_addr_lease(unsigned from, unsigned n, struct run_addr_lease *out)
{
	for (out->block = from; out->block < RUN_ADDR_BLOCKS; out->block++) {
		out->fd = take_name(out->block);
		/* where such sockets are refused, it goes without */
		if (out->fd != -EADDRINUSE && !is_taken(out->block, n))
			return true;
		run_addr_release(out);
	}
	return false;
}

void run_addr_release(struct run_addr_lease *lease)
{
	if (lease->fd >= 0)
		close(lease->fd);
	lease->fd = -1;
}
