/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Our connection manager in either place of the captured conversations of rping and udaddy: the
 * other end's messages arrive as they were captured, but for the communication ids, and each of
 * ours is the captured one but for the fields of the table.
 */
#include "conversation.h"
#include "differences.h"
#include "emu/abi/cmd.h"
#include "emu/core/base/source_port.h"
#include "emu/core/core.h"
#include "emu/core/core_cm.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"
#include "wire/cm_msg.h"
#include "wire/psn.h"

#include <stdio.h>
#include <string.h>

#define RTR        2
#define RTS        3
#define MAX_EVENTS 8

enum field_kind {
	FIELD_ID,       /* chosen by each end, the same in all its messages */
	FIELD_TID,      /* chosen by who asks first, the same in all messages */
	FIELD_PSN,      /* chosen by each end */
	FIELD_CONSTANT, /* always these two values */
};

/* Where a message of ours may differ from the captured one. */
struct field {
	enum roce_cm_attr attr; /* 0: all */
	const char *name;
	size_t offset, size; /* in struct roce_cm_msg */
	enum field_kind kind;
	uint64_t ours, theirs;
	const char *why;
};

#define FIELD(member)                                                                              \
	offsetof(struct roce_cm_msg, member), sizeof(((struct roce_cm_msg *)0)->member)

static const struct field fields[] = {
	{0, "tid", FIELD(tid), FIELD_TID, 0, 0, "anything unique"},
	{ROCE_CM_REQ, "local id", FIELD(req.local_comm_id), FIELD_ID, 0, 0, "anything unique"},
	{ROCE_CM_REQ, "starting PSN", FIELD(req.starting_psn), FIELD_PSN, 0, 0, "random"},
	{ROCE_CM_REQ, "remote CM timeout", FIELD(req.remote_cm_response_timeout), FIELD_CONSTANT,
	 18, 20, "1.07 s between repetitions; Linux waits 4.3 s"},
	{ROCE_CM_REQ, "local CM timeout", FIELD(req.local_cm_response_timeout), FIELD_CONSTANT, 18,
	 20, "the same"},
	{ROCE_CM_REQ, "ACK timeout", FIELD(req.primary.local_ack_timeout), FIELD_CONSTANT, 17, 19,
	 "0.54 s; Linux takes 2.1 s unless the program says"},
	{ROCE_CM_REP, "local id", FIELD(rep.local_comm_id), FIELD_ID, 0, 0, "anything unique"},
	{ROCE_CM_REP, "starting PSN", FIELD(rep.starting_psn), FIELD_PSN, 0, 0, "random"},
	{ROCE_CM_RTU, "local id", FIELD(rtu.local_comm_id), FIELD_ID, 0, 0, "as in the REQ"},
	{ROCE_CM_DREQ, "local id", FIELD(dreq.local_comm_id), FIELD_ID, 0, 0, "as in the REQ"},
	{ROCE_CM_DREP, "local id", FIELD(drep.local_comm_id), FIELD_ID, 0, 0, "as in the REP"},
	{ROCE_CM_SIDR_REQ, "id", FIELD(sidr_req.request_id), FIELD_ID, 0, 0, "anything unique"},
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Our end and its place in the conversation. */
struct stage {
	struct conversation c;
	const struct spoken *mine; /* our first message, as captured */
	struct core_ops ops;
	struct prng rng;
	struct device *dev;
	struct cm *cm;
	struct core_cm_request request;
	unsigned n_events;
	enum core_cm_event_type event[MAX_EVENTS];
	uint32_t event_qpn, event_qkey; /* of the last */
	uint64_t tid;                   /* ours; 0: not seen yet */
	uint32_t id, psn;               /* ours, as announced */
	struct difference_count differences;
};

static struct stage st;

static void fill_random(void *user, void *buf, size_t len)
{
	(void)user;
	prng_fill(&st.rng, buf, len);
}

static int on_request(void *user, struct cm *cm, const struct core_cm_request *req, void **cookie)
{
	(void)user;
	assert_null(st.cm);
	st.cm = cm;
	st.request = *req;
	*cookie = &st;
	return 0;
}

static void on_event(void *cookie, const struct core_cm_event *e)
{
	assert_ptr_equal(cookie, &st);
	assert_true(st.n_events < MAX_EVENTS);
	st.event[st.n_events++] = e->type;
	st.event_qpn = e->param.qpn;
	st.event_qkey = e->param.qkey;
}

static const struct core_cm_ops cm_ops = {.request = on_request, .event = on_event};

static struct roce_cm_msg parse(const struct spoken *s)
{
	struct roce_cm_msg msg;

	assert_true(roce_cm_parse(s->pkt.payload, &msg));
	return msg;
}

/* The captured message of this kind, and where it stands. */
static struct roce_cm_msg captured(enum roce_cm_attr attr, const struct spoken **s)
{
	for (unsigned i = 0; i < st.c.n; i++) {
		struct roce_cm_msg msg = parse(&st.c.packet[i]);

		if (msg.attr != attr)
			continue;
		*s = &st.c.packet[i];
		return msg;
	}
	fail_msg("%s has no %s", st.c.name, roce_cm_name((uint16_t)attr));
	return (struct roce_cm_msg){0};
}

/* GUID that the REQ or the REP of our end names. */
static uint64_t captured_guid(void)
{
	for (unsigned i = 0; i < st.c.n; i++) {
		struct roce_cm_msg msg = parse(&st.c.packet[i]);

		if (!spoken_together(&st.c.packet[i], st.mine))
			continue;
		if (msg.attr == ROCE_CM_REQ)
			return msg.req.local_ca_guid;
		if (msg.attr == ROCE_CM_REP)
			return msg.rep.local_ca_guid;
	}
	return 1; /* datagrams name none */
}

static void start(const char *name, unsigned first_of_mine)
{
	struct core_config cfg;

	memset(&st, 0, sizeof(st));
	conversation_open(&st.c, name, CONVERSATION_CM);
	st.mine = &st.c.packet[first_of_mine];
	st.ops.random = fill_random;
	memset(&cfg, 0, sizeof(cfg));
	core_config_default(&cfg);
	cfg.node_guid = captured_guid();
	cfg.active_mtu = 3; /* the captured network's: 1024 bytes */
	memcpy(cfg.gid[0], st.mine->flow.src, 16);
	st.dev = core_create(&st.ops, NULL, &cfg);
	assert_non_null(st.dev);
	core_cm_set_ops(st.dev, &cm_ops, &st);
}

static void finish(void)
{
	assert_int_equal(core_counters(st.dev)->drops[CORE_DROP_SERVICE], 0);
	core_destroy(st.dev);
	conversation_close(&st.c);
}

/* ---- what comes ---- */

static void deliver(const struct spoken *s, const struct roce_cm_msg *msg)
{
	uint8_t mad[ROCE_MAD_LENGTH];
	struct roce_packet pkt = s->pkt;
	struct core_burst t;

	assert_true(roce_cm_emit(msg, mad));
	pkt.payload = mad;
	core_burst_start(&t, &pkt, &s->flow);
	t.from_network = true;
	core_rx(st.dev, 1000000, &t);
}

/* The captured message with our id and transaction in place of those of soft-RoCE. */
static void hear(enum roce_cm_attr attr)
{
	const struct spoken *s;
	struct roce_cm_msg msg = captured(attr, &s);

	assert_false(spoken_together(s, st.mine));
	if (st.tid)
		msg.tid = st.tid;
	if (attr == ROCE_CM_REP)
		msg.rep.remote_comm_id = st.id;
	else if (attr == ROCE_CM_RTU)
		msg.rtu.remote_comm_id = st.id;
	else if (attr == ROCE_CM_DREQ)
		msg.dreq.remote_comm_id = st.id;
	else if (attr == ROCE_CM_DREP)
		msg.drep.remote_comm_id = st.id;
	else if (attr == ROCE_CM_SIDR_REP)
		msg.sidr_rep.request_id = st.id;
	deliver(s, &msg);
}

/* ---- what we say ---- */

static uint64_t load(const struct roce_cm_msg *msg, const struct field *f)
{
	const uint8_t *p = (const uint8_t *)msg + f->offset;
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	memcpy(&v2, p, sizeof(v2));
	memcpy(&v4, p, sizeof(v4));
	if (f->size == 1)
		return *p;
	if (f->size == 2)
		return v2;
	if (f->size == 4)
		return v4;
	assert_int_equal(f->size, 8);
	memcpy(&v8, p, sizeof(v8));
	return v8;
}

/* What was chosen once stays so. */
static void check_chosen(const struct field *f, uint64_t value)
{
	if (f->kind == FIELD_TID) {
		assert_true(!st.tid || st.tid == value);
		st.tid = value;
	} else if (f->kind == FIELD_ID) {
		assert_true(!st.id || st.id == value);
		st.id = (uint32_t)value;
	}
}

static void level_field(const struct field *f, struct roce_cm_msg *ours,
			const struct roce_cm_msg *theirs)
{
	const uint64_t a = load(ours, f), b = load(theirs, f);

	if (f->kind == FIELD_CONSTANT) {
		if (a != f->ours || b != f->theirs)
			fail_msg("%s %s %s: %llu and %llu", st.c.name,
				 roce_cm_name((uint16_t)f->attr), f->name, (unsigned long long)a,
				 (unsigned long long)b);
	} else if (f->kind == FIELD_PSN) {
		assert_true(a <= ROCE_PSN_MASK);
		st.psn = (uint32_t)a;
	} else {
		assert_int_not_equal(a, 0);
		check_chosen(f, a);
	}
	memcpy((uint8_t *)ours + f->offset, (const uint8_t *)theirs + f->offset, f->size);
}

/* Ids by which an answer names what it answers: its peer's, that is, the captured ones. */
static void compare_mad(const uint8_t *mad, const struct roce_cm_msg *theirs)
{
	uint8_t a[ROCE_MAD_LENGTH], b[ROCE_MAD_LENGTH];
	struct roce_cm_msg ours;

	assert_true(roce_cm_parse(mad, &ours));
	assert_int_equal(ours.attr, theirs->attr);
	for (size_t i = 0; i < FIELDS; i++)
		if (!fields[i].attr || fields[i].attr == theirs->attr)
			level_field(&fields[i], &ours, theirs);
	assert_true(roce_cm_emit(&ours, a));
	assert_true(roce_cm_emit(theirs, b));
	for (size_t i = 0; i < sizeof(a); i++)
		if (a[i] != b[i])
			fail_msg("%s %s: byte %zu is %02x, soft-RoCE's %02x", st.c.name,
				 roce_cm_name((uint16_t)ours.attr), i, a[i], b[i]);
}

/* Our device says exactly this now. */
static void say(enum roce_cm_attr attr)
{
	static uint8_t buf[65536];
	const struct spoken *s;
	const struct roce_cm_msg theirs = captured(attr, &s);
	struct roce_packet pkt;
	struct core_burst t;
	uint32_t offset;

	assert_true(spoken_together(s, st.mine));
	assert_true(core_tx_next(st.dev, 1000000, buf, sizeof(buf), &t));
	assert_int_equal(t.count, 1);
	assert_int_equal(t.n_iov, 1);
	compare_mad(t.iov[0].iov_base, &theirs);
	core_burst_packet(&t, 0, &pkt, &offset);
	pkt.payload = s->pkt.payload; /* compared */
	/* Datagrams of QP 1 are counted, and the capture begins where it begins. */
	pkt.bth.psn = psn_add(pkt.bth.psn, st.mine->pkt.bth.psn);
	difference_check(st.c.name, &pkt, &s->pkt, &st.differences);
	assert_memory_equal(&t.flow.src, s->flow.src, 16);
	assert_memory_equal(&t.flow.dst, s->flow.dst, 16);
	assert_int_equal(t.flow.sport, s->flow.sport);
	assert_int_equal(t.flow.dport, s->flow.dport);
	assert_int_equal(t.flow.hop_limit, s->flow.hop_limit);
	assert_int_equal(t.flow.tclass, s->flow.tclass);
	assert_int_equal(t.flow.flow_label, s->flow.flow_label);
	assert_false(core_tx_next(st.dev, 1000000, buf, sizeof(buf), &t));
}

static void heard(enum core_cm_event_type type)
{
	assert_true(st.n_events > 0);
	assert_int_equal(st.event[st.n_events - 1], type);
}

/* All our datagrams differed as the table says. */
static void check_differences(unsigned messages)
{
	assert_int_equal(st.differences.n[DIFFERENCE_MIGREQ], messages);
	assert_int_equal(st.differences.n[DIFFERENCE_MAD_ACKREQ], messages);
	assert_int_equal(st.differences.n[DIFFERENCE_ACKREQ], 0);
	assert_int_equal(st.differences.n[DIFFERENCE_CREDITS], 0);
}

/* ---- rping ---- */

static struct core_cm_param request_param(const struct roce_cm_req *r)
{
	return (struct core_cm_param){.qpn = r->local_qpn,
				      .qp_type = QPT_RC,
				      .responder_resources = r->responder_resources,
				      .initiator_depth = r->initiator_depth,
				      .flow_control = r->flow_control,
				      .retry_count = r->retry_count,
				      .rnr_retry_count = r->rnr_retry_count,
				      .srq = r->srq,
				      .private_len = ROCE_CM_REQ_PRIVATE,
				      .private_data = r->private_data};
}

static struct core_cm_param reply_param(const struct roce_cm_rep *r)
{
	return (struct core_cm_param){.qpn = r->local_qpn,
				      .responder_resources = r->responder_resources,
				      .initiator_depth = r->initiator_depth,
				      .flow_control = r->flow_control,
				      .rnr_retry_count = r->rnr_retry_count,
				      .srq = r->srq,
				      .private_len = ROCE_CM_REP_PRIVATE,
				      .private_data = r->private_data};
}

/* The first request that was captured of our end's QP. */
static struct roce_bth first_request(void)
{
	struct conversation c;
	struct roce_bth bth = {0};
	unsigned i = 0;

	conversation_open(&c, st.c.name, CONVERSATION_TRAFFIC);
	while (i < c.n &&
	       (packet_is_answer(&c.packet[i].pkt) || !spoken_together(&c.packet[i], st.mine)))
		i++;
	if (i < c.n)
		bth = c.packet[i].pkt.bth;
	conversation_close(&c);
	return bth;
}

/*
 * What follows for our QP from what the other end's REQ or REP said: it begins as the captured one
 * did. What all the other announced values do is looked at in test_replay_announced.
 */
static void check_attributes(uint32_t qpn, uint32_t psn, uint8_t ack_timeout)
{
	const struct spoken *s;
	struct roce_cm_msg req = captured(ROCE_CM_REQ, &s);
	struct uhca_abi_qp_attr a;
	uint32_t mask;

	assert_int_equal(core_cm_qp_attr(st.cm, RTR, &a, &mask), 0);
	assert_int_equal(a.dest_qp_num, qpn);
	assert_int_equal(first_request().dest_qp, qpn);
	assert_int_equal(a.rq_psn, st.psn);
	assert_int_equal(a.path_mtu, 3);
	assert_int_equal(a.max_dest_rd_atomic, 1);
	assert_memory_equal(a.ah.dgid, st.mine->flow.dst, 16);
	assert_int_equal(a.ah.hop_limit, 64);
	/* The label of the REQ makes the source port of both ends. */
	assert_int_equal(a.ah.flow_label, req.req.primary.flow_label);
	assert_int_equal(source_port_connected(1, 2, a.ah.flow_label), 52804);
	assert_int_equal(core_cm_qp_attr(st.cm, RTS, &a, &mask), 0);
	assert_int_equal(a.sq_psn, psn);
	assert_int_equal(first_request().psn, psn);
	assert_int_equal(a.timeout, ack_timeout);
	assert_int_equal(a.retry_cnt, 7);
	assert_int_equal(a.rnr_retry, 7);
	assert_int_equal(a.max_rd_atomic, 1);
}

static void test_rping_server(void **state)
{
	const struct spoken *s;
	struct roce_cm_msg req, rep;
	struct core_cm_param p;

	(void)state;
	start("cm_rping", 1);
	req = captured(ROCE_CM_REQ, &s);
	rep = captured(ROCE_CM_REP, &s);
	p = reply_param(&rep.rep);
	st.tid = req.tid; /* the answers are to keep it */
	hear(ROCE_CM_REQ);
	assert_non_null(st.cm);
	assert_true(st.request.service_id == req.req.service_id);
	assert_int_equal(st.request.param.qpn, req.req.local_qpn);
	assert_int_equal(core_cm_accept(st.cm, &p, 1000000), 0);
	say(ROCE_CM_REP);
	check_attributes(req.req.local_qpn, req.req.starting_psn,
			 req.req.primary.local_ack_timeout);
	hear(ROCE_CM_RTU);
	heard(CORE_CM_ESTABLISHED);
	hear(ROCE_CM_DREQ);
	heard(CORE_CM_DISCONNECTED);
	assert_int_equal(core_cm_disconnect(st.cm, 1000000), 0); /* as rping does */
	say(ROCE_CM_DREP);
	assert_int_equal(st.n_events, 2);
	check_differences(2);
	finish();
}

static void test_rping_client(void **state)
{
	const struct spoken *s;
	struct roce_cm_msg req, rep;
	struct core_cm_path path = {0};
	struct core_cm_param p;

	(void)state;
	start("cm_rping", 0);
	req = captured(ROCE_CM_REQ, &s);
	p = request_param(&req.req);
	path.flow_label = req.req.primary.flow_label;
	memcpy(path.local_gid, s->flow.src, 16);
	memcpy(path.remote_gid, s->flow.dst, 16);
	st.cm = core_cm_create(st.dev, &st);
	assert_non_null(st.cm);
	assert_int_equal(core_cm_connect(st.cm, &path, req.req.service_id, &p, 1000000), 0);
	say(ROCE_CM_REQ);
	rep = captured(ROCE_CM_REP, &s);
	hear(ROCE_CM_REP);
	heard(CORE_CM_REPLIED);
	assert_int_equal(st.event_qpn, rep.rep.local_qpn);
	check_attributes(rep.rep.local_qpn, rep.rep.starting_psn, 17);
	assert_int_equal(core_cm_ready(st.cm, &(struct core_cm_param){0}, 1000000), 0);
	say(ROCE_CM_RTU);
	assert_int_equal(core_cm_disconnect(st.cm, 1000000), 0);
	say(ROCE_CM_DREQ);
	hear(ROCE_CM_DREP);
	heard(CORE_CM_DISCONNECTED);
	assert_int_equal(st.n_events, 2);
	check_differences(3);
	finish();
}

/* ---- udaddy ---- */

static void test_udaddy_server(void **state)
{
	const struct spoken *s;
	struct roce_cm_msg req, rep;

	(void)state;
	start("cm_udaddy", 1);
	req = captured(ROCE_CM_SIDR_REQ, &s);
	rep = captured(ROCE_CM_SIDR_REP, &s);
	st.tid = req.tid;
	hear(ROCE_CM_SIDR_REQ);
	assert_non_null(st.cm);
	assert_true(st.request.service_id == req.sidr_req.service_id);
	assert_int_equal(st.request.param.qp_type, QPT_UD);
	assert_int_equal(
		core_cm_accept(st.cm,
			       &(struct core_cm_param){.qpn = rep.sidr_rep.qpn,
						       .qkey = rep.sidr_rep.qkey,
						       .private_len = ROCE_CM_SIDR_REP_PRIVATE,
						       .private_data = rep.sidr_rep.private_data},
			       1000000),
		0);
	say(ROCE_CM_SIDR_REP);
	check_differences(1);
	finish();
}

static void test_udaddy_client(void **state)
{
	const struct spoken *s;
	struct roce_cm_msg req, rep;
	struct core_cm_path path = {0};

	(void)state;
	start("cm_udaddy", 0);
	req = captured(ROCE_CM_SIDR_REQ, &s);
	memcpy(path.local_gid, s->flow.src, 16);
	memcpy(path.remote_gid, s->flow.dst, 16);
	st.cm = core_cm_create(st.dev, &st);
	assert_non_null(st.cm);
	assert_int_equal(
		core_cm_connect(st.cm, &path, req.sidr_req.service_id,
				&(struct core_cm_param){.qp_type = QPT_UD,
							.private_len = ROCE_CM_SIDR_REQ_PRIVATE,
							.private_data = req.sidr_req.private_data},
				1000000),
		0);
	say(ROCE_CM_SIDR_REQ);
	rep = captured(ROCE_CM_SIDR_REP, &s);
	hear(ROCE_CM_SIDR_REP);
	heard(CORE_CM_ESTABLISHED);
	assert_int_equal(st.event_qpn, rep.sidr_rep.qpn);
	assert_int_equal(st.event_qkey, rep.sidr_rep.qkey);
	check_differences(1);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rping_server),
		cmocka_unit_test(test_rping_client),
		cmocka_unit_test(test_udaddy_server),
		cmocka_unit_test(test_udaddy_client),
	};

	return cmocka_run_group_tests_name("replay_cm", tests, NULL, NULL);
}
