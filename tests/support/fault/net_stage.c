/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets up a net with a plan, and lists the packets that come out. */
#include "net_stage.h"

#include "tests/support/wire/cmocka_all.h"
#include "wire/syndrome.h"

#include <string.h>

static void write_down(struct stage *s, const struct stage_event *e)
{
	assert_true(s->n < STAGE_MAX);
	s->event[s->n++] = *e;
}

static uint32_t sum_of(const struct core_burst *t, uint32_t offset, uint32_t length)
{
	uint32_t sum = 0, at = 0;

	for (unsigned i = 0; i < t->n_iov; i++)
		for (size_t k = 0; k < t->iov[i].iov_len; k++, at++)
			if (at >= offset && at - offset < length)
				sum += ((const uint8_t *)t->iov[i].iov_base)[k] * (1 + at - offset);
	return sum;
}

static void note_packets(struct stage *s, enum stage_fate fate, enum fault_direction dir,
			 const struct core_burst *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		struct stage_event e = {.fate = fate,
					.dir = dir,
					.given = t,
					.run = t->count,
					.now = s->now,
					.flow = t->flow,
					.model = t->model};
		uint32_t offset;

		core_burst_packet(t, i, &e.pkt, &offset);
		e.check = sum_of(t, offset, e.pkt.payload_len);
		write_down(s, &e);
	}
}

static void on_pass(void *user, enum fault_direction dir, const struct core_burst *t, uint64_t now)
{
	struct stage *s = user;

	assert_int_equal(now, s->now);
	note_packets(s, STAGE_PASSED, dir, t);
	if (s->then)
		s->then(s, dir, t);
}

static void on_dropped(void *user, enum fault_direction dir, const struct core_burst *t,
		       bool malformed, uint64_t now)
{
	struct stage *s = user;

	assert_int_equal(now, s->now);
	assert_int_equal(t->count, 1);
	note_packets(s, malformed ? STAGE_MALFORMED : STAGE_DROPPED, dir, t);
}

static void on_device_action(void *user, const struct fault_entry *e,
			     const struct fault_subject *subject, uint64_t now)
{
	struct stage_event event = {.fate = STAGE_NOTED, .code = 100 + (int)e->rule.action};

	(void)now;
	event.pkt = *subject->pkt;
	write_down(user, &event);
}

static void on_made(void *user, enum fault_direction dir, const struct core_burst *t, uint64_t now)
{
	(void)now;
	note_packets(user, STAGE_MADE, dir, t);
}

static void on_note(void *user, enum fault_note note, const struct core_burst *t, uint64_t now)
{
	struct stage_event e = {.fate = STAGE_NOTED, .code = (int)note, .pkt = t->head};

	(void)now;
	write_down(user, &e);
}

static bool on_look_up(void *user, uint32_t qpn, struct fault_qp *out)
{
	const struct stage *s = user;

	*out = s->qp;
	return s->knows_qps && qpn == STAGE_QPN;
}

static const struct fault_net_ops net_ops = {.pass = on_pass,
					     .dropped = on_dropped,
					     .device_action = on_device_action,
					     .made = on_made,
					     .note = on_note,
					     .look_up = on_look_up};
static const struct fault_plan_ops plan_ops = {.exists = NULL};

void stage_open(struct stage *s)
{
	memset(s, 0, sizeof *s);
	s->now = 1000;
	s->plan = fault_plan_create(1, &plan_ops, NULL);
	assert_non_null(s->plan);
	s->net = fault_net_create(s->plan, "uhca0", &net_ops, s);
	assert_non_null(s->net);
}

void stage_close(struct stage *s)
{
	fault_net_destroy(s->net);
	fault_plan_destroy(s->plan);
}

uint32_t stage_rule(struct stage *s, const char *text)
{
	struct fault_error error;
	int n = fault_plan_add(s->plan, text, s->now, &error);

	if (n <= 0)
		fail_msg("%s: column %u: %s", text, error.column, error.text);
	return (uint32_t)n;
}

/* ---- bursts ---- */

static void begin(struct stage *s, uint8_t opcode, uint32_t psn)
{
	struct core_burst *t = &s->burst;

	memset(t, 0, sizeof *t);
	t->head.bth = (struct roce_bth){.opcode.v = opcode,
					.migreq = true,
					.pkey = 0xffff,
					.dest_qp = STAGE_PEER,
					.psn = psn};
	t->last_opcode.v = opcode;
	t->flow = (struct roce_flow){.sport = 0xc000, .dport = ROCE_UDP_PORT, .hop_limit = 64};
	t->flow.src[10] = t->flow.src[11] = t->flow.dst[10] = t->flow.dst[11] = 0xff;
	t->flow.src[15] = 1;
	t->flow.dst[15] = 2;
	t->model.qpn = STAGE_QPN;
	t->count = 1;
}

static void fill(struct stage *s, uint32_t length)
{
	struct core_burst *t = &s->burst;
	uint32_t at = 0, piece = 700;

	for (uint32_t i = 0; i < length; i++)
		s->payload[i] = (uint8_t)(i * 7 + i / 256 + t->head.bth.psn);
	t->length = length;
	if (length <= STAGE_PAYLOAD)
		t->segment = length;
	while (at < length) {
		uint32_t len = length - at < piece ? length - at : piece;

		t->iov[t->n_iov++] = (struct iovec){s->payload + at, len};
		at += len;
		piece += 997;
	}
}

const struct core_burst *stage_write(struct stage *s, uint32_t packets, uint32_t psn)
{
	uint32_t length = packets * STAGE_PAYLOAD - STAGE_PAYLOAD / 2;

	begin(s, packets > 1 ? ROCE_RC_WRITE_FIRST : ROCE_RC_WRITE_ONLY, psn);
	s->burst.last_opcode.v = packets > 1 ? ROCE_RC_WRITE_LAST : ROCE_RC_WRITE_ONLY;
	s->burst.last_ackreq = true;
	s->burst.count = packets;
	s->burst.segment = STAGE_PAYLOAD;
	s->burst.head.reth = (struct roce_reth){0x1000, 0x42, length};
	s->burst.model.has_wr = true;
	s->burst.model.wr_id = 4711;
	fill(s, length);
	return &s->burst;
}

const struct core_burst *stage_send(struct stage *s, uint32_t psn)
{
	begin(s, ROCE_RC_SEND_ONLY, psn);
	s->burst.last_ackreq = true;
	fill(s, 100);
	return &s->burst;
}

const struct core_burst *stage_ack(struct stage *s, uint32_t psn)
{
	begin(s, ROCE_RC_ACKNOWLEDGE, psn);
	s->burst.head.aeth = (struct roce_aeth){roce_syndrome(ROCE_ACK, 5), 77};
	return &s->burst;
}

void stage_give(struct stage *s, enum fault_direction dir, const struct core_burst *t)
{
	fault_net_burst(s->net, dir, t, NULL, s->now);
}

uint32_t stage_sum(const struct stage *s, uint32_t i)
{
	struct roce_packet pkt;
	uint32_t offset;

	core_burst_packet(&s->burst, i, &pkt, &offset);
	return sum_of(&s->burst, offset, pkt.payload_len);
}

const struct stage_event *stage_expect(struct stage *s, unsigned n, enum stage_fate fate,
				       uint32_t psn)
{
	if (n >= s->n)
		fail_msg("only %u events, not %u", s->n, n + 1);
	assert_int_equal(s->event[n].fate, fate);
	assert_int_equal(s->event[n].pkt.bth.psn, psn);
	return &s->event[n];
}
