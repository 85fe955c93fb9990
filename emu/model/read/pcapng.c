/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads pcapng and classic pcap files, block by block, from hostile input. */
#include "pcapng.h"

#include "arena.h"
#include "emu/abi/packet_metadata.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSIC_MICRO  0xa1b2c3d4u
#define CLASSIC_NANO   0xa1b23c4du
#define CLASSIC_FILE   24u /* bytes of the file's header */
#define CLASSIC_PACKET 16u

#define BLOCK_SECTION       0x0a0d0d0au
#define BLOCK_INTERFACE     1u
#define BLOCK_SIMPLE_PACKET 3u
#define BLOCK_PACKET        6u
#define BYTE_ORDER_MAGIC    0x1a2b3c4du
#define BLOCK_FRAME         12u /* bytes around a body: type, length, length */

#define OPTION_END      0u
#define OPTION_COMMENT  1u
#define OPTION_FLAGS    2u /* of a packet */
#define OPTION_NAME     2u /* of an interface */
#define OPTION_TSRES    9u
#define OPTION_TSOFFSET 14u
#define RESOLUTION_BASE 6u /* microseconds, where the option is not there */

/* A block's body, and where it starts. */
struct body {
	const uint8_t *p;
	size_t left;
	size_t offset;
};

__attribute__((format(printf, 3, 4))) static int broken(struct pcapng *f, size_t offset,
							const char *format, ...)
{
	va_list ap;
	int n = snprintf(f->error, sizeof(f->error), "byte %zu: ", offset);

	va_start(ap, format);
	vsnprintf(f->error + n, sizeof(f->error) - (size_t)n, format, ap);
	va_end(ap);
	return -EINVAL;
}

static uint16_t load16(const struct pcapng *f, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return f->swapped ? __builtin_bswap16(v) : v;
}

static uint32_t load32(const struct pcapng *f, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return f->swapped ? __builtin_bswap32(v) : v;
}

static uint64_t load64(const struct pcapng *f, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return f->swapped ? __builtin_bswap64(v) : v;
}

static int add_interface(struct pcapng *f, const struct pcapng_interface *i)
{
	struct pcapng_interface *grown = array_grow(f->interface, f->n_interfaces, sizeof(*i));

	if (!grown)
		return -ENOMEM;
	f->interface = grown;
	f->interface[f->n_interfaces++] = *i;
	return 0;
}

/* ---- times ---- */

static uint64_t seconds_and(uint64_t seconds, uint64_t ns)
{
	return seconds > UINT64_MAX / 1000000000u - 1 ? 0 : seconds * 1000000000u + ns;
}

/* A time in units of the interface, as nanoseconds; 0 where that does not make sense. */
static uint64_t time_of(const struct pcapng_interface *i, uint64_t units)
{
	unsigned power = i->resolution & 127u;
	uint64_t per_second = 1;
	uint64_t seconds, part;

	if (i->resolution & 128u) {
		if (power > 63)
			return 0;
		seconds = units >> power;
		part = units & ((1ull << power) - 1);
		part = power > 30 ? part >> (power - 30) : part << (30 - power);
		part = part * 1000000000u >> 30;
	} else {
		if (power > 19)
			return 0;
		for (unsigned k = 0; k < power; k++)
			per_second *= 10;
		seconds = units / per_second;
		part = units % per_second;
		for (unsigned k = power; k < 9; k++)
			part *= 10;
		for (unsigned k = 9; k < power; k++)
			part /= 10;
	}
	return seconds_and(seconds + (uint64_t)i->offset, part);
}

/* ---- options ---- */

/* The next option of a body: 1, 0 at the end, or -EINVAL. */
static int next_option(struct pcapng *f, struct body *b, uint16_t *code, struct body *value)
{
	size_t length, padded;

	if (b->left == 0)
		return 0;
	if (b->left < 4)
		return broken(f, b->offset, "half an option");
	*code = load16(f, b->p);
	length = load16(f, b->p + 2);
	padded = (length + 3) & ~(size_t)3;
	if (*code == OPTION_END)
		return 0;
	if (b->left - 4 < padded)
		return broken(f, b->offset, "an option of %zu bytes, where %zu are left", length,
			      b->left - 4);
	*value = (struct body){b->p + 4, length, b->offset + 4};
	b->p += 4 + padded;
	b->left -= 4 + padded;
	b->offset += 4 + padded;
	return 1;
}

static int packet_options(struct pcapng *f, struct body *b, struct pcapng_block *out)
{
	struct body value = {0};
	uint16_t code = 0;
	int more;

	while ((more = next_option(f, b, &code, &value)) > 0) {
		if (code == OPTION_FLAGS && value.left == 4)
			out->direction = load32(f, value.p) & 3u;
		if (code == OPTION_COMMENT && !out->text) {
			out->text = (const char *)value.p;
			out->length = value.left;
		}
	}
	return more;
}

/* ---- blocks ---- */

static int read_interface(struct pcapng *f, struct body *b)
{
	struct pcapng_interface i = {.resolution = RESOLUTION_BASE};
	struct body value = {0};
	uint16_t code = 0;
	int more;

	if (b->left < 8)
		return broken(f, b->offset, "an interface of %zu bytes", b->left);
	if (f->n_interfaces == PCAPNG_INTERFACES_MAX)
		return broken(f, b->offset, "more than %d interfaces", PCAPNG_INTERFACES_MAX);
	i.link = load16(f, b->p);
	*b = (struct body){b->p + 8, b->left - 8, b->offset + 8};
	while ((more = next_option(f, b, &code, &value)) > 0) {
		if (code == OPTION_NAME)
			memcpy(i.name, value.p,
			       value.left < sizeof(i.name) ? value.left : sizeof(i.name) - 1);
		if (code == OPTION_TSRES && value.left == 1)
			i.resolution = value.p[0];
		if (code == OPTION_TSOFFSET && value.left == 8)
			i.offset = (int64_t)load64(f, value.p);
	}
	return more < 0 ? more : add_interface(f, &i);
}

static int check_interface(struct pcapng *f, const struct body *b, uint32_t interface,
			   struct pcapng_block *out)
{
	if (interface >= f->n_interfaces - f->first_interface)
		return broken(f, b->offset, "a packet of interface %u, which was not described",
			      interface);
	out->interface = f->first_interface + interface;
	return 0;
}

static int read_packet(struct pcapng *f, struct body *b, struct pcapng_block *out)
{
	uint64_t time;
	size_t padded;
	int rc;

	if (b->left < 20)
		return broken(f, b->offset, "a packet block of %zu bytes", b->left);
	rc = check_interface(f, b, load32(f, b->p), out);
	if (rc < 0)
		return rc;
	time = (uint64_t)load32(f, b->p + 4) << 32 | load32(f, b->p + 8);
	out->ns = time_of(&f->interface[out->interface], time);
	out->captured = load32(f, b->p + 12);
	out->original = load32(f, b->p + 16);
	padded = ((size_t)out->captured + 3) & ~(size_t)3;
	if (padded > b->left - 20)
		return broken(f, b->offset, "a packet of %u bytes in a block of %zu", out->captured,
			      b->left);
	out->frame = b->p + 20;
	*b = (struct body){b->p + 20 + padded, b->left - 20 - padded, b->offset + 20 + padded};
	rc = packet_options(f, b, out);
	return rc < 0 ? rc : 1;
}

static int read_simple_packet(struct pcapng *f, const struct body *b, struct pcapng_block *out)
{
	int rc;

	if (b->left < 4)
		return broken(f, b->offset, "a packet block of %zu bytes", b->left);
	rc = check_interface(f, b, 0, out);
	if (rc < 0)
		return rc;
	out->original = load32(f, b->p);
	out->captured = out->original < b->left - 4 ? out->original : (uint32_t)(b->left - 4);
	out->frame = b->p + 4;
	return 1;
}

/* A custom block: 1 when it is a record of the daemon, 0 of anybody else. */
static int read_custom(struct pcapng *f, const struct body *b, struct pcapng_block *out)
{
	if (b->left < 12 || load32(f, b->p) != UHCA_MODEL_PEN)
		return 0;
	out->kind = PCAPNG_RECORD;
	out->ns = load64(f, b->p + 4);
	out->text = (const char *)b->p + 12;
	out->length = strnlen(out->text, b->left - 12);
	return 1;
}

/* The length of the block at f->at, which is there as a whole; 0 when it is broken. */
static size_t block_length(struct pcapng *f)
{
	size_t left = f->size - f->at;
	size_t length;

	if (left < BLOCK_FRAME) {
		broken(f, f->at, "the file ends within a block");
		return 0;
	}
	length = load32(f, f->bytes + f->at + 4);
	if (length < BLOCK_FRAME || length % 4 != 0) {
		broken(f, f->at, "a block cannot have %zu bytes", length);
		return 0;
	}
	if (length > left) {
		broken(f, f->at, "the file ends within a block: %zu bytes of %zu", left, length);
		return 0;
	}
	if (load32(f, f->bytes + f->at + length - 4) != length) {
		broken(f, f->at, "a block's two lengths differ: %zu and %u", length,
		       load32(f, f->bytes + f->at + length - 4));
		return 0;
	}
	return length;
}

/* Looks at the byte order of a section before anything else of it is read. */
static int begin_section(struct pcapng *f)
{
	uint32_t magic;

	if (f->size - f->at < 28)
		return broken(f, f->at, "the file ends within a section's header");
	memcpy(&magic, f->bytes + f->at + 8, sizeof(magic));
	if (magic != BYTE_ORDER_MAGIC && magic != __builtin_bswap32(BYTE_ORDER_MAGIC))
		return broken(f, f->at + 8, "a section of unknown byte order");
	f->swapped = magic != BYTE_ORDER_MAGIC;
	if (load16(f, f->bytes + f->at + 12) != 1)
		return broken(f, f->at + 12, "version %u of the format is not known",
			      load16(f, f->bytes + f->at + 12));
	f->first_interface = f->n_interfaces;
	return 0;
}

static int next_block(struct pcapng *f, struct pcapng_block *out)
{
	uint32_t type = load32(f, f->bytes + f->at);
	struct body b = {.offset = f->at + 8};
	size_t length;
	int rc = 0;

	if (type == BLOCK_SECTION)
		rc = begin_section(f);
	if (rc < 0)
		return rc;
	length = block_length(f);
	if (length == 0)
		return -EINVAL;
	b.p = f->bytes + b.offset;
	b.left = length - BLOCK_FRAME;
	out->offset = f->at;
	if (type == BLOCK_INTERFACE)
		rc = read_interface(f, &b);
	else if (type == BLOCK_PACKET)
		rc = read_packet(f, &b, out);
	else if (type == BLOCK_SIMPLE_PACKET)
		rc = read_simple_packet(f, &b, out);
	else if (type == UHCA_MODEL_BLOCK)
		rc = read_custom(f, &b, out);
	if (rc >= 0)
		f->at += length;
	return rc;
}

/* ---- the classic format ---- */

static int open_classic(struct pcapng *f)
{
	struct pcapng_interface i = {.resolution = 9};
	uint32_t magic = load32(f, f->bytes);

	if (f->size < CLASSIC_FILE)
		return broken(f, 0, "the file ends within its header");
	f->classic = true;
	f->swapped = magic != CLASSIC_MICRO && magic != CLASSIC_NANO;
	f->nanoseconds = load32(f, f->bytes) == CLASSIC_NANO;
	i.link = load32(f, f->bytes + 20) & 0x0fffffffu; /* above: the length of a checksum */
	f->at = CLASSIC_FILE;
	return add_interface(f, &i);
}

static int next_classic(struct pcapng *f, struct pcapng_block *out)
{
	const uint8_t *p = f->bytes + f->at;
	size_t left = f->size - f->at;
	uint32_t part;

	if (left < CLASSIC_PACKET)
		return broken(f, f->at, "the file ends within a packet's header");
	*out = (struct pcapng_block){.offset = f->at, .frame = p + CLASSIC_PACKET};
	part = load32(f, p + 4);
	out->ns = seconds_and(load32(f, p), f->nanoseconds ? part : part * 1000ull);
	out->captured = load32(f, p + 8);
	out->original = load32(f, p + 12);
	if (out->captured > left - CLASSIC_PACKET)
		return broken(f, f->at, "the file ends within a packet: %zu bytes of %u",
			      left - CLASSIC_PACKET, out->captured);
	f->at += CLASSIC_PACKET + out->captured;
	return 1;
}

/* ---- for callers ---- */

static bool is_classic(uint32_t magic)
{
	uint32_t swapped = __builtin_bswap32(magic);

	return magic == CLASSIC_MICRO || magic == CLASSIC_NANO || swapped == CLASSIC_MICRO ||
	       swapped == CLASSIC_NANO;
}

int pcapng_open(struct pcapng *f, const void *bytes, size_t size)
{
	uint32_t magic = 0;

	*f = (struct pcapng){.bytes = bytes, .size = size};
	if (size == 0)
		return broken(f, 0, "the file is empty");
	if (size >= 4)
		memcpy(&magic, bytes, sizeof(magic));
	if (is_classic(magic))
		return open_classic(f);
	if (magic != BLOCK_SECTION)
		return broken(f, 0, "not a capture: neither pcapng nor pcap");
	return 0;
}

int pcapng_next(struct pcapng *f, struct pcapng_block *out)
{
	int rc = 0;

	while (rc == 0 && f->at < f->size) {
		*out = (struct pcapng_block){.kind = PCAPNG_PACKET};
		if (f->classic)
			rc = next_classic(f, out);
		else if (f->size - f->at < BLOCK_FRAME)
			rc = broken(f, f->at, "the file ends within a block");
		else
			rc = next_block(f, out);
	}
	return rc;
}

void pcapng_close(struct pcapng *f)
{
	free(f->interface);
	*f = (struct pcapng){0};
}
