/* SPDX-License-Identifier: BSD-2-Clause */
/* See packet_field.h. Numbers are cut to the width that the field has on the wire by emit. */
#include "packet_field.h"

#include "wire/bytes.h"
#include "wire/cm_msg.h"
#include "wire/syndrome.h"

#include <string.h>

/* ---- numbers, wherever they stand ---- */

static bool set_number(struct roce_packet *p, const struct fault_setting *s)
{
	const struct fault_field_word *w = &fault_field_words[s->field];
	void *at = (uint8_t *)p + w->at;
	uint64_t v = s->value;

	if (w->headers && !(roce_opcode_info(p->bth.opcode)->headers & w->headers))
		return false;
	if (s->field == FAULT_FIELD_CREDITS) {
		if (roce_syndrome_kind(p->aeth.syndrome) != ROCE_ACK)
			return false;
		v += s->relative ? roce_syndrome_value(p->aeth.syndrome) : 0;
		p->aeth.syndrome = roce_syndrome(ROCE_ACK, (uint8_t)(v & w->most));
		return true;
	}
	if (s->relative)
		v += roce_member_get(at, w->size);
	roce_member_set(at, w->size, v & w->most);
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
#define OF_(attr, member)                                                                          \
	case attr:                                                                                 \
		*size = sizeof(m->member.private_data);                                            \
		return m->member.private_data
	switch (m->attr) {
		OF_(ROCE_CM_REQ, req);
		OF_(ROCE_CM_MRA, mra);
		OF_(ROCE_CM_REJ, rej);
		OF_(ROCE_CM_REP, rep);
		OF_(ROCE_CM_RTU, rtu);
		OF_(ROCE_CM_DREQ, dreq);
		OF_(ROCE_CM_DREP, drep);
		OF_(ROCE_CM_SIDR_REQ, sidr_req);
		OF_(ROCE_CM_SIDR_REP, sidr_rep);
	}
#undef OF_
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
