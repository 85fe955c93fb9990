/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See maps.h. One mapping is asked for by an ioctl where the kernel has it (6.11), because reading
 * the whole list takes microseconds for each of hundreds of mappings.
 */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Past our own preload library: these paths are nobody's to lead elsewhere. */
static int open_proc(const char *path)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int uhcav_maps_open(struct uhcav_maps *m)
{
	m->at = m->have = 0;
	m->fd = open_proc("/proc/self/maps");
	return m->fd < 0 ? m->fd : 0;
}

void uhcav_maps_close(struct uhcav_maps *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

/* ---- lines ---- */

/* The next line, without its end; NULL behind the last. One that does not fit is cut short. */
static char *next_line(struct uhcav_maps *m)
{
	for (;;) {
		char *line = m->buf + m->at;
		char *end = memchr(line, '\n', m->have - m->at);
		ssize_t n;

		if (end) {
			*end = '\0';
			m->at = (size_t)(end - m->buf) + 1;
			return line;
		}
		memmove(m->buf, line, m->have - m->at);
		m->have -= m->at;
		m->at = 0;
		if (m->have == sizeof(m->buf)) /* a name longer than any path: nobody's of ours */
			m->have = sizeof(m->buf) / 2;
		n = read(m->fd, m->buf + m->have, sizeof(m->buf) - m->have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		m->have += (size_t)n;
	}
}

static bool is_plain_name(const char *name)
{
	return !*name || !strcmp(name, "[heap]") || !strncmp(name, "[anon:", 6);
}

static int protection(const char *letters)
{
	return (letters[0] == 'r' ? PROT_READ : 0) | (letters[1] == 'w' ? PROT_WRITE : 0) |
	       (letters[2] == 'x' ? PROT_EXEC : 0);
}

static uint64_t number(char **at, int base)
{
	uint64_t n = strtoull(*at, at, base);

	if (**at && **at != '\n')
		(*at)++; /* what parts it from the next */
	return n;
}

/* "from-to rwxp offset major:minor inode   name" */
static bool parse(char *line, struct uhcav_mapping *out)
{
	char *at = line;
	char *letters;

	*out = (struct uhcav_mapping){.from = number(&at, 16)};
	out->to = number(&at, 16);
	letters = at;
	if (strlen(letters) < 5)
		return false;
	out->prot = protection(letters);
	out->shared = letters[3] == 's';
	at += 5;
	out->offset = number(&at, 16);
	out->dev = (uint32_t)number(&at, 16) << 20;
	out->dev |= (uint32_t)number(&at, 16);
	out->inode = number(&at, 10);
	at += strspn(at, " ");
	out->plain = out->inode == 0 && is_plain_name(at);
	out->aio = !strncmp(at, "/[aio]", 6);
	return out->to > out->from;
}

bool uhcav_maps_next(struct uhcav_maps *m, struct uhcav_mapping *out)
{
	char *line;

	while ((line = next_line(m)))
		if (parse(line, out))
			return true;
	return false;
}

/* ---- one mapping ---- */

/* linux/fs.h of 6.11 */
struct query {
	uint64_t size, flags, addr;
	uint64_t from, to, vma_flags, page_size, offset, inode;
	uint32_t major, minor;
	uint32_t name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define PROCMAP_QUERY    _IOWR('f', 17, struct query)
#define COVERING_OR_NEXT 0x10u
#define VMA_READABLE     0x01u
#define VMA_WRITABLE     0x02u
#define VMA_EXECUTABLE   0x04u
#define VMA_SHARED       0x08u

int uhcav_maps_at(const struct uhcav_maps *m, uintptr_t addr, struct uhcav_mapping *out)
{
	char name[16] = "";
	struct query q = {.size = sizeof(q),
			  .flags = COVERING_OR_NEXT,
			  .addr = addr,
			  .name_size = sizeof(name),
			  .name_addr = (uintptr_t)name};

	/* A longer name is not one of those that matter. */
	if (syscall(SYS_ioctl, m->fd, PROCMAP_QUERY, &q) && errno == ENAMETOOLONG) {
		strcpy(name, "long");
		q.name_size = 0;
		q.name_addr = 0;
		if (syscall(SYS_ioctl, m->fd, PROCMAP_QUERY, &q))
			return -errno;
	} else if (q.to == 0) {
		return -errno;
	}
	*out = (struct uhcav_mapping){
		.from = q.from,
		.to = q.to,
		.offset = q.offset,
		.inode = q.inode,
		.dev = q.major << 20 | q.minor,
		.prot = (q.vma_flags & VMA_READABLE ? PROT_READ : 0) |
			(q.vma_flags & VMA_WRITABLE ? PROT_WRITE : 0) |
			(q.vma_flags & VMA_EXECUTABLE ? PROT_EXEC : 0),
		.shared = q.vma_flags & VMA_SHARED,
		.plain = q.inode == 0 && is_plain_name(name),
	};
	return 0;
}

int uhcav_maps_find(uintptr_t addr, struct uhcav_mapping *out)
{
	struct uhcav_maps m;
	int err = uhcav_maps_open(&m);

	if (err)
		return err;
	err = uhcav_maps_at(&m, addr, out);
	if (err && err != -ENOENT) { /* an older kernel */
		err = -ENOENT;
		while (err && uhcav_maps_next(&m, out))
			if (out->to > addr)
				err = 0;
	}
	uhcav_maps_close(&m);
	return err;
}

/* ---- flags ---- */

/* "VmFlags: rd wr mr ..." */
static int unusual(const char *flags)
{
	static const char usual[] = " rd wr mr mw me ac nr sd nh ";
	int found = 0;

	for (const char *f = flags + strspn(flags, " "); *f;
	     f += strcspn(f, " "), f += strspn(f, " ")) {
		const char word[] = {' ', f[0], f[1], ' ', '\0'};

		if (!strncmp(f, "lo", 2))
			found |= UHCAV_FLAG_LOCKED;
		else if (!strncmp(f, "dc", 2))
			found |= UHCAV_FLAG_NOT_FORKED;
		else if (!strstr(usual, word))
			found |= UHCAV_FLAG_OTHER;
	}
	return found;
}

int uhcav_maps_flags(uintptr_t from, uintptr_t to)
{
	struct uhcav_maps m = {.fd = open_proc("/proc/self/smaps")};
	struct uhcav_mapping v = {0};
	int found = 0;
	char *line;

	if (m.fd < 0)
		return m.fd;
	while ((line = next_line(&m))) {
		if (line[0] >= 'a' ? line[0] <= 'f' : line[0] >= '0' && line[0] <= '9') {
			if (!parse(line, &v) || v.from >= to)
				break;
		} else if (v.to > from && !strncmp(line, "VmFlags:", 8)) {
			found |= unusual(line + 8);
		}
	}
	uhcav_maps_close(&m);
	return found;
}
