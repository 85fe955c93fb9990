/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers in network byte order, and a cursor over a buffer with a sticky error.
 *
 * The load and store functions work on unaligned memory and check nothing: the caller has made
 * sure that the bytes exist. The cursor is for formats of varying length: each step checks the
 * room that is left; after the first step that does not fit every further step does nothing
 * (loads give 0), so that one look at the error at the end is enough.
 */
#ifndef ROCE_BYTES_H
#define ROCE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* Position in a buffer that is read. Initialise with roce_reader(); error says that it ended. */
struct roce_reader {
	const uint8_t *p;
	size_t left;
	bool error;
};

/* Position in a buffer that is written. */
struct roce_writer {
	uint8_t *p;
	size_t left;
	bool error;
};

static inline struct roce_reader roce_reader(const uint8_t *buf, size_t len)
{
	return (struct roce_reader){.p = buf, .left = len, .error = false};
}

static inline struct roce_writer roce_writer(uint8_t *buf, size_t cap)
{
	return (struct roce_writer){.p = buf, .left = cap, .error = false};
}

/* The next n bytes, or NULL (and the error is set) when fewer are left. */
static inline const uint8_t *roce_read(struct roce_reader *r, size_t n)
{
	if (r->error || r->left < n) {
		r->error = true;
		return NULL;
	}
	const uint8_t *p = r->p;

	r->p += n;
	r->left -= n;
	return p;
}

static inline uint8_t roce_read_u8(struct roce_reader *r)
{
	const uint8_t *p = roce_read(r, 1);

	return p ? p[0] : 0;
}

static inline uint16_t roce_read_be16(struct roce_reader *r)
{
	const uint8_t *p = roce_read(r, 2);

	return p ? roce_load_be16(p) : 0;
}

static inline uint32_t roce_read_be24(struct roce_reader *r)
{
	const uint8_t *p = roce_read(r, 3);

	return p ? roce_load_be24(p) : 0;
}

static inline uint32_t roce_read_be32(struct roce_reader *r)
{
	const uint8_t *p = roce_read(r, 4);

	return p ? roce_load_be32(p) : 0;
}

static inline uint64_t roce_read_be64(struct roce_reader *r)
{
	const uint8_t *p = roce_read(r, 8);

	return p ? roce_load_be64(p) : 0;
}

/* Copies the next n bytes to dst; when fewer are left dst becomes zeros. */
static inline void roce_read_bytes(struct roce_reader *r, uint8_t *dst, size_t n)
{
	const uint8_t *p = roce_read(r, n);

	if (p)
		memcpy(dst, p, n);
	else
		memset(dst, 0, n);
}

/* Room for the next n bytes, or NULL (and the error is set) when less is left. */
static inline uint8_t *roce_write(struct roce_writer *w, size_t n)
{
	if (w->error || w->left < n) {
		w->error = true;
		return NULL;
	}
	uint8_t *p = w->p;

	w->p += n;
	w->left -= n;
	return p;
}

static inline void roce_write_u8(struct roce_writer *w, uint8_t v)
{
	uint8_t *p = roce_write(w, 1);

	if (p)
		p[0] = v;
}

static inline void roce_write_be16(struct roce_writer *w, uint16_t v)
{
	uint8_t *p = roce_write(w, 2);

	if (p)
		roce_store_be16(p, v);
}

static inline void roce_write_be24(struct roce_writer *w, uint32_t v)
{
	uint8_t *p = roce_write(w, 3);

	if (p)
		roce_store_be24(p, v);
}

static inline void roce_write_be32(struct roce_writer *w, uint32_t v)
{
	uint8_t *p = roce_write(w, 4);

	if (p)
		roce_store_be32(p, v);
}

static inline void roce_write_be64(struct roce_writer *w, uint64_t v)
{
	uint8_t *p = roce_write(w, 8);

	if (p)
		roce_store_be64(p, v);
}

static inline void roce_write_bytes(struct roce_writer *w, const uint8_t *src, size_t n)
{
	uint8_t *p = roce_write(w, n);

	if (p && n)
		memcpy(p, src, n);
}

#endif
