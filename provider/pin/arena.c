/* SPDX-License-Identifier: BSD-2-Clause */
/* See arena.h. Pieces stand in a list by offset; there are as many as large buffers. */
#include "arena.h"

#include "emu/abi/cmd.h"
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#define LEAST       (16ull << 30)
#define SPARE_BYTES 16384u
#define WORTH       (1ull << 20) /* of reading all mappings */

struct piece {
	LIST_ENTRY(piece) link;
	uint64_t offset, length;
	unsigned regions;
	bool whole;   /* it has all its pages */
	bool mapped;  /* as the last look at the mappings found it */
	uintptr_t at; /* where that was, or is to be */
};

static LIST_HEAD(, piece) pieces = LIST_HEAD_INITIALIZER(pieces);
static LIST_HEAD(, piece) spare = LIST_HEAD_INITIALIZER(spare);
static uint64_t size;
static int fd = -1;
static uint64_t inode; /* these two are read without the lock; 0: no arena */
static uint32_t dev;

/* Twice the memory there is, in a power of two: sparse, so that offsets need not be scarce. */
static uint64_t choose_size(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t n = LEAST;

	while (n < 2 * memory && n < UHCA_ABI_MAX_ARENA)
		n *= 2;
	return n;
}

/* Kernels before 6.3 refuse the flag that newer ones ask for. */
static int make_file(uint64_t length)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int f, err;

	if (!uhcav_may_write(length))
		return -EFBIG;
	f = memfd_create("uhca-arena", flags | MFD_NOEXEC_SEAL);
	if (f < 0 && errno == EINVAL)
		f = memfd_create("uhca-arena", flags);
	if (f < 0)
		return -errno;
	if (!ftruncate(f, (off_t)length) && !fcntl(f, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		return f;
	err = -errno;
	close(f);
	return err;
}

/* A program that closes all descriptors may have given the number to another file by now. */
static bool is_still_ours(void)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_ino == inode &&
	       (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev)) == dev;
}

int uhcav_arena_fd(void)
{
	struct stat st;
	int f;

	if (fd >= 0)
		return is_still_ours() ? fd : -EBADF;
	size = choose_size();
	f = make_file(size);
	if (f < 0)
		return f;
	if (fstat(f, &st)) {
		close(f);
		return -EIO;
	}
	dev = (uint32_t)(major(st.st_dev) << 20 | minor(st.st_dev));
	__atomic_store_n(&inode, (uint64_t)st.st_ino, __ATOMIC_RELEASE);
	return fd = f;
}

uint64_t uhcav_arena_size(void)
{
	return size;
}

bool uhcav_arena_has(const struct uhcav_mapping *m)
{
	uint64_t ours = __atomic_load_n(&inode, __ATOMIC_ACQUIRE);

	return ours && m->inode == ours && m->dev == dev && m->shared;
}

bool uhcav_arena_is_used(void)
{
	return __atomic_load_n(&inode, __ATOMIC_ACQUIRE) != 0;
}

/* Not from an allocator: it may be the one that asks (share_heap.h). */
static bool make_spare(void)
{
	struct piece *p =
		mmap(NULL, SPARE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	for (size_t i = 0; i < SPARE_BYTES / sizeof(*p); i++)
		LIST_INSERT_HEAD(&spare, &p[i], link);
	return true;
}

/* The first gap that is long enough, and the piece before it; false: there is none. */
static bool find_gap(uint64_t length, uint64_t *offset, struct piece **before)
{
	struct piece *p;

	*offset = 0;
	*before = NULL;
	LIST_FOREACH(p, &pieces, link)
	{
		if (p->offset - *offset >= length)
			return true;
		*offset = p->offset + p->length;
		*before = p;
	}
	return length <= size - *offset;
}

static bool is_in(const struct piece *p, uint64_t offset, uint64_t length)
{
	return p->offset < offset + length && offset < p->offset + p->length;
}

void uhcav_arena_hold(uint64_t offset, uint64_t length)
{
	struct piece *p;

	LIST_FOREACH(p, &pieces, link)
	if (is_in(p, offset, length))
		p->regions++;
}

void uhcav_arena_release(uint64_t offset, uint64_t length)
{
	struct piece *p;

	LIST_FOREACH(p, &pieces, link)
	if (is_in(p, offset, length))
		p->regions--;
}

static bool are_whole(uint64_t offset, uint64_t length)
{
	const struct piece *p;
	bool whole = true;

	LIST_FOREACH(p, &pieces, link)
	if (is_in(p, offset, length))
		whole &= p->whole;
	return whole;
}

/* Pages of the file are brought again in a twentieth of the time in which they are made. */
bool uhcav_arena_bring(uint64_t offset, uint64_t length, bool there)
{
	struct piece *p;

	if (!there && are_whole(offset, length))
		return true;
	if (!there && (!is_still_ours() || !uhcav_may_write(offset + length) ||
		       fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length)))
		return false;
	LIST_FOREACH(p, &pieces, link)
	if (p->offset >= offset && p->offset + p->length <= offset + length)
		p->whole = true;
	return true;
}

static void empty(uint64_t offset, uint64_t length)
{
	if (length && is_still_ours())
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
			  (off_t)length);
}

/* A mapping may have parts of several pieces: of neighbours in the arena and in memory. */
static void mark(const struct uhcav_mapping *m)
{
	struct piece *p;

	LIST_FOREACH(p, &pieces, link)
	if (is_in(p, m->offset, m->to - m->from)) {
		p->mapped = true;
		p->at = m->from + (p->offset > m->offset ? p->offset - m->offset : 0);
	}
}

static bool is_still_there(const struct uhcav_maps *maps, const struct piece *p)
{
	struct uhcav_mapping m;

	return !uhcav_maps_at(maps, p->at, &m) && m.from <= p->at && uhcav_arena_has(&m) &&
	       is_in(p, m.offset + (p->at - m.from), 1);
}

/* How much may be given back: of what no region uses, that which is not mapped where it was. */
static uint64_t gone(const struct uhcav_maps *maps)
{
	const struct piece *p;
	uint64_t n = 0;

	LIST_FOREACH(p, &pieces, link)
	if (!p->regions && !is_still_there(maps, p))
		n += p->length;
	return n;
}

/* Marks what is mapped, and is worth it; false: nothing was looked at. */
static bool look(void)
{
	struct piece *p;
	struct uhcav_mapping m;
	struct uhcav_maps maps;
	bool idle = false;

	LIST_FOREACH(p, &pieces, link)
	idle |= p->regions == 0;
	if (!idle || uhcav_maps_open(&maps))
		return false;
	if (gone(&maps) < WORTH) {
		uhcav_maps_close(&maps);
		return false;
	}
	LIST_FOREACH(p, &pieces, link)
	p->mapped = false;
	while (uhcav_maps_next(&maps, &m))
		if (uhcav_arena_has(&m))
			mark(&m);
	uhcav_maps_close(&maps);
	return true;
}

/* Behind a look: what nobody has is given back. */
static void give_back(void)
{
	struct piece *p, *next;

	for (p = LIST_FIRST(&pieces); p; p = next) {
		next = LIST_NEXT(p, link);
		if (p->regions || p->mapped)
			continue;
		LIST_REMOVE(p, link);
		empty(p->offset, p->length);
		LIST_INSERT_HEAD(&spare, p, link);
	}
}

void uhcav_arena_sweep(void)
{
	if (look())
		give_back();
}

/* Behind a look: a piece that nobody has, long enough, cut to the length. */
static struct piece *take_over(uint64_t length)
{
	struct piece *p;

	LIST_FOREACH(p, &pieces, link)
	if (!p->regions && !p->mapped && p->length >= length)
		break;
	if (!p)
		return NULL;
	empty(p->offset + length, p->length - length);
	p->length = length;
	p->mapped = true; /* soon */
	return p;
}

static struct piece *take_gap(uint64_t length)
{
	struct piece *before, *p = LIST_FIRST(&spare);
	uint64_t offset;

	if (!find_gap(length, &offset, &before))
		return NULL;
	LIST_REMOVE(p, link);
	*p = (struct piece){.offset = offset, .length = length};
	if (before)
		LIST_INSERT_AFTER(before, p, link);
	else
		LIST_INSERT_HEAD(&pieces, p, link);
	return p;
}

int uhcav_arena_take(uintptr_t at, uint64_t length, uint64_t *offset)
{
	struct piece *p = NULL;

	if (look()) {
		p = take_over(length);
		give_back();
	}
	if (!p && LIST_EMPTY(&spare) && !make_spare())
		return -ENOMEM;
	if (!p)
		p = take_gap(length);
	if (!p)
		return -ENOSPC;
	p->regions = 1;
	p->whole = false; /* pages that are untouched where it comes to be are taken out of it */
	p->mapped = true;
	p->at = at;
	*offset = p->offset;
	return 0;
}

void uhcav_arena_forget(void)
{
	if (is_still_ours())
		close(fd);
	fd = -1;
	inode = 0;
	LIST_INIT(&pieces); /* what they stood in is not freed: this is a fork's child */
}
