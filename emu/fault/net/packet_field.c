/* SPDX-License-Identifier: BSD-2-Clause */
/* See packet_field.h. Numbers are cut to the width that the field has on the wire by emit. */
#include "packet_field.h"

#include "wire/cm_msg.h"
#include "wire/syndrome.h"

#include <string.h>

/* How wide a field is, and which header has it (0: the BTH). */
struct place {
	uint64_t mask;
	uint32_t header;
};

#define BITS(n) (UINT64_MAX >> (64 - (n))) /* 1 to 64 */

static const struct place places[FAULT_FIELDS] = {
	[FAULT_FIELD_BTH_OPCODE] = {BITS(8), 0},
	[FAULT_FIELD_BTH_SE] = {BITS(1), 0},
	[FAULT_FIELD_BTH_MIGREQ] = {BITS(1), 0},
	[FAULT_FIELD_BTH_VERSION] = {BITS(4), 0},
	[FAULT_FIELD_BTH_PKEY] = {BITS(16), 0},
	[FAULT_FIELD_BTH_FECN] = {BITS(1), 0},
	[FAULT_FIELD_BTH_BECN] = {BITS(1), 0},
	[FAULT_FIELD_BTH_DEST_QP] = {BITS(24), 0},
	[FAULT_FIELD_BTH_ACKREQ] = {BITS(1), 0},
	[FAULT_FIELD_BTH_PSN] = {BITS(24), 0},
	[FAULT_FIELD_RETH_VA] = {BITS(64), ROCE_HDR_RETH},
	[FAULT_FIELD_RETH_RKEY] = {BITS(32), ROCE_HDR_RETH},
	[FAULT_FIELD_RETH_LENGTH] = {BITS(32), ROCE_HDR_RETH},
	[FAULT_FIELD_AETH_SYNDROME] = {BITS(8), ROCE_HDR_AETH},
	[FAULT_FIELD_AETH_MSN] = {BITS(24), ROCE_HDR_AETH},
	[FAULT_FIELD_CREDITS] = {BITS(5), ROCE_HDR_AETH},
	[FAULT_FIELD_DETH_QKEY] = {BITS(32), ROCE_HDR_DETH},
	[FAULT_FIELD_DETH_SRC_QP] = {BITS(24), ROCE_HDR_DETH},
	[FAULT_FIELD_ATOMIC_VA] = {BITS(64), ROCE_HDR_ATOMICETH},
	[FAULT_FIELD_ATOMIC_RKEY] = {BITS(32), ROCE_HDR_ATOMICETH},
	[FAULT_FIELD_ATOMIC_SWAP] = {BITS(64), ROCE_HDR_ATOMICETH},
	[FAULT_FIELD_ATOMIC_COMPARE] = {BITS(64), ROCE_HDR_ATOMICETH},
	[FAULT_FIELD_ATOMIC_ACK] = {BITS(64), ROCE_HDR_ATOMICACKETH},
	[FAULT_FIELD_IMMDT] = {BITS(32), ROCE_HDR_IMMDT},
	[FAULT_FIELD_IETH] = {BITS(32), ROCE_HDR_IETH},
	[FAULT_FIELD_XRC_SRQ] = {BITS(24), ROCE_HDR_XRCETH},
	[FAULT_FIELD_PAYLOAD] = {BITS(8), 0},
	[FAULT_FIELD_CM_PRIVATE] = {BITS(8), 0},
};

/* ---- numbers, wherever they stand ---- */

static bool is_ack(const struct roce_packet *p)
{
	return roce_syndrome_kind(p->aeth.syndrome) == ROCE_ACK;
}

static uint64_t get_bth(const struct roce_bth *b, enum fault_field f)
{
	switch ((unsigned)f) {
	case FAULT_FIELD_BTH_OPCODE:
		return b->opcode.v;
	case FAULT_FIELD_BTH_SE:
		return b->solicited;
	case FAULT_FIELD_BTH_MIGREQ:
		return b->migreq;
	case FAULT_FIELD_BTH_VERSION:
		return b->version;
	case FAULT_FIELD_BTH_PKEY:
		return b->pkey;
	case FAULT_FIELD_BTH_FECN:
		return b->fecn;
	case FAULT_FIELD_BTH_BECN:
		return b->becn;
	case FAULT_FIELD_BTH_DEST_QP:
		return b->dest_qp;
	case FAULT_FIELD_BTH_ACKREQ:
		return b->ackreq;
	default:
		return b->psn;
	}
}

static void put_bth(struct roce_bth *b, enum fault_field f, uint64_t v)
{
	switch ((unsigned)f) {
	case FAULT_FIELD_BTH_OPCODE:
		b->opcode.v = (uint8_t)v;
		break;
	case FAULT_FIELD_BTH_SE:
		b->solicited = v != 0;
		break;
	case FAULT_FIELD_BTH_MIGREQ:
		b->migreq = v != 0;
		break;
	case FAULT_FIELD_BTH_VERSION:
		b->version = (uint8_t)v;
		break;
	case FAULT_FIELD_BTH_PKEY:
		b->pkey = (uint16_t)v;
		break;
	case FAULT_FIELD_BTH_FECN:
		b->fecn = v != 0;
		break;
	case FAULT_FIELD_BTH_BECN:
		b->becn = v != 0;
		break;
	case FAULT_FIELD_BTH_DEST_QP:
		b->dest_qp = (uint32_t)v;
		break;
	case FAULT_FIELD_BTH_ACKREQ:
		b->ackreq = v != 0;
		break;
	default:
		b->psn = (uint32_t)v;
	}
}

static uint64_t get_ext(const struct roce_packet *p, enum fault_field f)
{
	switch ((unsigned)f) {
	case FAULT_FIELD_RETH_VA:
		return p->reth.va;
	case FAULT_FIELD_RETH_RKEY:
		return p->reth.rkey;
	case FAULT_FIELD_RETH_LENGTH:
		return p->reth.length;
	case FAULT_FIELD_AETH_SYNDROME:
		return p->aeth.syndrome;
	case FAULT_FIELD_AETH_MSN:
		return p->aeth.msn;
	case FAULT_FIELD_CREDITS:
		return roce_syndrome_value(p->aeth.syndrome);
	case FAULT_FIELD_DETH_QKEY:
		return p->deth.qkey;
	case FAULT_FIELD_DETH_SRC_QP:
		return p->deth.src_qp;
	case FAULT_FIELD_ATOMIC_VA:
		return p->atomiceth.va;
	case FAULT_FIELD_ATOMIC_RKEY:
		return p->atomiceth.rkey;
	case FAULT_FIELD_ATOMIC_SWAP:
		return p->atomiceth.swap_add;
	case FAULT_FIELD_ATOMIC_COMPARE:
		return p->atomiceth.compare;
	case FAULT_FIELD_ATOMIC_ACK:
		return p->atomic_ack;
	case FAULT_FIELD_IMMDT:
		return p->immdt;
	case FAULT_FIELD_IETH:
		return p->ieth;
	default:
		return p->xrcsrq;
	}
}

static void put_aeth(struct roce_aeth *a, enum fault_field f, uint64_t v)
{
	if (f == FAULT_FIELD_AETH_MSN)
		a->msn = (uint32_t)v;
	else if (f == FAULT_FIELD_CREDITS)
		a->syndrome = roce_syndrome(ROCE_ACK, (uint8_t)v);
	else
		a->syndrome = (uint8_t)v;
}

static void put_atomic(struct roce_atomiceth *a, enum fault_field f, uint64_t v)
{
	if (f == FAULT_FIELD_ATOMIC_VA)
		a->va = v;
	else if (f == FAULT_FIELD_ATOMIC_RKEY)
		a->rkey = (uint32_t)v;
	else if (f == FAULT_FIELD_ATOMIC_SWAP)
		a->swap_add = v;
	else
		a->compare = v;
}

static void put_rest(struct roce_packet *p, enum fault_field f, uint64_t v)
{
	switch ((unsigned)f) {
	case FAULT_FIELD_RETH_VA:
		p->reth.va = v;
		break;
	case FAULT_FIELD_RETH_RKEY:
		p->reth.rkey = (uint32_t)v;
		break;
	case FAULT_FIELD_RETH_LENGTH:
		p->reth.length = (uint32_t)v;
		break;
	case FAULT_FIELD_DETH_QKEY:
		p->deth.qkey = (uint32_t)v;
		break;
	case FAULT_FIELD_DETH_SRC_QP:
		p->deth.src_qp = (uint32_t)v;
		break;
	case FAULT_FIELD_ATOMIC_ACK:
		p->atomic_ack = v;
		break;
	case FAULT_FIELD_IMMDT:
		p->immdt = (uint32_t)v;
		break;
	case FAULT_FIELD_IETH:
		p->ieth = (uint32_t)v;
		break;
	default:
		p->xrcsrq = (uint32_t)v;
	}
}

static void put_ext(struct roce_packet *p, enum fault_field f, uint64_t v)
{
	uint32_t header = places[f].header;

	if (header == ROCE_HDR_AETH)
		put_aeth(&p->aeth, f, v);
	else if (header == ROCE_HDR_ATOMICETH)
		put_atomic(&p->atomiceth, f, v);
	else
		put_rest(p, f, v);
}

static bool set_number(struct roce_packet *p, const struct fault_setting *s)
{
	const struct place *at = &places[s->field];
	uint64_t v = s->value;

	if (at->header && !(roce_opcode_info(p->bth.opcode)->headers & at->header))
		return false;
	if (s->field == FAULT_FIELD_CREDITS && !is_ack(p))
		return false;
	if (s->relative)
		v += at->header ? get_ext(p, s->field) : get_bth(&p->bth, s->field);
	v &= at->mask;
	if (at->header)
		put_ext(p, s->field, v);
	else
		put_bth(&p->bth, s->field, v);
	return true;
}

/* ---- bytes ---- */

static void set_byte(uint8_t *p, const struct fault_setting *s)
{
	*p = (uint8_t)(s->relative ? *p + s->value : s->value);
}

/* The private data of a message; NULL for one without. */
static uint8_t *private_data(struct roce_cm_msg *m, size_t *size)
{
	switch (m->attr) {
	case ROCE_CM_REQ:
		*size = sizeof(m->req.private_data);
		return m->req.private_data;
	case ROCE_CM_MRA:
		*size = sizeof(m->mra.private_data);
		return m->mra.private_data;
	case ROCE_CM_REJ:
		*size = sizeof(m->rej.private_data);
		return m->rej.private_data;
	case ROCE_CM_REP:
		*size = sizeof(m->rep.private_data);
		return m->rep.private_data;
	case ROCE_CM_RTU:
		*size = sizeof(m->rtu.private_data);
		return m->rtu.private_data;
	case ROCE_CM_DREQ:
		*size = sizeof(m->dreq.private_data);
		return m->dreq.private_data;
	case ROCE_CM_DREP:
		*size = sizeof(m->drep.private_data);
		return m->drep.private_data;
	case ROCE_CM_SIDR_REQ:
		*size = sizeof(m->sidr_req.private_data);
		return m->sidr_req.private_data;
	case ROCE_CM_SIDR_REP:
		*size = sizeof(m->sidr_rep.private_data);
		return m->sidr_rep.private_data;
	}
	*size = 0;
	return NULL;
}

static bool set_private(const struct roce_packet *p, uint8_t *mad, const struct fault_setting *s)
{
	struct roce_cm_msg msg;
	uint8_t *data;
	size_t size;

	if (p->bth.dest_qp != ROCE_GSI_QPN || p->payload_len != ROCE_MAD_LENGTH ||
	    !roce_cm_parse(mad, &msg))
		return false;
	data = private_data(&msg, &size);
	if (s->index >= size)
		return false;
	set_byte(data + s->index, s);
	return roce_cm_emit(&msg, mad);
}

bool fault_packet_set(struct roce_packet *pkt, uint8_t *payload, const struct fault_setting *s)
{
	switch ((unsigned)s->field) {
	case FAULT_FIELDS:
		return false;
	case FAULT_FIELD_PAYLOAD:
		if (s->index >= pkt->payload_len)
			return false;
		set_byte(payload + s->index, s);
		return true;
	case FAULT_FIELD_CM_PRIVATE:
		return set_private(pkt, payload, s);
	default:
		return set_number(pkt, s);
	}
}

/* ---- text ---- */

static bool parse_index(const char *p, uint64_t *out)
{
	uint64_t v = 0;

	if (!*p)
		return false;
	for (; *p >= '0' && *p <= '9' && v <= UINT32_MAX; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	*out = v;
	return *p == '\0';
}

bool fault_setting_parse(const char *text, uint64_t value, struct fault_setting *out)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	char name[FAULT_WORD_MAX];

	if (len >= sizeof(name))
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	*out = (struct fault_setting){.field = fault_field_find(name), .value = value};
	if (out->field == FAULT_FIELDS || fault_field_indexed(out->field) != (colon != NULL))
		return false;
	return !colon || parse_index(colon + 1, &out->index);
}
