/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a pcapng file into blocks, and checks their frames. */
#include "ng_file.h"

#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static uint32_t u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return v;
}

static uint16_t u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return v;
}

static void copy_text(struct ng_block *b, const uint8_t *p, size_t n)
{
	assert_in_range(n, 0, sizeof(b->text) - 1);
	memcpy(b->text, p, n);
	b->text[n] = '\0';
}

/* Options of a packet or an interface: which code is text, which are flags. */
static void read_options(struct ng_block *b, const uint8_t *p, const uint8_t *end, uint16_t text)
{
	while (p + 4 <= end && u16(p) != 0) {
		uint16_t len = u16(p + 2);

		assert_true(p + 4 + len <= end);
		if (u16(p) == text)
			copy_text(b, p + 4, len);
		else if (b->type == NG_PACKET && u16(p) == 2)
			b->flags = u32(p + 4);
		p += 4 + ((len + 3u) & ~3u);
	}
	assert_ptr_equal(p + 4, end);
}

static void read_packet(struct ng_block *b, const uint8_t *p, const uint8_t *end)
{
	b->interface = u32(p);
	b->wall = (uint64_t)u32(p + 4) << 32 | u32(p + 8);
	b->kept = u32(p + 12);
	b->length = u32(p + 16);
	b->frame = p + 20;
	assert_in_range(b->kept, 0, b->length);
	assert_true(b->frame + b->kept <= end);
	read_options(b, b->frame + ((b->kept + 3) & ~3u), end, 1);
}

static void read_record(struct ng_block *b, const uint8_t *p, const uint8_t *end)
{
	assert_int_equal(u32(p), 32473);
	memcpy(&b->wall, p + 4, 8);
	copy_text(b, p + 12, (size_t)(end - p - 12));
}

static void read_block(struct ng_block *b, const uint8_t *p, uint32_t len)
{
	const uint8_t *end = p + len - 4;

	memset(b, 0, sizeof(*b));
	b->type = u32(p);
	if (b->type == NG_SECTION) {
		assert_int_equal(u32(p + 8), 0x1a2b3c4d);
	} else if (b->type == NG_INTERFACE) {
		assert_int_equal(u32(p + 8), 1); /* Ethernet */
		b->snap = u32(p + 12);
		read_options(b, p + 16, end, 2);
	} else if (b->type == NG_PACKET) {
		read_packet(b, p + 8, end);
	} else {
		assert_int_equal(b->type, NG_RECORD);
		read_record(b, p + 8, end);
	}
}

static void load_bytes(struct ng_file *f, const char *path)
{
	FILE *in = fopen(path, "r");
	struct stat st;

	assert_non_null(in);
	assert_int_equal(fstat(fileno(in), &st), 0);
	f->len = (size_t)st.st_size;
	f->bytes = malloc(f->len + 1);
	assert_non_null(f->bytes);
	assert_int_equal(fread(f->bytes, 1, f->len, in), f->len);
	fclose(in);
}

void ng_load(struct ng_file *f, const char *path)
{
	size_t room = 0;

	*f = (struct ng_file){0};
	load_bytes(f, path);
	for (size_t at = 0; at < f->len;) {
		uint32_t len;

		assert_true(at + 12 <= f->len);
		len = u32(f->bytes + at + 4);
		assert_int_equal(len % 4, 0);
		assert_in_range(len, 12, f->len - at);
		assert_int_equal(u32(f->bytes + at + len - 4), len);
		if (f->n == room) {
			room = room ? 2 * room : 64;
			f->block = realloc(f->block, room * sizeof(*f->block));
			assert_non_null(f->block);
		}
		read_block(&f->block[f->n++], f->bytes + at, len);
		at += len;
	}
}

void ng_free(struct ng_file *f)
{
	free(f->block);
	free(f->bytes);
	*f = (struct ng_file){0};
}

unsigned ng_count(const struct ng_file *f, uint32_t type)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++)
		n += f->block[i].type == type;
	return n;
}

const struct ng_block *ng_get(const struct ng_file *f, uint32_t type, unsigned i)
{
	for (unsigned k = 0; k < f->n; k++)
		if (f->block[k].type == type && i-- == 0)
			return &f->block[k];
	fail_msg("there are not so many blocks of type %u", type);
	return NULL;
}

const struct ng_block *ng_find(const struct ng_file *f, uint32_t type, const char *text)
{
	for (unsigned k = 0; k < f->n; k++)
		if (f->block[k].type == type && strstr(f->block[k].text, text))
			return &f->block[k];
	return NULL;
}
