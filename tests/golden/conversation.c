/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a capture of soft-RoCE into packets and messages. */
#include "conversation.h"

#include "tests/support/wire/cmocka_all.h"
#include "wire/psn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct conversation *c, const struct spoken *s)
{
	if (c->n % 64 == 0) {
		c->packet = realloc(c->packet, (c->n + 64) * sizeof(*c->packet));
		assert_non_null(c->packet);
	}
	c->packet[c->n++] = *s;
}

static void load_packet(const uint8_t *ip, size_t len, struct spoken *s)
{
	uint16_t ident;
	size_t payload;
	size_t head = roce_udpip_parse(ip, len, &s->flow, &ident, &payload);

	assert_int_not_equal(head, 0);
	assert_true(payload > ROCE_ICRC_LENGTH);
	assert_int_equal(roce_packet_parse(ip + head, payload - ROCE_ICRC_LENGTH, &s->pkt),
			 ROCE_PARSE_OK);
}

void conversation_open(struct conversation *c, const char *name, enum conversation_part part)
{
	const char *srcdir = getenv("UHCA_SRCDIR");
	char path[512];
	const uint8_t *ip;
	unsigned line = 0;
	size_t len;

	if (!srcdir)
		fail_msg("UHCA_SRCDIR is not set");
	memset(c, 0, sizeof(*c));
	c->name = name;
	snprintf(path, sizeof(path), "%s/tests/golden/captures/%s.pcap", srcdir, name);
	assert_int_equal(pcap_open(path, &c->file), 0);
	while (pcap_next(&c->file, &ip, &len)) {
		struct spoken s = {.line = ++line, .time = c->file.time};

		load_packet(ip, len, &s);
		if ((s.pkt.bth.dest_qp == 1) == (part == CONVERSATION_CM))
			add(c, &s);
	}
	assert_false(c->file.error);
	assert_true(c->n > 0);
}

void conversation_close(struct conversation *c)
{
	free(c->packet);
	pcap_close(&c->file);
}

bool packet_is_answer(const struct roce_packet *pkt)
{
	enum roce_operation op = packet_operation(pkt);

	return op == ROCE_OP_ACK || op == ROCE_OP_READ_RESP || op == ROCE_OP_ATOMIC_ACK;
}

bool spoken_together(const struct spoken *a, const struct spoken *b)
{
	return memcmp(a->flow.src, b->flow.src, sizeof(a->flow.src)) == 0;
}

static void take_spoken(struct message *m, const struct spoken *s)
{
	assert_true(m->length + s->pkt.payload_len <= sizeof(m->data));
	if (s->pkt.payload_len)
		memcpy(m->data + m->length, s->pkt.payload, s->pkt.payload_len);
	m->length += s->pkt.payload_len;
	m->last = s;
}

void conversation_message(const struct conversation *c, unsigned first, struct message *out)
{
	out->length = 0;
	for (unsigned i = first; i < c->n; i++) {
		const struct spoken *s = &c->packet[i];

		if (!spoken_together(s, &c->packet[first]) || packet_is_answer(&s->pkt))
			continue;
		take_spoken(out, s);
		if (roce_opcode_is_last(s->pkt.bth.opcode))
			return;
	}
	fail_msg("%s: the message of line %u has no end", c->name, c->packet[first].line);
}

void conversation_answer(const struct conversation *c, unsigned request, struct message *out)
{
	const struct spoken *ask = &c->packet[request];
	uint32_t psn = ask->pkt.bth.psn;

	out->length = 0;
	for (unsigned i = request; i < c->n; i++) {
		const struct spoken *s = &c->packet[i];

		if (spoken_together(s, ask) || !packet_is_answer(&s->pkt) || s->pkt.bth.psn != psn)
			continue;
		if (packet_operation(&s->pkt) == ROCE_OP_ACK)
			continue;
		take_spoken(out, s);
		if (roce_opcode_is_last(s->pkt.bth.opcode))
			return;
		psn = psn_add(psn, 1);
	}
	fail_msg("%s: the request of line %u has no whole answer", c->name, ask->line);
}
