/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Choice of loopback addresses. It reads the kernel's table of UDP sockets (proc(5)) and binds
 * nothing: an address that is only looked at stays free for the daemon that takes it.
 */
#include "run_addr.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROCE_UDP_PORT 4791

void run_addr_name(unsigned block, unsigned device, char out[16])
{
	snprintf(out, 16, "127.0.%u.%u", block & 255, (device + 1) & 255);
}

/* Marks the blocks in which one of the first n addresses has its RoCEv2 port taken. */
static void mark_taken(bool taken[RUN_ADDR_BLOCKS], unsigned n)
{
	char line[256];
	unsigned address, port;
	FILE *table = fopen("/proc/net/udp", "re");
	if (!table)
		return; /* not ours to judge: the daemon will say what is wrong */
	while (fgets(line, sizeof(line), table)) {
		if (sscanf(line, " %*u: %x:%x", &address, &port) != 2 || port != ROCE_UDP_PORT)
			continue;
		uint32_t host = ntohl(address);
		unsigned block = (host >> 8) & 255, device = (host & 255) - 1;
		if (host == INADDR_ANY)
			memset(taken, 1, RUN_ADDR_BLOCKS);
		else if (host >> 16 == 0x7f00 && block < RUN_ADDR_BLOCKS && device < n)
			taken[block] = true;
	}
	fclose(table);
}

unsigned run_addr_free_block(unsigned from, unsigned n)
{
	bool taken[RUN_ADDR_BLOCKS] = {false};
	mark_taken(taken, n);
	while (from < RUN_ADDR_BLOCKS && taken[from])
		from++;
	return from;
}
