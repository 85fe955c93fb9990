/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of a simulated client, as the device under test sees it through core_ops: areas at
 * virtual addresses of their own (a host pointer is never one), and what the client registered.
 * It is the oracle of every test: an access that no registration covers is refused and counted as
 * a stray, and beside each area stands the image that the model expects, so that a byte written
 * anywhere it should not be is found at the end.
 */
#ifndef SUPPORT_MEMORY_H
#define SUPPORT_MEMORY_H

#include "emu/core/core.h"
#include "tests/support/wire/prng.h"

/* One mapped piece of address space. */
struct memory_area {
	uint64_t va;
	uint64_t size;
	uint8_t *host;       /* NULL: a pattern area, of any size, that holds nothing */
	uint8_t *expect;     /* what the model expects */
	uint8_t *ignore;     /* 1: the byte may have any value */
	uint8_t *reached;    /* 1: the block has been reached, and is there */
	uint64_t start;      /* where in the pattern its content begins */
	bool pool;           /* made by memory_alloc: */
	uint64_t used;       /* bytes given out */
	uint64_t written;    /* pattern: bytes stored */
	uint64_t mismatches; /* pattern: bytes stored that were not the pattern's */
};

/* What one memory region lets the device touch. */
struct memory_grant {
	uint64_t va;
	uint64_t length;
	uint32_t key;
	bool write;
	enum core_space space; /* DEVICE: va is a host pointer */
};

struct memory {
	struct memory_area *area;
	unsigned n_areas;
	struct memory_grant *grant;
	unsigned n_grants, grant_room;
	uint64_t next_va;
	struct prng rng; /* contents of new areas */
	unsigned strays;
	char stray[160];      /* the first */
	unsigned silent_from; /* accesses until then are served ... */
	unsigned silent;      /* ... and so many behind them find that it does not answer */
};

/* window: addresses start at (window + 1) << 40, so that clients never share one. */
void memory_construct(struct memory *m, uint32_t window, uint64_t seed);
void memory_destruct(struct memory *m);

/* Maps size bytes of random content, on a page of their own, behind an unmapped page. */
uint64_t memory_map(struct memory *m, uint64_t size);

/*
 * Maps size bytes that read as a fixed pattern (memory_pattern_byte of the offset) and take only
 * stores of that pattern: the cheap way to move gigabytes.
 */
uint64_t memory_map_pattern(struct memory *m, uint64_t size);
uint8_t memory_pattern_byte(uint64_t offset);

/* The same at va, where nothing is mapped: as mmap with MAP_FIXED. */
void memory_map_at(struct memory *m, uint64_t va, uint64_t size);

/* Takes the area that starts at va away, as munmap does; registrations stay. */
void memory_unmap(struct memory *m, uint64_t va);

/* A piece of a mapped area with guard bytes on both sides; align is a power of two. */
uint64_t memory_alloc(struct memory *m, uint64_t size, uint64_t align);

/* The area that holds all of [va, va + len), or NULL. */
struct memory_area *memory_find(struct memory *m, uint64_t va, uint64_t len);

/* Host pointers to what is there and to what should be there; NULL outside any area. */
uint8_t *memory_at(struct memory *m, uint64_t va, uint64_t len);
uint8_t *memory_expected(struct memory *m, uint64_t va, uint64_t len);

/* The client's own store: changes the bytes and the expected image. */
void memory_store(struct memory *m, uint64_t va, const void *src, uint64_t len);

/* The device is expected to store these bytes. */
void memory_expect(struct memory *m, uint64_t va, const void *src, uint64_t len);

/* From now on (on) any value will do there. */
void memory_ignore(struct memory *m, uint64_t va, uint64_t len, bool on);

/* Compares every area with its expected image: true, or false with the place in why. */
bool memory_verify(const struct memory *m, char *why, size_t size);

void memory_grant_add(struct memory *m, uint32_t key, uint64_t va, uint64_t length, bool write);
/* The same for device memory, which the device names by host pointers. */
void memory_grant_device(struct memory *m, uint32_t key, void *base, uint64_t length, bool write);
void memory_grant_remove(struct memory *m, uint32_t key);

/* mem_read and mem_write of core_ops. */
int memory_read(struct memory *m, const struct core_span *from, unsigned n, void *to);
int memory_write(struct memory *m, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from);

#endif
