/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CM messages: every field against a second table in another notation (the 32-bit word of the
 * body it stands in and its mask there), round trips with random values, and refusals.
 */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "wire/cm_msg.h"

#include <stdio.h>
#include <string.h>

static struct prng rng;

/* A field of one word has its mask; longer ones say how many bytes they take. */
struct place {
	enum roce_cm_attr attr;
	size_t member;
	size_t size;
	unsigned offset;
	uint32_t mask;
	unsigned bytes;
	const char *name;
};

#define AT(A, type, m)                                                                             \
	A, offsetof(struct roce_cm_msg, type.m), sizeof(((struct roce_cm_msg *)0)->type.m)
#define W(A, type, m, offset, mask)                                                                \
	{                                                                                          \
		AT(A, type, m), (offset), (mask), 0, #type "." #m                                  \
	}
#define B(A, type, m, offset, n)                                                                   \
	{                                                                                          \
		AT(A, type, m), (offset), 0, (n), #type "." #m                                     \
	}
#define REQ(m, offset, mask) W(ROCE_CM_REQ, req, m, offset, mask)
#define REP(m, offset, mask) W(ROCE_CM_REP, rep, m, offset, mask)
#define IDS(A, type)                                                                               \
	W(A, type, local_comm_id, 0, 0xffffffff), W(A, type, remote_comm_id, 4, 0xffffffff)
#define PATH(p, base)                                                                              \
	REQ(p.local_lid, (base), 0xffff0000), REQ(p.remote_lid, (base), 0x0000ffff),               \
		B(ROCE_CM_REQ, req, p.local_gid, (base) + 4, 16),                                  \
		B(ROCE_CM_REQ, req, p.remote_gid, (base) + 20, 16),                                \
		REQ(p.flow_label, (base) + 36, 0xfffff000),                                        \
		REQ(p.packet_rate, (base) + 36, 0x0000003f),                                       \
		REQ(p.traffic_class, (base) + 40, 0xff000000),                                     \
		REQ(p.hop_limit, (base) + 40, 0x00ff0000), REQ(p.sl, (base) + 40, 0x0000f000),     \
		REQ(p.subnet_local, (base) + 40, 0x00000800),                                      \
		REQ(p.local_ack_timeout, (base) + 40, 0x000000f8)

/* clang-format off */
static const struct place places[] = {
	REQ(local_comm_id, 0, 0xffffffff), REQ(vendor_id, 4, 0x00ffffff),
	B(ROCE_CM_REQ, req, service_id, 8, 8),
	B(ROCE_CM_REQ, req, local_ca_guid, 16, 8),
	REQ(local_qkey, 28, 0xffffffff),
	REQ(local_qpn, 32, 0xffffff00), REQ(responder_resources, 32, 0xff),
	REQ(local_eecn, 36, 0xffffff00), REQ(initiator_depth, 36, 0xff),
	REQ(remote_eecn, 40, 0xffffff00), REQ(remote_cm_response_timeout, 40, 0xf8),
	REQ(transport, 40, 0x06), REQ(flow_control, 40, 0x01),
	REQ(starting_psn, 44, 0xffffff00), REQ(local_cm_response_timeout, 44, 0xf8),
	REQ(retry_count, 44, 0x07),
	REQ(pkey, 48, 0xffff0000), REQ(path_mtu, 48, 0xf000), REQ(rdc_exists, 48, 0x0800),
	REQ(rnr_retry_count, 48, 0x0700), REQ(max_cm_retries, 48, 0xf0), REQ(srq, 48, 0x08),
	REQ(extended_transport, 48, 0x07),
	PATH(primary, 52), PATH(alternate, 96),
	B(ROCE_CM_REQ, req, private_data, 140, 92),

	IDS(ROCE_CM_MRA, mra),
	W(ROCE_CM_MRA, mra, message_mraed, 8, 0xc0000000),
	W(ROCE_CM_MRA, mra, service_timeout, 8, 0x00f80000),
	B(ROCE_CM_MRA, mra, private_data, 10, 222),

	IDS(ROCE_CM_REJ, rej),
	W(ROCE_CM_REJ, rej, message_rejected, 8, 0xc0000000),
	W(ROCE_CM_REJ, rej, info_length, 8, 0x00fe0000),
	W(ROCE_CM_REJ, rej, reason, 8, 0x0000ffff),
	B(ROCE_CM_REJ, rej, ari, 12, 72),
	B(ROCE_CM_REJ, rej, private_data, 84, 148),

	IDS(ROCE_CM_REP, rep),
	REP(local_qkey, 8, 0xffffffff), REP(local_qpn, 12, 0xffffff00),
	REP(local_eecn, 16, 0xffffff00), REP(starting_psn, 20, 0xffffff00),
	REP(vendor_id_high, 12, 0xff), REP(vendor_id_middle, 16, 0xff),
	REP(vendor_id_low, 20, 0xff),
	REP(responder_resources, 24, 0xff000000), REP(initiator_depth, 24, 0x00ff0000),
	REP(target_ack_delay, 24, 0xf800), REP(failover_accepted, 24, 0x0600),
	REP(flow_control, 24, 0x0100), REP(rnr_retry_count, 24, 0xe0), REP(srq, 24, 0x10),
	B(ROCE_CM_REP, rep, local_ca_guid, 28, 8),
	B(ROCE_CM_REP, rep, private_data, 36, 196),

	IDS(ROCE_CM_RTU, rtu), B(ROCE_CM_RTU, rtu, private_data, 8, 224),

	IDS(ROCE_CM_DREQ, dreq), W(ROCE_CM_DREQ, dreq, remote_qpn, 8, 0xffffff00),
	B(ROCE_CM_DREQ, dreq, private_data, 12, 220),

	IDS(ROCE_CM_DREP, drep), B(ROCE_CM_DREP, drep, private_data, 8, 224),

	W(ROCE_CM_SIDR_REQ, sidr_req, request_id, 0, 0xffffffff),
	W(ROCE_CM_SIDR_REQ, sidr_req, pkey, 4, 0xffff0000),
	B(ROCE_CM_SIDR_REQ, sidr_req, service_id, 8, 8),
	B(ROCE_CM_SIDR_REQ, sidr_req, private_data, 16, 216),

	W(ROCE_CM_SIDR_REP, sidr_rep, request_id, 0, 0xffffffff),
	W(ROCE_CM_SIDR_REP, sidr_rep, status, 4, 0xff000000),
	W(ROCE_CM_SIDR_REP, sidr_rep, info_length, 4, 0x00ff0000),
	W(ROCE_CM_SIDR_REP, sidr_rep, qpn, 8, 0xffffff00),
	B(ROCE_CM_SIDR_REP, sidr_rep, service_id, 12, 8),
	W(ROCE_CM_SIDR_REP, sidr_rep, qkey, 20, 0xffffffff),
	B(ROCE_CM_SIDR_REP, sidr_rep, info, 24, 72),
	B(ROCE_CM_SIDR_REP, sidr_rep, private_data, 96, 136),
};
/* clang-format on */
#define PLACES (sizeof(places) / sizeof(places[0]))

static const enum roce_cm_attr attrs[] = {
	ROCE_CM_REQ,  ROCE_CM_MRA,  ROCE_CM_REJ,      ROCE_CM_REP,      ROCE_CM_RTU,
	ROCE_CM_DREQ, ROCE_CM_DREP, ROCE_CM_SIDR_REQ, ROCE_CM_SIDR_REP,
};
#define ATTRS (sizeof(attrs) / sizeof(attrs[0]))

/* The bytes of the body that the field owns, as ones. */
static void expected_ones(const struct place *p, uint8_t body[ROCE_MAD_DATA_LENGTH])
{
	memset(body, 0, ROCE_MAD_DATA_LENGTH);
	if (p->bytes)
		memset(body + p->offset, 0xff, p->bytes);
	else
		for (unsigned i = 0; i < 4; i++)
			body[p->offset + i] = (uint8_t)(p->mask >> (24 - 8 * i));
}

static bool one_bit(uint32_t mask)
{
	return mask != 0 && (mask & (mask - 1)) == 0;
}

/* All ones; a flag must stay a valid bool. */
static void set_ones(const struct place *p, struct roce_cm_msg *msg)
{
	memset((uint8_t *)msg + p->member, one_bit(p->mask) ? 1 : 0xff, p->size);
}

/* Each field alone: emit sets its bits and no other, parse finds its value and nothing else. */
static void test_each_field_has_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		struct roce_cm_msg msg;
		struct roce_cm_msg back;
		uint8_t mad[ROCE_MAD_LENGTH];
		uint8_t body[ROCE_MAD_DATA_LENGTH];

		memset(&msg, 0, sizeof(msg));
		msg.attr = places[i].attr;
		set_ones(&places[i], &msg);
		assert_true(roce_cm_emit(&msg, mad));
		expected_ones(&places[i], body);
		if (memcmp(mad + ROCE_MAD_HEADER_LENGTH, body, sizeof(body)) != 0)
			fail_msg("%s is not where it should be", places[i].name);
		assert_true(roce_cm_parse(mad, &back));
		assert_true(roce_cm_emit(&back, mad));
		assert_memory_equal(mad + ROCE_MAD_HEADER_LENGTH, body, sizeof(body));
	}
}

/* Each message's places do not overlap, and the fields of all tables were all of the message. */
static void test_places_do_not_overlap(void **state)
{
	(void)state;
	for (size_t a = 0; a < ATTRS; a++) {
		uint8_t owned[ROCE_MAD_DATA_LENGTH] = {0};
		uint8_t mad[ROCE_MAD_LENGTH];
		struct roce_cm_msg msg;

		for (size_t i = 0; i < PLACES; i++) {
			uint8_t body[ROCE_MAD_DATA_LENGTH];

			if (places[i].attr != attrs[a])
				continue;
			expected_ones(&places[i], body);
			for (size_t j = 0; j < sizeof(body); j++) {
				assert_int_equal(owned[j] & body[j], 0);
				owned[j] |= body[j];
			}
		}
		/* A body of ones comes back with ones in the owned bits and zeros in the others. */
		memset(mad, 0, sizeof(mad));
		msg.attr = attrs[a];
		msg.tid = 0;
		memset(&msg.req, 0, sizeof(msg.req));
		assert_true(roce_cm_emit(&msg, mad));
		memset(mad + ROCE_MAD_HEADER_LENGTH, 0xff, ROCE_MAD_DATA_LENGTH);
		assert_true(roce_cm_parse(mad, &msg));
		assert_true(roce_cm_emit(&msg, mad));
		assert_memory_equal(mad + ROCE_MAD_HEADER_LENGTH, owned, sizeof(owned));
	}
}

/* Random bodies: the value of the bytes, the bytes of the value, and the value of those again. */
static void test_round_trip(void **state)
{
	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct roce_cm_msg first;
		struct roce_cm_msg second;
		uint8_t mad[ROCE_MAD_LENGTH];

		prng_fill(&rng, mad, sizeof(mad));
		mad[0] = 1;
		mad[1] = 7;
		mad[2] = 2;
		mad[3] = 3;
		mad[16] = 0;
		mad[17] = (uint8_t)attrs[prng_below(&rng, ATTRS)];
		assert_true(roce_cm_parse(mad, &first));
		assert_int_equal(first.attr, mad[17]);
		memset(mad, 0xdb, sizeof(mad));
		assert_true(roce_cm_emit(&first, mad));
		assert_true(roce_cm_parse(mad, &second));
		assert_memory_equal(&first, &second, sizeof(first));
	}
}

static void test_header(void **state)
{
	const struct roce_cm_msg msg = {.tid = 0x1122334455667788, .attr = ROCE_CM_RTU};
	const uint8_t expected[ROCE_MAD_HEADER_LENGTH] = {
		1,    7,    2,    3,    0,    0,    0,    0,    0x11, 0x22, 0x33, 0x44,
		0x55, 0x66, 0x77, 0x88, 0x00, 0x14, 0x00, 0x00, 0,    0,    0,    0,
	};
	uint8_t mad[ROCE_MAD_LENGTH];

	(void)state;
	assert_true(roce_cm_emit(&msg, mad));
	assert_memory_equal(mad, expected, sizeof(expected));
}

static void test_refused(void **state)
{
	struct roce_cm_msg msg = {.attr = ROCE_CM_REQ};
	struct roce_cm_msg out;
	uint8_t mad[ROCE_MAD_LENGTH];

	(void)state;
	assert_true(roce_cm_emit(&msg, mad));
	assert_true(roce_cm_parse(mad, &out));
	for (size_t i = 0; i < 4; i++) {
		mad[i] ^= 0x80;
		assert_false(roce_cm_parse(mad, &out));
		mad[i] ^= 0x80;
	}
	for (unsigned attr = 0; attr < 65536; attr++) {
		mad[16] = (uint8_t)(attr >> 8);
		mad[17] = (uint8_t)attr;
		assert_int_equal(roce_cm_parse(mad, &out), attr >= 0x10 && attr <= 0x18);
	}
	memset(mad, 0x5a, sizeof(mad));
	msg.attr = (enum roce_cm_attr)0x19;
	assert_false(roce_cm_emit(&msg, mad));
	for (size_t i = 0; i < sizeof(mad); i++)
		assert_int_equal(mad[i], 0x5a);
}

static void test_names(void **state)
{
	static const char *const names[ATTRS] = {"REQ",  "MRA",  "REJ",      "REP",     "RTU",
						 "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"};

	(void)state;
	for (size_t i = 0; i < ATTRS; i++)
		assert_string_equal(roce_cm_name((uint16_t)attrs[i]), names[i]);
	assert_null(roce_cm_name(0));
	assert_null(roce_cm_name(0x0f));
	assert_null(roce_cm_name(0x19));
	assert_null(roce_cm_name(0xffff));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_field_has_its_place),
		cmocka_unit_test(test_places_do_not_overlap),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_names),
	};

	rng = prng_start("cm_msg");
	return cmocka_run_group_tests_name("cm_msg", tests, NULL, NULL);
}
