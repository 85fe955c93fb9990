/* SPDX-License-Identifier: BSD-2-Clause */
/* See privilege.h; the numbers are those of capabilities(7) and proc_pid_status(5). */
#include "privilege.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CAP_NET_RAW_BIT 13

bool io_privilege_net_raw(pid_t pid)
{
	char path[64];
	char text[4096];
	uint64_t effective = 0;
	const char *line;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	line = strstr(text, "\nCapEff:");
	if (!line || sscanf(line, "\nCapEff: %" SCNx64, &effective) != 1)
		return false;
	return effective >> CAP_NET_RAW_BIT & 1;
}
