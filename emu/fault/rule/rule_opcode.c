/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses opcode= into a set of opcodes, and restricts it to what an action needs. */
#include "rule_opcode.h"

#include "wire/mad.h"
#include "wire/syndrome.h"

#include <stdio.h>
#include <string.h>

/* A class is some operations, or some kinds of Acknowledge packets. */
struct class
{
	const char *name;
	uint32_t operations; /* bits 1 << enum roce_operation */
	uint8_t kinds;       /* bits 1 << enum roce_ack_kind; 0: the opcode is enough */
	bool gsi;
};

#define OP_(name) (1u << ROCE_OP_##name)
#define READS_    OP_(READ_REQ)
#define ATOMICS_                                                                                   \
	(OP_(CMP_SWAP) | OP_(FETCH_ADD) | OP_(MASKED_CMP_SWAP) | OP_(MASKED_FETCH_ADD) |           \
	 OP_(ATOMIC_WRITE))
#define REQUESTS_  (OP_(SEND) | OP_(WRITE) | READS_ | ATOMICS_ | OP_(FLUSH))
#define RESPONSES_ (OP_(READ_RESP) | OP_(ACK) | OP_(ATOMIC_ACK))

static const struct class classes[] = {
	{"request", REQUESTS_, 0, false},
	{"response", RESPONSES_, 0, false},
	{"send", OP_(SEND), 0, false},
	{"write", OP_(WRITE), 0, false},
	{"read", READS_, 0, false},
	{"read_response", OP_(READ_RESP), 0, false},
	{"atomic", ATOMICS_, 0, false},
	{"atomic_ack", OP_(ATOMIC_ACK), 0, false},
	{"flush", OP_(FLUSH), 0, false},
	{"ack", 0, 1u << ROCE_ACK, false},
	{"nak", 0, 1u << ROCE_NAK, false},
	{"rnr", 0, 1u << ROCE_RNR_NAK, false},
	{"cnp", OP_(CNP), 0, false},
	{"cm", 0, 0, true},
	{NULL, 0, 0, false},
};

struct service {
	const char *name;
	enum roce_service service;
};

static const struct service services[] = {
	{"rc", ROCE_SVC_RC},   {"uc", ROCE_SVC_UC},   {"ud", ROCE_SVC_UD},
	{"xrc", ROCE_SVC_XRC}, {"cnp", ROCE_SVC_CNP}, {NULL, ROCE_SVC_RC},
};

/* Names for "did you mean": classes, services, then the opcodes that there are. */
static const char *name_at(const void *table, unsigned i)
{
	const unsigned n_classes = sizeof(classes) / sizeof(classes[0]) - 1;
	const unsigned n_services = sizeof(services) / sizeof(services[0]) - 1;

	(void)table;
	if (i < n_classes)
		return classes[i].name;
	i -= n_classes;
	if (i < n_services)
		return services[i].name;
	i -= n_services;
	for (unsigned op = 0; op < 256; op++)
		if (roce_opcode_table[op].name && i-- == 0)
			return roce_opcode_table[op].name;
	return NULL;
}

static void add(struct fault_select *s, unsigned op)
{
	s->opcode[op / 8] |= (uint8_t)(1u << op % 8);
}

static bool has(const struct fault_select *s, unsigned op)
{
	return s->opcode[op / 8] >> op % 8 & 1;
}

/* service NULL: of all. Returns whether there is such a thing. */
static bool add_class(struct fault_select *s, const struct class *c, const struct service *service)
{
	bool any = false;

	for (unsigned op = 0; op < 256; op++) {
		const struct roce_opcode_info *info = &roce_opcode_table[op];

		if (!info->name || (service && info->service != service->service))
			continue;
		if (c->operations >> info->operation & 1) {
			add(s, op);
			any = true;
		}
		if (c->kinds && info->operation == ROCE_OP_ACK) {
			s->ack_kinds[info->service == ROCE_SVC_XRC] |= c->kinds;
			any = true;
		}
		if (c->gsi && info->service == ROCE_SVC_UD) {
			s->to_gsi = true;
			any = true;
		}
	}
	return any;
}

static bool add_glob(struct fault_select *s, struct fault_piece p)
{
	bool any = false;

	for (unsigned op = 0; op < 256; op++) {
		if (!roce_opcode_table[op].name || !fault_glob(p, roce_opcode_table[op].name))
			continue;
		add(s, op);
		any = true;
	}
	return any;
}

static bool add_service(struct fault_select *s, const struct service *service)
{
	static const struct class everything = {"", UINT32_MAX, 0, false};

	return add_class(s, &everything, service);
}

static const struct service *service_find(struct fault_piece p)
{
	const struct service *v = services;

	while (v->name && !fault_piece_is(p, v->name))
		v++;
	return v->name ? v : NULL;
}

static const struct class *class_find(struct fault_piece p)
{
	const struct class *c = classes;

	while (c->name && !fault_piece_is(p, c->name))
		c++;
	return c->name ? c : NULL;
}

/* 1 taken, 0 unknown, -EINVAL */
static int add_one(const struct fault_text *t, struct fault_piece p, struct fault_select *s)
{
	struct fault_piece rest = p;
	const struct fault_piece head = fault_piece_cut(&rest, '.');
	const struct service *service = service_find(head);
	const struct class *c = class_find(service && rest.length ? rest : p);

	if (c && service && rest.length) {
		if (!add_class(s, c, service))
			return fault_fail(t, p.at, "%s has no %s packets", service->name, c->name);
		return 1;
	}
	if (c)
		return add_class(s, c, NULL);
	if (service && (!rest.length || fault_piece_is(rest, "*")))
		return add_service(s, service);
	return add_glob(s, p);
}

const char *fault_class_at(const void *table, unsigned i)
{
	(void)table;
	return classes[i].name;
}

static int unknown(const struct fault_text *t, struct fault_piece p)
{
	struct fault_piece rest = p;
	const struct service *service = service_find(fault_piece_cut(&rest, '.'));
	const char *nearest = NULL;
	char name[FAULT_WORD_MAX], hint[FAULT_WORD_MAX];

	if (service && rest.length) {
		nearest = fault_nearest(rest, fault_class_at, NULL);
		snprintf(name, sizeof(name), "%s.%s", service->name, nearest ? nearest : "");
		nearest = nearest ? name : NULL;
	} else {
		nearest = fault_nearest(p, name_at, NULL);
	}
	return fault_fail(t, p.at, "unknown opcode '%.*s'%s", (int)p.length, p.at,
			  words_hint(nearest, hint, sizeof(hint)));
}

int fault_opcode_parse(const struct fault_text *t, struct fault_piece p, struct fault_select *s)
{
	s->by_opcode = true;
	for (bool more = true; more;) {
		more = p.length && memchr(p.at, ',', p.length);
		const struct fault_piece one = fault_piece_cut(&p, ',');
		const int taken = add_one(t, one, s);

		if (taken <= 0)
			return taken ? taken : unknown(t, one);
	}
	return 0;
}

static bool meets(const struct roce_opcode_info *info, const struct fault_opcode_need *need)
{
	const bool acked = info->service == ROCE_SVC_RC || info->service == ROCE_SVC_XRC;

	if (!info->name || (info->headers & need->headers) != need->headers)
		return false;
	return !need->answered || (acked && (REQUESTS_ >> info->operation & 1));
}

static void take_away(struct fault_select *s, unsigned op)
{
	s->opcode[op / 8] &= (uint8_t) ~(1u << op % 8);
}

/* Of Acknowledge packets those that are ACKs. */
static void keep_acks(struct fault_select *s)
{
	static const uint8_t opcodes[2] = {ROCE_RC_ACKNOWLEDGE, ROCE_XRC_ACKNOWLEDGE};

	for (unsigned i = 0; i < 2; i++) {
		if (has(s, opcodes[i]))
			s->ack_kinds[i] |= 1u << ROCE_ACK;
		take_away(s, opcodes[i]);
		s->ack_kinds[i] &= 1u << ROCE_ACK;
	}
}

bool fault_opcode_restrict(struct fault_select *s, const struct fault_opcode_need *need)
{
	bool left = false;

	if (!s->by_opcode)
		memset(s->opcode, 0xff, sizeof(s->opcode));
	s->by_opcode = true;
	if (need->acks_only)
		keep_acks(s);
	for (unsigned op = 0; op < 256; op++) {
		if (!meets(&roce_opcode_table[op], need))
			take_away(s, op);
		left = left || has(s, op);
	}
	if (!meets(roce_opcode_info((roce_opcode){ROCE_RC_ACKNOWLEDGE}), need))
		s->ack_kinds[0] = s->ack_kinds[1] = 0;
	s->to_gsi = s->to_gsi && need->gsi;
	return left || s->ack_kinds[0] || s->ack_kinds[1] || s->to_gsi;
}

bool fault_opcode_selects(const struct fault_select *s, const struct roce_packet *pkt)
{
	const struct roce_opcode_info *info = roce_opcode_info(pkt->bth.opcode);

	if (has(s, pkt->bth.opcode.v))
		return true;
	if (info->name && info->operation == ROCE_OP_ACK)
		return s->ack_kinds[info->service == ROCE_SVC_XRC] >>
			       roce_syndrome_kind(pkt->aeth.syndrome) &
		       1;
	return s->to_gsi && pkt->bth.dest_qp == ROCE_GSI_QPN;
}

const char *fault_opcode_at(unsigned i)
{
	for (unsigned op = 0; op < 256; op++)
		if (roce_opcode_table[op].name && i-- == 0)
			return roce_opcode_table[op].name;
	return NULL;
}
