/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CM message bodies (IBTA vol. 1, 12.6.5 to 12.6.11, 12.11.1, 12.11.2; extended transport type
 * annex A14). Each message is one table: which member of the value struct stands at which bits of
 * the body. The same table reads and writes, so that the two cannot disagree. Bits count from the
 * most significant of the byte, as in the specification's drawings.
 */
#include "cm_msg.h"

#include "bytes.h"

#include <stddef.h>
#include <string.h>

struct field {
	uint8_t byte;
	uint8_t bit;
	uint8_t width; /* in bits, at most 57 unless it starts at a byte; 0: an array of bytes */
	uint8_t size;  /* of the member: 1, 2, 4, 8, or the length of the array */
	uint16_t member;
};

#define SIZE_(type, m) sizeof(((struct roce_cm_##type *)NULL)->m)
#define BITS_(type, m, byte, bit, width)                                                           \
	{                                                                                          \
		(byte), (bit), (width), SIZE_(type, m), offsetof(struct roce_cm_##type, m)         \
	}
#define WHOLE_(type, m, byte, width) BITS_(type, m, byte, 0, width)
#define BYTES_(type, m, byte)        BITS_(type, m, byte, 0, 0)
#define PATH_(p, base)                                                                             \
	WHOLE_(req, p.local_lid, (base) + 0, 16), WHOLE_(req, p.remote_lid, (base) + 2, 16),       \
		BYTES_(req, p.local_gid, (base) + 4), BYTES_(req, p.remote_gid, (base) + 20),      \
		WHOLE_(req, p.flow_label, (base) + 36, 20),                                        \
		BITS_(req, p.packet_rate, (base) + 39, 2, 6),                                      \
		WHOLE_(req, p.traffic_class, (base) + 40, 8),                                      \
		WHOLE_(req, p.hop_limit, (base) + 41, 8), BITS_(req, p.sl, (base) + 42, 0, 4),     \
		BITS_(req, p.subnet_local, (base) + 42, 4, 1),                                     \
		BITS_(req, p.local_ack_timeout, (base) + 43, 0, 5)

static const struct field req_fields[] = {
	WHOLE_(req, local_comm_id, 0, 32),
	WHOLE_(req, vendor_id, 5, 24),
	WHOLE_(req, service_id, 8, 64),
	WHOLE_(req, local_ca_guid, 16, 64),
	WHOLE_(req, local_qkey, 28, 32),
	WHOLE_(req, local_qpn, 32, 24),
	WHOLE_(req, responder_resources, 35, 8),
	WHOLE_(req, local_eecn, 36, 24),
	WHOLE_(req, initiator_depth, 39, 8),
	WHOLE_(req, remote_eecn, 40, 24),
	BITS_(req, remote_cm_response_timeout, 43, 0, 5),
	BITS_(req, transport, 43, 5, 2),
	BITS_(req, flow_control, 43, 7, 1),
	WHOLE_(req, starting_psn, 44, 24),
	BITS_(req, local_cm_response_timeout, 47, 0, 5),
	BITS_(req, retry_count, 47, 5, 3),
	WHOLE_(req, pkey, 48, 16),
	BITS_(req, path_mtu, 50, 0, 4),
	BITS_(req, rdc_exists, 50, 4, 1),
	BITS_(req, rnr_retry_count, 50, 5, 3),
	BITS_(req, max_cm_retries, 51, 0, 4),
	BITS_(req, srq, 51, 4, 1),
	BITS_(req, extended_transport, 51, 5, 3),
	PATH_(primary, 52),
	PATH_(alternate, 96),
	BYTES_(req, private_data, 140),
};

static const struct field mra_fields[] = {
	WHOLE_(mra, local_comm_id, 0, 32),  WHOLE_(mra, remote_comm_id, 4, 32),
	BITS_(mra, message_mraed, 8, 0, 2), BITS_(mra, service_timeout, 9, 0, 5),
	BYTES_(mra, private_data, 10),
};

static const struct field rej_fields[] = {
	WHOLE_(rej, local_comm_id, 0, 32),     WHOLE_(rej, remote_comm_id, 4, 32),
	BITS_(rej, message_rejected, 8, 0, 2), BITS_(rej, info_length, 9, 0, 7),
	WHOLE_(rej, reason, 10, 16),           BYTES_(rej, ari, 12),
	BYTES_(rej, private_data, 84),
};

static const struct field rep_fields[] = {
	WHOLE_(rep, local_comm_id, 0, 32),       WHOLE_(rep, remote_comm_id, 4, 32),
	WHOLE_(rep, local_qkey, 8, 32),          WHOLE_(rep, local_qpn, 12, 24),
	WHOLE_(rep, vendor_id_high, 15, 8),      WHOLE_(rep, local_eecn, 16, 24),
	WHOLE_(rep, vendor_id_middle, 19, 8),    WHOLE_(rep, starting_psn, 20, 24),
	WHOLE_(rep, vendor_id_low, 23, 8),       WHOLE_(rep, responder_resources, 24, 8),
	WHOLE_(rep, initiator_depth, 25, 8),     BITS_(rep, target_ack_delay, 26, 0, 5),
	BITS_(rep, failover_accepted, 26, 5, 2), BITS_(rep, flow_control, 26, 7, 1),
	BITS_(rep, rnr_retry_count, 27, 0, 3),   BITS_(rep, srq, 27, 3, 1),
	WHOLE_(rep, local_ca_guid, 28, 64),      BYTES_(rep, private_data, 36),
};

static const struct field rtu_fields[] = {
	WHOLE_(rtu, local_comm_id, 0, 32),
	WHOLE_(rtu, remote_comm_id, 4, 32),
	BYTES_(rtu, private_data, 8),
};

static const struct field dreq_fields[] = {
	WHOLE_(dreq, local_comm_id, 0, 32),
	WHOLE_(dreq, remote_comm_id, 4, 32),
	WHOLE_(dreq, remote_qpn, 8, 24),
	BYTES_(dreq, private_data, 12),
};

static const struct field drep_fields[] = {
	WHOLE_(drep, local_comm_id, 0, 32),
	WHOLE_(drep, remote_comm_id, 4, 32),
	BYTES_(drep, private_data, 8),
};

static const struct field sidr_req_fields[] = {
	WHOLE_(sidr_req, request_id, 0, 32),
	WHOLE_(sidr_req, pkey, 4, 16),
	WHOLE_(sidr_req, service_id, 8, 64),
	BYTES_(sidr_req, private_data, 16),
};

static const struct field sidr_rep_fields[] = {
	WHOLE_(sidr_rep, request_id, 0, 32),  WHOLE_(sidr_rep, status, 4, 8),
	WHOLE_(sidr_rep, info_length, 5, 8),  WHOLE_(sidr_rep, qpn, 8, 24),
	WHOLE_(sidr_rep, service_id, 12, 64), WHOLE_(sidr_rep, qkey, 20, 32),
	BYTES_(sidr_rep, info, 24),           BYTES_(sidr_rep, private_data, 96),
};

struct layout {
	const char *name;
	const struct field *fields;
	size_t count;
};

#define LAYOUT_(attr, text, table)                                                                 \
	[(attr)-ROCE_CM_REQ] = {(text), (table), sizeof(table) / sizeof((table)[0])}

static const struct layout layouts[] = {
	LAYOUT_(ROCE_CM_REQ, "REQ", req_fields),
	LAYOUT_(ROCE_CM_MRA, "MRA", mra_fields),
	LAYOUT_(ROCE_CM_REJ, "REJ", rej_fields),
	LAYOUT_(ROCE_CM_REP, "REP", rep_fields),
	LAYOUT_(ROCE_CM_RTU, "RTU", rtu_fields),
	LAYOUT_(ROCE_CM_DREQ, "DREQ", dreq_fields),
	LAYOUT_(ROCE_CM_DREP, "DREP", drep_fields),
	LAYOUT_(ROCE_CM_SIDR_REQ, "SIDR_REQ", sidr_req_fields),
	LAYOUT_(ROCE_CM_SIDR_REP, "SIDR_REP", sidr_rep_fields),
};

static const struct layout *find_layout(unsigned attr)
{
	const unsigned i = attr - ROCE_CM_REQ;

	return i < sizeof(layouts) / sizeof(layouts[0]) ? &layouts[i] : NULL;
}

/* Number of bytes that the field touches, and the bits of them that lie behind it. */
static unsigned span(const struct field *f, unsigned *behind)
{
	const unsigned bytes = (f->bit + f->width + 7u) / 8;

	*behind = bytes * 8 - f->bit - f->width;
	return bytes;
}

static uint64_t mask_of(const struct field *f)
{
	return UINT64_MAX >> (64 - f->width);
}

static uint64_t load_bits(const uint8_t *body, const struct field *f)
{
	unsigned behind;
	const unsigned bytes = span(f, &behind);
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | body[f->byte + i];
	return v >> behind & mask_of(f);
}

/* The bits must be zero before. */
static void store_bits(uint8_t *body, const struct field *f, uint64_t v)
{
	unsigned behind;

	v &= mask_of(f);
	for (unsigned i = span(f, &behind); i > 0; i--) {
		body[f->byte + i - 1] |= (uint8_t)(v << behind);
		v >>= 8 - behind;
		behind = 0;
	}
}

bool roce_cm_parse(const uint8_t mad[ROCE_MAD_LENGTH], struct roce_cm_msg *out)
{
	const uint8_t *body = mad + ROCE_MAD_HEADER_LENGTH;
	struct roce_mad header;

	roce_mad_parse(mad, &header);
	const struct layout *layout = find_layout(header.attr_id);

	if (!layout || header.base_version != ROCE_MAD_BASE_VERSION ||
	    header.mgmt_class != ROCE_MAD_CLASS_CM || header.class_version != ROCE_MAD_CM_VERSION ||
	    header.method != ROCE_MAD_SEND)
		return false;
	memset(out, 0, sizeof(*out));
	out->tid = header.tid;
	out->attr_mod = header.attr_mod;
	out->attr = (enum roce_cm_attr)header.attr_id;
	for (const struct field *f = layout->fields; f < layout->fields + layout->count; f++) {
		uint8_t *member = (uint8_t *)&out->req + f->member;

		if (f->width == 0)
			memcpy(member, body + f->byte, f->size);
		else
			roce_member_set(member, f->size, load_bits(body, f));
	}
	return true;
}

bool roce_cm_emit(const struct roce_cm_msg *msg, uint8_t mad[ROCE_MAD_LENGTH])
{
	const struct layout *layout = find_layout(msg->attr);
	const struct roce_mad header = {
		.base_version = ROCE_MAD_BASE_VERSION,
		.mgmt_class = ROCE_MAD_CLASS_CM,
		.class_version = ROCE_MAD_CM_VERSION,
		.method = ROCE_MAD_SEND,
		.tid = msg->tid,
		.attr_id = (uint16_t)msg->attr,
		.attr_mod = msg->attr_mod,
	};
	uint8_t *body = mad + ROCE_MAD_HEADER_LENGTH;

	if (!layout)
		return false;
	roce_mad_emit(&header, mad);
	memset(body, 0, ROCE_MAD_DATA_LENGTH);
	for (const struct field *f = layout->fields; f < layout->fields + layout->count; f++) {
		const uint8_t *member = (const uint8_t *)&msg->req + f->member;

		if (f->width == 0)
			memcpy(body + f->byte, member, f->size);
		else
			store_bits(body, f, roce_member_get(member, f->size));
	}
	return true;
}

const char *roce_cm_name(uint16_t attr_id)
{
	const struct layout *layout = find_layout(attr_id);

	return layout ? layout->name : NULL;
}
