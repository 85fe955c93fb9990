/* SPDX-License-Identifier: BSD-2-Clause */
#include "burst_gen.h"

#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/wire_gen.h"

#include <string.h>

const struct burst_gen_message burst_gen_messages[] = {
	{ROCE_RC_SEND_FIRST, ROCE_RC_SEND_LAST},
	{ROCE_RC_SEND_FIRST, ROCE_RC_SEND_LAST_IMM},
	{ROCE_RC_SEND_FIRST, ROCE_RC_SEND_LAST_INV},
	{ROCE_RC_SEND_MIDDLE, ROCE_RC_SEND_LAST},
	{ROCE_RC_SEND_FIRST, ROCE_RC_SEND_MIDDLE},
	{ROCE_RC_WRITE_FIRST, ROCE_RC_WRITE_LAST},
	{ROCE_RC_WRITE_FIRST, ROCE_RC_WRITE_LAST_IMM},
	{ROCE_RC_READ_RESPONSE_FIRST, ROCE_RC_READ_RESPONSE_LAST},
	{ROCE_RC_READ_RESPONSE_MIDDLE, ROCE_RC_READ_RESPONSE_LAST},
	{ROCE_UC_SEND_FIRST, ROCE_UC_SEND_LAST},
	{ROCE_UC_WRITE_FIRST, ROCE_UC_WRITE_LAST_IMM},
	{ROCE_XRC_WRITE_FIRST, ROCE_XRC_WRITE_LAST},
};
const unsigned burst_gen_messages_count =
	sizeof(burst_gen_messages) / sizeof(burst_gen_messages[0]);

struct roce_flow burst_gen_flow(const uint8_t src[16], const uint8_t dst[16], uint16_t sport)
{
	struct roce_flow f;

	memset(&f, 0, sizeof(f));
	memcpy(f.src, src, 16);
	memcpy(f.dst, dst, 16);
	f.sport = sport;
	f.dport = ROCE_UDP_PORT;
	f.hop_limit = 64;
	return f;
}

bool burst_gen_exists(unsigned op)
{
	return op < 256 && roce_opcode_known((roce_opcode){(uint8_t)op});
}

void burst_gen_single(struct prng *r, roce_opcode op, const struct roce_flow *flow,
		      struct core_burst *out)
{
	struct roce_packet pkt;

	gen_packet(r, op, &pkt);
	core_burst_start(out, &pkt, flow);
}

/* Pieces of random length, more than a burst has room for never. */
static void cut_payload(struct prng *r, const uint8_t *payload, struct core_burst *t)
{
	uint32_t left = t->length;

	t->n_iov = 0;
	while (left > 0) {
		uint32_t len = t->n_iov + 1 == CORE_BURST_IOV ? left : 1 + prng_below(r, left);

		t->iov[t->n_iov++] = (struct iovec){(void *)(uintptr_t)payload, len};
		payload += len;
		left -= len;
	}
}

void burst_gen_message(struct prng *r, const struct burst_gen_message *m, uint32_t mtu,
		       uint32_t length, const uint8_t *payload, struct core_burst *out)
{
	memset(out, 0, sizeof(*out));
	gen_bth(r, &out->head.bth);
	out->head.bth.opcode = (roce_opcode){m->first};
	out->last_opcode = (roce_opcode){m->last};
	out->head.immdt = prng_u32(r);
	out->head.ieth = prng_u32(r);
	out->head.aeth = (struct roce_aeth){(uint8_t)prng_u32(r), prng_u32(r) & 0xffffff};
	out->head.reth = (struct roce_reth){prng_u64(r), prng_u32(r), length};
	out->head.xrcsrq = prng_u32(r) & 0xffffff;
	out->last_ackreq = prng_below(r, 2);
	out->last_solicited = prng_below(r, 2);
	out->segment = mtu;
	out->length = length;
	out->count = (length + mtu - 1) / mtu;
	cut_payload(r, payload, out);
}

void burst_gen_gather(const struct core_burst *t, uint8_t *to)
{
	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(to, t->iov[i].iov_base, t->iov[i].iov_len);
		to += t->iov[i].iov_len;
	}
}

void burst_gen_assert_packet(const struct roce_packet *got, const struct roce_packet *expected,
			     const uint8_t *payload)
{
	uint8_t a[ROCE_MAX_HEADER_LENGTH];
	uint8_t b[ROCE_MAX_HEADER_LENGTH];
	size_t len = roce_packet_emit_headers(expected, a, sizeof(a));

	assert_int_not_equal(len, 0);
	assert_int_equal(roce_packet_emit_headers(got, b, sizeof(b)), len);
	assert_memory_equal(a, b, len);
	assert_int_equal(got->payload_len, expected->payload_len);
	if (got->payload_len > 0)
		assert_memory_equal(got->payload, payload, got->payload_len);
}
