/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The mappings of this process, as the kernel tells of them (proc(5), /proc/self/maps). Nothing
 * here allocates or takes a lock: allocators' calls of madvise and a fork's child come here, too.
 */
#ifndef UHCAV_MAPS_H
#define UHCAV_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct uhcav_mapping {
	uintptr_t from, to;
	uint64_t offset; /* in the file */
	uint64_t inode;  /* 0: of no file */
	uint32_t dev;    /* major << 20 | minor */
	int prot;        /* PROT_* */
	bool shared;
	bool plain; /* no file, no name but heap's or one that the program gave */
	bool aio;   /* the ring of asynchronous I/O (io_setup(2)) */
};

/* A walk over the mappings in ascending order. */
struct uhcav_maps {
	int fd;
	size_t at, have; /* of buf: what is still to be looked at */
	char buf[4096];
};

/* 0 or -errno. A walk is ended by uhcav_maps_close, however far it came. */
int uhcav_maps_open(struct uhcav_maps *m);
void uhcav_maps_close(struct uhcav_maps *m);

/* The next mapping; false at the end. */
bool uhcav_maps_next(struct uhcav_maps *m, struct uhcav_mapping *out);

/*
 * As uhcav_maps_find, of a walk and without moving it; -ENOTTY where the kernel is older than 6.11.
 */
int uhcav_maps_at(const struct uhcav_maps *m, uintptr_t addr, struct uhcav_mapping *out);

/* The first mapping that ends behind addr: 0, -ENOENT, or -errno. */
int uhcav_maps_find(uintptr_t addr, struct uhcav_mapping *out);

/*
 * Flags of memory ("VmFlags" of /proc/self/smaps) that private anonymous memory has not by itself.
 */
enum {
	UHCAV_FLAG_LOCKED = 1,
	UHCAV_FLAG_NOT_FORKED = 2, /* MADV_DONTFORK */
	UHCAV_FLAG_OTHER = 4,
};

/* Those of all mappings in [from, to), or -errno when it cannot be told. */
int uhcav_maps_flags(uintptr_t from, uintptr_t to);

#endif
