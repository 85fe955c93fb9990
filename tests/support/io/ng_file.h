/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A pcapng file as a list of blocks, for tests of captures: a reader that checks the frame of each
 * block and fails the test when it is not right.
 */
#ifndef TESTS_SUPPORT_NG_FILE_H
#define TESTS_SUPPORT_NG_FILE_H

#include <stddef.h>
#include <stdint.h>

#define NG_SECTION   0x0a0d0d0au
#define NG_INTERFACE 1u
#define NG_PACKET    6u
#define NG_RECORD    0xbadu

struct ng_block {
	uint32_t type;
	/* Of a packet. */
	uint32_t interface, kept, length, flags;
	const uint8_t *frame;
	/* Of packets and records. */
	uint64_t wall;
	char text[1100]; /* comment ("" none), record, or name of an interface */
	uint32_t snap;   /* of an interface */
};

struct ng_file {
	struct ng_block *block;
	unsigned n;
	uint8_t *bytes;
	size_t len;
};

void ng_load(struct ng_file *f, const char *path);
void ng_free(struct ng_file *f);

/* How many blocks there are of a type, and the i-th of them. */
unsigned ng_count(const struct ng_file *f, uint32_t type);
const struct ng_block *ng_get(const struct ng_file *f, uint32_t type, unsigned i);

/* The first packet or record whose text has this in it; NULL: none. */
const struct ng_block *ng_find(const struct ng_file *f, uint32_t type, const char *text);

#endif
