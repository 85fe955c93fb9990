/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes captures with metadata in memory, in either byte order. */
#include "model_file.h"

#include "emu/abi/packet_metadata.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/icrc.h"
#include "wire/udpip.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_SECTION   0x0a0d0d0au
#define BLOCK_INTERFACE 1u
#define BLOCK_PACKET    6u
#define PAYLOAD_MAX     4096u

/* A body that is made. */
struct body {
	uint8_t bytes[16384];
	size_t used;
	bool swapped;
};

static void put_bytes(struct body *b, const void *p, size_t n)
{
	assert_true(b->used + n <= sizeof(b->bytes));
	if (n > 0)
		memcpy(b->bytes + b->used, p, n);
	b->used += n;
}

static void put16(struct body *b, uint16_t v)
{
	v = b->swapped ? __builtin_bswap16(v) : v;
	put_bytes(b, &v, sizeof(v));
}

static void put32(struct body *b, uint32_t v)
{
	v = b->swapped ? __builtin_bswap32(v) : v;
	put_bytes(b, &v, sizeof(v));
}

static void put64(struct body *b, uint64_t v)
{
	v = b->swapped ? __builtin_bswap64(v) : v;
	put_bytes(b, &v, sizeof(v));
}

static void pad(struct body *b)
{
	static const uint8_t zeros[4];

	put_bytes(b, zeros, -b->used & 3u);
}

static void put_option(struct body *b, uint16_t code, const void *value, size_t length)
{
	put16(b, code);
	put16(b, (uint16_t)length);
	put_bytes(b, value, length);
	pad(b);
}

static void grow(struct model_file *f, const void *p, size_t n)
{
	while (f->used + n > f->room) {
		f->room = f->room ? 2 * f->room : 4096;
		f->bytes = realloc(f->bytes, f->room);
		assert_non_null(f->bytes);
	}
	if (n > 0)
		memcpy(f->bytes + f->used, p, n);
	f->used += n;
}

void model_file_block(struct model_file *f, uint32_t type, const void *body, size_t length)
{
	static const uint8_t zeros[4];
	struct body head = {.swapped = f->swapped}, tail = {.swapped = f->swapped};
	size_t padded = (length + 3) & ~(size_t)3;

	put32(&head, type);
	put32(&head, (uint32_t)(padded + 12));
	put32(&tail, (uint32_t)(padded + 12));
	grow(f, head.bytes, head.used);
	grow(f, body, length);
	grow(f, zeros, padded - length);
	grow(f, tail.bytes, tail.used);
}

static void put_interface(struct model_file *f, const char *name)
{
	static const uint8_t nanoseconds = 9;
	struct body b = {.swapped = f->swapped};

	put16(&b, 1); /* Ethernet */
	put16(&b, 0);
	put32(&b, 0);
	put_option(&b, 2, name, strlen(name));
	put_option(&b, 9, &nanoseconds, 1);
	put_option(&b, 0, NULL, 0);
	model_file_block(f, BLOCK_INTERFACE, b.bytes, b.used);
}

void model_file_begin(struct model_file *f, bool swapped)
{
	struct body b = {.swapped = swapped};

	*f = (struct model_file){.swapped = swapped};
	put32(&b, 0x1a2b3c4du);
	put16(&b, 1);
	put16(&b, 0);
	put64(&b, UINT64_MAX);
	model_file_block(f, BLOCK_SECTION, b.bytes, b.used);
	put_interface(f, "uhca0");
	put_interface(f, "uhca1");
}

static void fill_flow(struct roce_flow *flow, unsigned from)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	*flow = (struct roce_flow){.sport = 50000, .dport = ROCE_UDP_PORT, .hop_limit = 64};
	memcpy(flow->src, mapped, 12);
	memcpy(flow->dst, mapped, 12);
	memcpy(flow->src + 12, (const uint8_t[]){10, 0, 0, (uint8_t)(1 + from)}, 4);
	memcpy(flow->dst + 12, (const uint8_t[]){10, 0, 0, (uint8_t)(2 - from)}, 4);
}

static void fill_packet(struct roce_packet *k, const struct model_said *d)
{
	static const uint8_t payload[PAYLOAD_MAX];
	const struct roce_opcode_info *info;
	static const uint32_t number[2] = {0x11, 0x12};
	unsigned to = 1 - d->from;

	*k = (struct roce_packet){.bth = {.opcode = {d->opcode}, .pkey = 0xffff, .psn = d->psn}};
	info = roce_opcode_info(k->bth.opcode);
	k->bth.migreq = true;
	k->bth.dest_qp = d->qp[to] ? d->qp[to] : number[to];
	k->aeth.syndrome = d->syndrome;
	k->aeth.msn = d->msn;
	k->reth.length = d->length;
	k->reth.va = k->atomiceth.va = 0x10000;
	k->reth.rkey = k->atomiceth.rkey = 0x1234;
	k->deth.src_qp = d->qp[d->from] ? d->qp[d->from] : number[d->from];
	if (info->headers & ROCE_HDR_PAYLOAD) {
		assert_true(d->length <= PAYLOAD_MAX);
		k->payload = d->length ? payload : NULL;
		k->payload_len = d->length;
		k->bth.pad = roce_pad(d->length);
	}
}

static size_t make_frame(const struct model_said *d, bool inbound, uint8_t *p)
{
	struct roce_packet k;
	struct roce_flow flow;
	size_t length, head;

	fill_flow(&flow, d->from);
	if (d->marked)
		roce_flow_set_ecn(&flow, inbound ? ROCE_CE : ROCE_ECT0);
	fill_packet(&k, d);
	memset(p, 2, 12);
	p[12] = 8;
	p[13] = 0;
	length = roce_packet_emit(&k, p + 42, 8192);
	assert_true(length > 0);
	head = roce_udpip_emit(&flow, 0, length + ROCE_ICRC_LENGTH, p + 14);
	assert_int_equal(head, 28);
	roce_icrc_store(roce_icrc_begin(&flow, 0, length + ROCE_ICRC_LENGTH, p + 42, length),
			p + 42 + length);
	return 42 + length + ROCE_ICRC_LENGTH;
}

static void write_packet(struct model_file *f, const struct model_said *d, bool inbound)
{
	uint8_t frame[8400];
	struct body b = {.swapped = f->swapped}, flags = {.swapped = f->swapped};
	const char *comment = inbound ? d->in_comment : d->comment;
	double late = inbound ? (d->late_us > 0 ? d->late_us : 1) : 0;
	uint64_t ns = MODEL_FILE_BEGAN + (uint64_t)((d->us + late) * 1000);
	size_t length = make_frame(d, inbound, frame);

	put32(&b, inbound ? 1 - d->from : d->from);
	put32(&b, (uint32_t)(ns >> 32));
	put32(&b, (uint32_t)ns);
	put32(&b, (uint32_t)length);
	put32(&b, (uint32_t)length);
	put_bytes(&b, frame, length);
	pad(&b);
	put32(&flags, inbound ? 1 : 2);
	put_option(&b, 2, flags.bytes, 4);
	if (comment)
		put_option(&b, 1, comment, strlen(comment));
	put_option(&b, 0, NULL, 0);
	model_file_block(f, BLOCK_PACKET, b.bytes, b.used);
}

void model_file_say(struct model_file *f, const struct model_said *said)
{
	enum model_seen seen = said->seen ? said->seen : SEEN_BOTH;

	if (seen & SEEN_OUT)
		write_packet(f, said, false);
	if (seen & SEEN_IN)
		write_packet(f, said, true);
}

void model_file_record(struct model_file *f, double us, const char *words)
{
	struct body b = {.swapped = f->swapped};

	assert_true(strlen(words) <= UHCA_MODEL_MAX);
	put32(&b, UHCA_MODEL_PEN);
	put64(&b, MODEL_FILE_BEGAN + (uint64_t)(us * 1000));
	put_bytes(&b, words, strlen(words));
	pad(&b);
	model_file_block(f, UHCA_MODEL_BLOCK, b.bytes, b.used);
}

uint8_t *model_file_take(struct model_file *f, size_t *size)
{
	uint8_t *bytes = f->bytes;

	*size = f->used;
	*f = (struct model_file){0};
	return bytes;
}
