/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See port_owner.h. A socket that no process has is the kernel's own, which soft-RoCE's is; who
 * cannot look into the processes of others is told the user instead.
 */
#include "port_owner.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct found {
	uint64_t inode;
	unsigned uid;
	bool everywhere;
};

/* Hexadecimal words of 32 bits, each in the machine's order, as the kernel prints addresses. */
static bool read_words(const char *text, unsigned n, uint8_t *out)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t word;

		if (sscanf(text + (size_t)8 * i, "%8" SCNx32, &word) != 1)
			return false;
		memcpy(out + (size_t)4 * i, &word, sizeof(word));
	}
	return true;
}

/* "0100007F", or 32 digits. */
static bool read_address(const char *text, uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (strlen(text) == 32)
		return read_words(text, 4, gid);
	memcpy(gid, mapped, sizeof(mapped));
	return strlen(text) == 8 && read_words(text, 1, gid + 12);
}

static bool is_unspecified(const uint8_t gid[16])
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};

	return roce_addr_is_zero(gid) || memcmp(gid, mapped, 16) == 0;
}

/* One line of the kernel's list: is it in the way? */
static bool in_the_way(const char *line, const struct io_address *a, uint16_t port,
		       struct found *out)
{
	char address[33];
	uint8_t gid[16];
	unsigned local;

	if (sscanf(line, " %*u: %32[0-9A-Fa-f]:%x %*s %*s %*s %*s %*s %u %*u %" SCNu64, address,
		   &local, &out->uid, &out->inode) != 4 ||
	    local != port || !read_address(address, gid))
		return false;
	out->everywhere = is_unspecified(gid);
	return out->everywhere || memcmp(gid, a->gid, 16) == 0;
}

static bool find_socket(const char *path, const struct io_address *a, uint16_t port,
			struct found *out)
{
	FILE *f = fopen(path, "re");
	char line[512];
	bool found = false;

	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = in_the_way(line, a, port, out);
	fclose(f);
	return found;
}

/* Has the process this socket? */
static bool holds(const char *pid, uint64_t inode)
{
	char path[300], wanted[48], target[64];
	const struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(wanted, sizeof(wanted), "socket:[%" PRIu64 "]", inode);
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, wanted) == 0;
	}
	if (d)
		closedir(d);
	return found;
}

static void name_process(const char *pid, char *out)
{
	char path[300], name[32] = "?";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(out, IO_PORT_OWNER_TEXT, "%s (process %.20s)", name, pid);
}

static bool find_process(uint64_t inode, char *out)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		found = e->d_name[0] >= '1' && e->d_name[0] <= '9' && holds(e->d_name, inode);
		if (found)
			name_process(e->d_name, out);
	}
	if (d)
		closedir(d);
	return found;
}

bool io_port_owner_find(const struct io_address *a, uint16_t port, struct io_port_owner *out)
{
	struct found s;

	if (!find_socket("/proc/net/udp", a, port, &s) &&
	    !find_socket("/proc/net/udp6", a, port, &s))
		return false;
	out->everywhere = s.everywhere;
	if (find_process(s.inode, out->name))
		return true;
	if (geteuid() == 0 || s.uid == 0)
		snprintf(out->name, sizeof(out->name),
			 "the kernel (soft-RoCE) or a process in another PID namespace");
	else
		snprintf(out->name, sizeof(out->name), "a process of user %u", s.uid);
	return true;
}
