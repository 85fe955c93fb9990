/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers in network byte order: on unaligned memory, and without a check; the caller has made sure
 * that the bytes exist.
 */
#ifndef ROCE_BYTES_H
#define ROCE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline uint16_t roce_load_be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t roce_load_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static inline uint32_t roce_load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint64_t roce_load_be64(const uint8_t *p)
{
	return (uint64_t)roce_load_be32(p) << 32 | roce_load_be32(p + 4);
}

static inline void roce_store_be16(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Bits above the 24th are dropped. */
static inline void roce_store_be24(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 16);
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)v;
}

static inline void roce_store_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

static inline void roce_store_be64(uint8_t *p, uint64_t v)
{
	roce_store_be32(p, (uint32_t)(v >> 32));
	roce_store_be32(p + 4, (uint32_t)v);
}

/* A member of a struct that a table names by its offset: an unsigned integer of 1 to 8 bytes. */
static inline uint64_t roce_member_get(const void *p, size_t size)
{
	switch (size) {
	case 1:
		return *(const uint8_t *)p;
	case 2:
		return *(const uint16_t *)p;
	case 4:
		return *(const uint32_t *)p;
	default:
		return *(const uint64_t *)p;
	}
}

static inline void roce_member_set(void *p, size_t size, uint64_t v)
{
	switch (size) {
	case 1:
		*(uint8_t *)p = (uint8_t)v;
		break;
	case 2:
		*(uint16_t *)p = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)p = (uint32_t)v;
		break;
	default:
		*(uint64_t *)p = v;
	}
}

#endif
