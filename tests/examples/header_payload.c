/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages that begin with a header. Headers come from a pool that was registered once, the
 * payload lies in a large buffer of the application; neither is copied to stand beside the other.
 * Four ways to send the same message, which the receiver must not be able to tell apart:
 *
 *   lists       two elements in the SEND and two in the receive: what plain verbs has
 *   composite   header and payload described as one key (SG), the SEND has one element; the
 *               receive goes into a composite of the receiver's own header pool and buffer
 *   mixed       a composite is sent to a receive with two elements, and the other way round
 *   interleaved many small records: header, payload, header, payload ... as one key with two
 *               pieces of different strides, into as many of the same kind with other strides
 *
 * Composites are described by requests in front of the SEND, so that a new pair of header and
 * payload costs one more request and no waiting. The receiver describes its own by a call.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER  64u
#define SLOTS   32u        /* of the header pool */
#define BUFFER  (1u << 20) /* the application's data */
#define PAYLOAD 50000u     /* of one message */
#define RECORDS 100u       /* of an interleaved message */
#define RECORD  24u        /* bytes of payload of each */
#define SHORT   16u        /* bytes of header of each */

struct header {
	uint32_t number, length;
	uint64_t sum;
	uint8_t rest[HEADER - 16];
};

struct pools {
	struct end *e;
	struct ibv_qp *qp;
	struct header *header; /* SLOTS of them */
	uint8_t *buffer;
	struct ibv_mr *headers, *data, *key;
	uint64_t random;
};

static uint64_t sum(const uint8_t *bytes, size_t n)
{
	uint64_t s = 14695981039346656037u;

	while (n--)
		s = (s ^ *bytes++) * 1099511628211u;
	return s;
}

/* ---- one header and one payload ---- */

/* Where a message stands in the pools, in elements. */
static void elements(const struct pools *p, unsigned slot, size_t offset, struct ibv_sge sge[2])
{
	sge[0] = (struct ibv_sge){(uintptr_t)&p->header[slot], HEADER, p->headers->lkey};
	sge[1] = (struct ibv_sge){(uintptr_t)p->buffer + offset, PAYLOAD, p->data->lkey};
}

/* The same two as blocks of a composite. */
static void blocks(const struct pools *p, unsigned slot, size_t offset, struct uhcadv_block b[2])
{
	struct ibv_sge sge[2];

	elements(p, slot, offset, sge);
	for (unsigned i = 0; i < 2; i++)
		b[i] = (struct uhcadv_block){sge[i].addr, sge[i].length, sge[i].lkey};
}

static void fill(struct pools *p, unsigned number, unsigned slot, size_t offset)
{
	struct header *h = &p->header[slot];

	for (size_t i = 0; i < PAYLOAD; i++)
		p->buffer[offset + i] = (uint8_t)rig_random(&p->random);
	memset(h, (int)number, sizeof(*h));
	h->number = number;
	h->length = PAYLOAD;
	h->sum = sum(p->buffer + offset, PAYLOAD);
}

static void send_message(struct pools *p, unsigned number, bool composite)
{
	unsigned slot = (unsigned)(rig_random(&p->random) % SLOTS);
	size_t offset = rig_random(&p->random) % (BUFFER - PAYLOAD);
	struct uhcadv_send_wr describe = {.wr_id = 1, .opcode = UHCADV_WR_REG_SG};
	struct uhcadv_block block[2];
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = {.wr_id = 2,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = sge,
				 .num_sge = composite ? 1 : 2};

	fill(p, number, slot, offset);
	elements(p, slot, offset, sge);
	if (composite) {
		blocks(p, slot, offset, block);
		describe.reg.mr = p->key;
		describe.reg.attr.key_byte = (uint8_t)number;
		describe.reg.block = block;
		describe.reg.n_blocks = 2;
		rig_post_dv(p->qp, &describe);
		sge[0] = (struct ibv_sge){0, HEADER + PAYLOAD, p->key->lkey};
	}
	rig_post(p->qp, &wr);
	rig_successes(p->e, 1);
}

static void receive_into(struct pools *p, unsigned slot, size_t offset, bool composite)
{
	struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE, .key_byte = (uint8_t)slot};
	struct ibv_sge sge[2];
	struct ibv_recv_wr wr = {.sg_list = sge, .num_sge = composite ? 1 : 2}, *bad;
	struct uhcadv_block block[2];

	memset(&p->header[slot], 0xee, HEADER);
	memset(p->buffer, 0xee, BUFFER);
	elements(p, slot, offset, sge);
	if (composite) {
		blocks(p, slot, offset, block);
		if (uhcadv_rereg_mr_sg(p->key, &attr, block, 2))
			rig_die("the receiver's composite cannot be described");
		sge[0] = (struct ibv_sge){0, HEADER + PAYLOAD, p->key->lkey};
	}
	if (ibv_post_recv(p->qp, &wr, &bad))
		rig_die("no receive");
}

/* What was not to be written is as it was. */
static void check_around(const uint8_t *bytes, size_t from, size_t to, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((i < from || i >= to) && bytes[i] != 0xee)
			rig_die("byte %zu outside of the message was written to", i);
}

static void check(struct pools *p, unsigned number, unsigned slot, size_t offset)
{
	const struct header *h = &p->header[slot];

	if (h->number != number || h->length != PAYLOAD || h->rest[0] != (uint8_t)number ||
	    h->rest[sizeof(h->rest) - 1] != (uint8_t)number)
		rig_die("message %u: wrong header", number);
	if (h->sum != sum(p->buffer + offset, PAYLOAD))
		rig_die("message %u: wrong payload", number);
	check_around(p->buffer, offset, offset + PAYLOAD, BUFFER);
}

static void receive_message(struct pools *p, unsigned number, bool composite)
{
	unsigned slot = (unsigned)(rig_random(&p->random) % SLOTS);
	size_t offset = rig_random(&p->random) % (BUFFER - PAYLOAD);

	receive_into(p, slot, offset, composite);
	rig_meet(p->e, !p->e->who); /* now the other may send */
	if (rig_success(p->e).byte_len != HEADER + PAYLOAD)
		rig_die("message %u: wrong length", number);
	check(p, number, slot, offset);
}

/* One way: from end 0 to end 1, or from 1 to 0 in odd rounds. */
static void message(struct pools *p, unsigned number, bool sent_whole, bool received_whole)
{
	if (number % 2 == p->e->who) {
		rig_meet(p->e, !p->e->who);
		send_message(p, number, sent_whole);
	} else {
		receive_message(p, number, received_whole);
	}
}

static void way(struct pools *p, const char *name, bool sent_whole, bool received_whole)
{
	for (unsigned i = 0; i < p->e->o->rounds; i++)
		message(p, i, sent_whole, received_whole);
	printf("end %u: %s: %u messages: verified\n", p->e->who, name, (unsigned)p->e->o->rounds);
}

/* ---- many headers and payloads ---- */

/* Record i: SHORT bytes from a slot of the pool, RECORD bytes from the buffer. */
static void describe_records(struct pools *p, size_t header_stride, size_t stride)
{
	struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE};
	struct uhcadv_piece piece[2] = {{.addr = (uintptr_t)p->header,
					 .bytes = SHORT,
					 .lkey = p->headers->lkey,
					 .stride = {(int64_t)header_stride}},
					{.addr = (uintptr_t)p->buffer,
					 .bytes = RECORD,
					 .lkey = p->data->lkey,
					 .stride = {(int64_t)stride}}};
	struct uhcadv_interleaved layout = {
		.n_dims = 1, .n_pieces = 2, .count = {RECORDS}, .piece = piece};

	if (uhcadv_rereg_mr_interleaved(p->key, &attr, &layout))
		rig_die("the records cannot be described");
}

static uint8_t record_byte(unsigned record, unsigned byte)
{
	return (uint8_t)(record * 31 + byte * 7 + 1);
}

/* Puts the records in their places, or checks that they are there. */
static void records(struct pools *p, size_t header_stride, size_t stride, bool put)
{
	for (unsigned i = 0; i < RECORDS; i++)
		for (unsigned b = 0; b < SHORT + RECORD; b++) {
			uint8_t *at = b < SHORT ? (uint8_t *)p->header + i * header_stride + b
						: p->buffer + i * stride + (b - SHORT);
			if (put)
				*at = record_byte(i, b);
			else if (*at != record_byte(i, b))
				rig_die("record %u: byte %u is wrong", i, b);
		}
}

/* As one element; or as lists of plain verbs, RIG_SGE elements at a time. */
static void send_records(struct pools *p, bool with_key, size_t header_stride, size_t stride)
{
	struct ibv_sge sge[RIG_SGE];
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED, .sg_list = sge};

	if (with_key) {
		sge[0] = (struct ibv_sge){0, RECORDS * (SHORT + RECORD), p->key->lkey};
		wr.num_sge = 1;
		rig_post(p->qp, &wr);
		rig_successes(p->e, 1);
		return;
	}
	for (unsigned i = 0; i < RECORDS; i += RIG_SGE / 2) {
		wr.num_sge = RIG_SGE;
		for (unsigned k = 0; k < RIG_SGE / 2; k++) {
			sge[2 * k] =
				(struct ibv_sge){(uintptr_t)p->header + (i + k) * header_stride,
						 SHORT, p->headers->lkey};
			sge[2 * k + 1] = (struct ibv_sge){(uintptr_t)p->buffer + (i + k) * stride,
							  RECORD, p->data->lkey};
		}
		rig_post(p->qp, &wr);
		rig_successes(p->e, 1);
	}
}

/* Receives by parts of the key: an element may begin anywhere in it. */
static void receive_records(struct pools *p, bool with_key)
{
	const uint32_t all = RECORDS * (SHORT + RECORD);
	const uint32_t part = with_key ? all : RIG_SGE / 2 * (SHORT + RECORD);

	memset(p->header, 0xee, SLOTS * HEADER);
	memset(p->buffer, 0xee, BUFFER);
	for (uint32_t at = 0; at < all; at += part)
		rig_recv(p->qp, at, (struct ibv_sge){at, part, p->key->lkey});
	rig_meet(p->e, !p->e->who);
	rig_successes(p->e, all / part);
}

static void interleaved(struct pools *p, const char *name, bool with_key)
{
	/* The two sides keep their records differently. */
	const size_t header_stride = p->e->who ? SHORT : 20, stride = p->e->who ? 1000 : RECORD + 3;

	describe_records(p, header_stride, stride);
	if (p->e->who == 0) {
		records(p, header_stride, stride, true);
		rig_meet(p->e, 1);
		send_records(p, with_key, header_stride, stride);
	} else {
		receive_records(p, with_key);
		records(p, header_stride, stride, false);
	}
	printf("end %u: %s: %u records: verified\n", p->e->who, name, RECORDS);
}

static void part(struct end *e)
{
	struct pools p = {.e = e, .qp = rig_qp(e), .random = e->o->seed + e->who};

	p.header = rig_memory(SLOTS * HEADER);
	p.buffer = rig_memory(BUFFER);
	p.headers = rig_reg(e, p.header, SLOTS * HEADER, IBV_ACCESS_LOCAL_WRITE);
	p.data = rig_reg(e, p.buffer, BUFFER, IBV_ACCESS_LOCAL_WRITE);
	p.key = rig_key(e, 2);
	rig_connect(e, p.qp, !e->who);
	way(&p, "lists", false, false);
	way(&p, "composite", true, true);
	way(&p, "composite to list", true, false);
	way(&p, "list to composite", false, true);
	interleaved(&p, "records by lists", false);
	interleaved(&p, "interleaved", true);
	rig_meet(e, !e->who); /* the last acknowledgement may get lost: the other asks again */
	rig_free_qp(p.qp);
	rig_free_mr(p.key);
	rig_free_mr(p.headers);
	rig_free_mr(p.data);
	free(p.header);
	free(p.buffer);
}

int main(int argc, char **argv)
{
	struct rig_options o = {
		.text = "Headers of a pool and payloads of a buffer are sent as one "
			"message, with lists and with composite keys.",
		.rounds = 20,
		.seed = 1};

	rig_options(&o, argc, argv);
	return rig_run(&o, 2, part);
}
