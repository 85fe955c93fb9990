/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text for people. Numbers that are addresses, keys or numbers of objects are hexadecimal,
 * counts and sequence numbers are decimal, as tshark and the verbs tools do it.
 */
#include "print.h"

#include "syndrome.h"

#include <stdbool.h>

/* Where the text goes; len counts what did not fit as well. */
struct text {
	char *buf;
	size_t cap;
	size_t len;
};

static void put_char(struct text *t, char c)
{
	if (t->len + 1 < t->cap)
		t->buf[t->len] = c;
	t->len++;
}

static void text_append(struct text *t, const char *s)
{
	while (*s)
		put_char(t, *s++);
}

/* Ends the text and returns its length. */
static size_t finish(struct text *t)
{
	if (t->cap)
		t->buf[t->len < t->cap ? t->len : t->cap - 1] = '\0';
	return t->len;
}

static void put_number(struct text *t, uint64_t v, unsigned base, unsigned min_digits)
{
	char digits[20]; /* of UINT64_MAX in decimal */
	unsigned n = 0;

	do {
		digits[n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	for (unsigned i = n; i < min_digits; i++)
		put_char(t, '0');
	while (n)
		put_char(t, digits[--n]);
}

/* " name=123" */
static void put_dec(struct text *t, const char *name, uint64_t v)
{
	put_char(t, ' ');
	text_append(t, name);
	put_char(t, '=');
	put_number(t, v, 10, 1);
}

/* " name=0x00ff" */
static void put_hex(struct text *t, const char *name, uint64_t v, unsigned digits)
{
	put_char(t, ' ');
	text_append(t, name);
	text_append(t, "=0x");
	put_number(t, v, 16, digits);
}

static void put_bth(struct text *t, const struct roce_bth *bth)
{
	const struct {
		bool set;
		const char *word;
	} flags[] = {
		{bth->solicited, " se"}, {bth->migreq, " migreq"}, {bth->fecn, " fecn"},
		{bth->becn, " becn"},    {bth->ackreq, " ackreq"},
	};

	put_hex(t, "qp", bth->dest_qp, 6);
	put_dec(t, "psn", bth->psn);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].set)
			text_append(t, flags[i].word);
	if (bth->pkey != 0xffff)
		put_hex(t, "pkey", bth->pkey, 4);
}

static void put_aeth(struct text *t, const struct roce_aeth *aeth)
{
	const uint8_t value = roce_syndrome_value(aeth->syndrome);
	const enum roce_ack_kind kind = roce_syndrome_kind(aeth->syndrome);

	text_append(t, " [");
	text_append(t, roce_syndrome_name(aeth->syndrome));
	if (kind == ROCE_RNR_NAK)
		put_dec(t, "us", roce_rnr_timer_ns(value) / 1000);
	else if (kind == ROCE_ACK && value != ROCE_CREDITS_UNLIMITED)
		put_dec(t, "credits", roce_credits_decode(value));
	else if (kind != ROCE_ACK)
		put_dec(t, "code", value);
	text_append(t, "]");
	put_dec(t, "msn", aeth->msn);
}

static void put_memory_headers(struct text *t, const struct roce_packet *pkt, uint32_t headers)
{
	if (headers & ROCE_HDR_FETH) {
		put_dec(t, "placement", pkt->feth.placement);
		put_dec(t, "selectivity", pkt->feth.selectivity);
	}
	if (headers & ROCE_HDR_RETH) {
		put_hex(t, "va", pkt->reth.va, 1);
		put_hex(t, "rkey", pkt->reth.rkey, 8);
		put_dec(t, "dlen", pkt->reth.length);
	}
	if (headers & ROCE_HDR_ATOMICETH) {
		put_hex(t, "va", pkt->atomiceth.va, 1);
		put_hex(t, "rkey", pkt->atomiceth.rkey, 8);
		put_hex(t, "swap_add", pkt->atomiceth.swap_add, 1);
		put_hex(t, "compare", pkt->atomiceth.compare, 1);
	}
}

static void put_other_headers(struct text *t, const struct roce_packet *pkt, uint32_t headers)
{
	if (headers & ROCE_HDR_AETH)
		put_aeth(t, &pkt->aeth);
	if (headers & ROCE_HDR_ATOMICACKETH)
		put_hex(t, "original", pkt->atomic_ack, 1);
	if (headers & ROCE_HDR_IMMDT)
		put_hex(t, "imm", pkt->immdt, 8);
	if (headers & ROCE_HDR_IETH)
		put_hex(t, "inv", pkt->ieth, 8);
}

size_t roce_print_packet(const struct roce_packet *pkt, char *buf, size_t cap)
{
	const struct roce_opcode_info *info = roce_opcode_info(pkt->bth.opcode);
	struct text t = {buf, cap, 0};

	if (info->name) {
		text_append(&t, info->name);
	} else {
		text_append(&t, "opcode=0x");
		put_number(&t, pkt->bth.opcode.v, 16, 2);
	}
	put_bth(&t, &pkt->bth);
	if (info->headers & ROCE_HDR_XRCETH)
		put_hex(&t, "xrcsrq", pkt->xrcsrq, 6);
	if (info->headers & ROCE_HDR_DETH) {
		put_hex(&t, "qkey", pkt->deth.qkey, 8);
		put_hex(&t, "srcqp", pkt->deth.src_qp, 6);
	}
	put_memory_headers(&t, pkt, info->headers);
	put_other_headers(&t, pkt, info->headers);
	if (info->headers & ROCE_HDR_PAYLOAD)
		put_dec(&t, "len", pkt->payload_len);
	return finish(&t);
}
