/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a REQ and a REP announce, against the packets that follow. Two Linux machines made the
 * connections of cm_announce.pcap (announce.c); our device takes the place of either end. The
 * captured REQ or REP alone says how our QP is to be: its requests are then those that soft-RoCE
 * made in its place, as many of them as often, and at a timeout as late. With any announced value
 * changed they are not.
 */
#include "conversation.h"
#include "emu/abi/cmd.h"
#include "emu/core/core.h"
#include "emu/core/core_cm.h"
#include "tests/support/sim/vclient.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"
#include "wire/cm_msg.h"
#include "wire/psn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS 5
#define TALK        0 /* the one in which both ends send and receive */
#define READS       16
#define MAX_PACKETS 128
#define MESSAGE     4096
#define TIME_UNIT   4096u /* ns; timeouts are codes: this times a power of two */

enum end { CLIENT, SERVER };

/* An announced value; what is put in its place when it is the peer's. */
struct change {
	const char *name;
	enum roce_cm_attr attr;
	size_t offset, size; /* in struct roce_cm_msg */
	uint32_t flip;       /* bits */
	bool chosen;         /* by each end for itself */
};

#define FIELD(member)                                                                              \
	offsetof(struct roce_cm_msg, member), sizeof(((struct roce_cm_msg *)0)->member)

static const struct change changes[] = {
	{"PSN", ROCE_CM_REQ, FIELD(req.starting_psn), 1, true},
	{"QP", ROCE_CM_REQ, FIELD(req.local_qpn), 1, true},
	{"responder resources", ROCE_CM_REQ, FIELD(req.responder_resources), 1, false},
	{"initiator depth", ROCE_CM_REQ, FIELD(req.initiator_depth), 1, false},
	{"retries", ROCE_CM_REQ, FIELD(req.retry_count), 1, false},
	{"RNR retries", ROCE_CM_REQ, FIELD(req.rnr_retry_count), 2, false},
	{"MTU", ROCE_CM_REQ, FIELD(req.path_mtu), 1, false},
	{"ACK timeout", ROCE_CM_REQ, FIELD(req.primary.local_ack_timeout), 3, false},
	{"flow label", ROCE_CM_REQ, FIELD(req.primary.flow_label), 1, false},
	{"PSN", ROCE_CM_REP, FIELD(rep.starting_psn), 1, true},
	{"QP", ROCE_CM_REP, FIELD(rep.local_qpn), 1, true},
	{"responder resources", ROCE_CM_REP, FIELD(rep.responder_resources), 1, false},
	{"initiator depth", ROCE_CM_REP, FIELD(rep.initiator_depth), 1, false},
	{"RNR retries", ROCE_CM_REP, FIELD(rep.rnr_retry_count), 1, false},
	{"ACK delay", ROCE_CM_REP, FIELD(rep.target_ack_delay), 0x1c, false},
};
#define CHANGES (sizeof(changes) / sizeof(changes[0]))

/* A request packet, as much of it as follows from what was announced. */
struct request {
	uint8_t opcode;
	uint32_t dest_qp, psn, payload;
	uint16_t sport;
	uint64_t time; /* ns */
};

struct requests {
	struct request list[MAX_PACKETS];
	unsigned n;
};

/* One connection of the capture, our device at one of its ends. */
struct stage {
	struct conversation cm, traffic;
	unsigned first, last; /* lines of the connection */
	const struct spoken *req, *rep;
	enum end end;
	const struct change *change;
	struct core_ops ops;
	struct prng rng;
	struct vhost host;
	struct vclient client;
	struct vcq cq;
	struct vqp qp;
	struct vmr mr;
	uint64_t now;
	struct cm *id;
	struct core_cm_request asked;
	struct core_cm_param replied;
	struct roce_cm_msg said;      /* our REQ or REP */
	struct uhca_abi_qp_attr attr; /* of our QP, from all transitions */
	struct requests ours, theirs; /* theirs: in our place */
	unsigned next_answer;         /* of the peer in the capture */
	char why[200];                /* what is different; empty: nothing */
};

static struct stage *st;
static uint8_t buf[1u << 20];

static bool is_mine(const struct spoken *s)
{
	return spoken_together(s, st->end == CLIENT ? st->req : st->rep);
}

static struct roce_cm_msg parse(const struct spoken *s)
{
	struct roce_cm_msg msg;

	assert_true(roce_cm_parse(s->pkt.payload, &msg));
	return msg;
}

/* ---- the capture ---- */

static const struct spoken *find_cm(enum roce_cm_attr attr, unsigned nth)
{
	for (unsigned i = 0; i < st->cm.n; i++)
		if (parse(&st->cm.packet[i]).attr == attr && nth-- == 0)
			return &st->cm.packet[i];
	return NULL;
}

static bool in_connection(const struct spoken *s)
{
	return s->line > st->first && s->line < st->last;
}

static void add(struct requests *r, const struct roce_packet *pkt, uint16_t sport, uint64_t time)
{
	assert_true(r->n < MAX_PACKETS);
	r->list[r->n++] = (struct request){.opcode = pkt->bth.opcode.v,
					   .dest_qp = pkt->bth.dest_qp,
					   .psn = pkt->bth.psn,
					   .payload = pkt->payload_len,
					   .sport = sport,
					   .time = time};
}

static void load_connection(unsigned nth)
{
	const struct spoken *next;

	conversation_open(&st->cm, "cm_announce", CONVERSATION_CM);
	conversation_open(&st->traffic, "cm_announce", CONVERSATION_TRAFFIC);
	st->req = find_cm(ROCE_CM_REQ, nth);
	st->rep = find_cm(ROCE_CM_REP, nth);
	assert_true(st->req && st->rep);
	next = find_cm(ROCE_CM_REQ, nth + 1);
	st->first = st->req->line;
	st->last = next ? next->line : UINT32_MAX;
	for (unsigned i = 0; i < st->traffic.n; i++) {
		const struct spoken *s = &st->traffic.packet[i];

		if (in_connection(s) && is_mine(s) && !packet_is_answer(&s->pkt))
			add(&st->theirs, &s->pkt, s->flow.sport, s->time);
	}
}

/* ---- our device ---- */

static void fill_random(void *user, void *to, size_t len)
{
	(void)user;
	prng_fill(&st->rng, to, len);
}

static int on_request(void *user, struct cm *id, const struct core_cm_request *req, void **cookie)
{
	(void)user;
	st->id = id;
	st->asked = *req;
	*cookie = st;
	return 0;
}

static void on_event(void *cookie, const struct core_cm_event *e)
{
	(void)cookie;
	if (e->type == CORE_CM_REPLIED)
		st->replied = e->param;
}

static const struct core_cm_ops cm_ops = {.request = on_request, .event = on_event};

static void make_device(void)
{
	const struct spoken *mine = st->end == CLIENT ? st->req : st->rep;
	struct core_config cfg;

	memset(&cfg, 0, sizeof(cfg));
	core_config_default(&cfg);
	cfg.node_guid = 1;
	cfg.active_mtu = 3; /* of the captured network: 1024 bytes */
	memcpy(cfg.gid[0], mine->flow.src, 16);
	vclient_fill_ops(&st->ops);
	st->ops.random = fill_random;
	st->now = 1000000;
	st->host.dev = core_create(&st->ops, st, &cfg);
	assert_non_null(st->host.dev);
	st->host.now = &st->now;
	memcpy(st->host.gid[0], mine->flow.src, 16);
	core_cm_set_ops(st->host.dev, &cm_ops, st);
}

static void make_qp(void)
{
	struct vqp_init init = {.type = IBV_QPT_RC,
				.send_cq = &st->cq,
				.recv_cq = &st->cq,
				.max_send_wr = READS,
				.max_recv_wr = 1,
				.sq_sig_all = true};

	vclient_open(&st->client, &st->host, 0, 1);
	assert_int_equal(vcq_create(&st->client, 4 * READS, 0, &st->cq), 0);
	assert_int_equal(vqp_create(&st->client, &init, &st->qp), 0);
	assert_int_equal(vclient_reg_mr(&st->client, memory_map(&st->client.mem, 2 * MESSAGE),
					2 * MESSAGE, IBV_ACCESS_LOCAL_WRITE, &st->mr),
			 0);
}

/* ---- the connection ---- */

static void change(struct roce_cm_msg *msg)
{
	uint32_t v = 0;
	uint8_t *at = (uint8_t *)msg + (st->change ? st->change->offset : 0);

	if (!st->change || st->change->attr != msg->attr)
		return;
	memcpy(&v, at, st->change->size);
	v ^= st->change->flip;
	memcpy(at, &v, st->change->size);
}

static void hear(const struct spoken *s, uint32_t our_id, uint64_t tid)
{
	struct roce_cm_msg msg = parse(s);
	struct roce_packet pkt = s->pkt;
	uint8_t mad[ROCE_MAD_LENGTH];
	struct core_burst t;

	if (tid)
		msg.tid = tid;
	if (msg.attr == ROCE_CM_REP)
		msg.rep.remote_comm_id = our_id;
	change(&msg);
	assert_true(roce_cm_emit(&msg, mad));
	pkt.payload = mad;
	core_burst_start(&t, &pkt, &s->flow);
	t.from_network = true;
	core_rx(st->host.dev, st->now, &t);
}

static uint32_t load(const struct roce_cm_msg *msg, const struct change *c)
{
	uint32_t v = 0;

	memcpy(&v, (const uint8_t *)msg + c->offset, c->size);
	return v;
}

/* For the same program we announce what soft-RoCE did, but for the numbers that we choose. */
static void compare_said(const struct roce_cm_msg *captured)
{
	assert_int_equal(st->said.attr, captured->attr);
	for (size_t i = 0; i < CHANGES; i++) {
		const struct change *c = &changes[i];

		if (c->attr == captured->attr && !c->chosen &&
		    load(&st->said, c) != load(captured, c))
			snprintf(st->why, sizeof(st->why), "we announce %s %u, soft-RoCE %u",
				 c->name, load(&st->said, c), load(captured, c));
	}
}

/* Our message of this kind, which must be the next thing that we say. */
static struct roce_cm_msg say(enum roce_cm_attr attr)
{
	struct roce_cm_msg msg;
	struct core_burst t;

	assert_true(core_tx_next(st->host.dev, st->now, buf, sizeof(buf), &t));
	assert_true(roce_cm_parse(t.iov[0].iov_base, &msg));
	assert_int_equal(msg.attr, attr);
	return msg;
}

static void connect_client(void)
{
	const struct roce_cm_msg captured = parse(st->req);
	const struct roce_cm_req req = captured.req;
	struct core_cm_path path = {.flow_label = req.primary.flow_label,
				    .ack_timeout = req.primary.local_ack_timeout};
	struct core_cm_param p = {.qpn = st->qp.qpn,
				  .qp_type = IBV_QPT_RC,
				  .responder_resources = req.responder_resources,
				  .initiator_depth = req.initiator_depth,
				  .retry_count = req.retry_count,
				  .rnr_retry_count = req.rnr_retry_count};

	memcpy(path.local_gid, st->req->flow.src, 16);
	memcpy(path.remote_gid, st->req->flow.dst, 16);
	st->id = core_cm_create(st->host.dev, st);
	assert_non_null(st->id);
	assert_int_equal(core_cm_connect(st->id, &path, req.service_id, &p, st->now), 0);
	st->said = say(ROCE_CM_REQ);
	assert_int_equal(st->said.req.local_qpn, st->qp.qpn);
	compare_said(&captured);
	hear(st->rep, st->said.req.local_comm_id, st->said.tid);
}

/* The program of the capture took what the REQ left to it (RDMA_MAX_RESP_RES, ..INIT_DEPTH). */
static void connect_server(void)
{
	const struct roce_cm_msg captured = parse(st->rep);
	struct core_cm_param p = {.qpn = st->qp.qpn,
				  .rnr_retry_count = captured.rep.rnr_retry_count};

	hear(st->req, 0, 0);
	assert_non_null(st->id);
	p.responder_resources = st->asked.param.responder_resources;
	p.initiator_depth = st->asked.param.initiator_depth;
	assert_int_equal(core_cm_accept(st->id, &p, st->now), 0);
	st->said = say(ROCE_CM_REP);
	assert_int_equal(st->said.rep.local_qpn, st->qp.qpn);
	compare_said(&captured);
}

static void to_state(uint32_t state, struct uhca_abi_qp_attr *a)
{
	uint32_t mask;

	assert_int_equal(core_cm_qp_attr(st->id, state, a, &mask), 0);
	assert_int_equal(vqp_modify(&st->qp, mask, a), 0);
}

static void connect_qp(void)
{
	struct uhca_abi_qp_attr a;

	to_state(IBV_QPS_INIT, &a);
	to_state(IBV_QPS_RTR, &st->attr);
	to_state(IBV_QPS_RTS, &a);
	if (st->end == CLIENT)
		assert_int_equal(core_cm_ready(st->id, &(struct core_cm_param){0}, st->now), 0);
	if (st->end == CLIENT)
		say(ROCE_CM_RTU);
}

/* ---- what follows ---- */

static void post_receive(void)
{
	struct uhca_abi_sge sge = {st->mr.addr + MESSAGE, MESSAGE, st->mr.lkey};

	assert_int_equal(vqp_post_recv(&st->qp, &(struct vrecv){.sge = &sge, .num_sge = 1}), 0);
}

static uint32_t message_length(void)
{
	uint32_t length = 0;

	for (unsigned i = 0; i < st->theirs.n; i++) {
		length += st->theirs.list[i].payload;
		if (roce_opcode_is_last((roce_opcode){st->theirs.list[i].opcode}))
			break;
	}
	return length;
}

/* The work that the captured requests tell of. */
static void post(void)
{
	bool read = st->theirs.list[0].opcode == ROCE_RC_READ_REQUEST;
	struct uhca_abi_sge sge = {st->mr.addr, read ? 8 : message_length(), st->mr.lkey};
	struct vsend wr = {.opcode = read ? UHCA_ABI_WR_RDMA_READ : UHCA_ABI_WR_SEND,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = 0x1000};

	for (unsigned i = 0; i < (read ? READS : 1); i++)
		assert_int_equal(vqp_queue_send(&st->qp, &wr), 0);
	vqp_doorbell(&st->qp);
}

/* A captured packet of the peer, for our QP; its PSNs count from where we asked for. */
static void deliver(const struct spoken *s)
{
	struct roce_packet pkt = s->pkt;
	const uint32_t captured = st->end == CLIENT ? parse(st->req).req.starting_psn
						    : parse(st->rep).rep.starting_psn;
	const uint32_t announced =
		st->end == CLIENT ? st->said.req.starting_psn : st->said.rep.starting_psn;
	struct core_burst t;

	pkt.bth.dest_qp = st->qp.qpn;
	if (!packet_is_answer(&pkt))
		pkt.bth.psn = psn_add(announced, (uint32_t)psn_diff(pkt.bth.psn, captured));
	core_burst_start(&t, &pkt, &s->flow);
	t.from_network = true;
	core_rx(st->host.dev, st->now, &t);
}

/* The peer's next answer to a request of ours. */
static void deliver_answer(void)
{
	while (st->next_answer < st->traffic.n) {
		const struct spoken *s = &st->traffic.packet[st->next_answer++];

		if (!in_connection(s) || is_mine(s) || !packet_is_answer(&s->pkt))
			continue;
		deliver(s);
		return;
	}
}

static void pull(void)
{
	struct core_burst t;

	while (core_tx_next(st->host.dev, st->now, buf, sizeof(buf), &t)) {
		for (uint32_t i = 0; i < t.count; i++) {
			struct roce_packet pkt;
			uint32_t offset;

			core_burst_packet(&t, i, &pkt, &offset);
			if (packet_is_answer(&pkt) || pkt.bth.dest_qp == 1)
				continue;
			add(&st->ours, &pkt, t.flow.sport, st->now);
			if (roce_opcode_is_last(pkt.bth.opcode))
				deliver_answer();
		}
	}
}

/* Until our QP has an end of it, by success or by giving up. */
static void work(void)
{
	struct uhca_abi_cqe e;

	post();
	for (pull(); !vcq_poll(&st->cq, &e) && st->ours.n < MAX_PACKETS / 2; pull()) {
		uint64_t next = core_next_deadline(st->host.dev);

		if (next == UINT64_MAX)
			break;
		st->now = next;
		core_tick(st->host.dev, st->now);
	}
}

static void take_message(void)
{
	struct uhca_abi_cqe e;

	post_receive();
	for (unsigned i = 0; i < st->traffic.n; i++) {
		const struct spoken *s = &st->traffic.packet[i];

		if (!in_connection(s) || is_mine(s) || packet_operation(&s->pkt) != ROCE_OP_SEND)
			continue;
		deliver(s);
	}
	if (!vcq_poll(&st->cq, &e) || e.opcode != UHCA_ABI_WC_RECV || e.status || !e.byte_len)
		snprintf(st->why, sizeof(st->why), "its message did not arrive");
}

/* ---- the comparison ---- */

static unsigned time_code(uint64_t ns)
{
	unsigned code = 0;

	while (ns >> (code + 1) >= TIME_UNIT)
		code++;
	return code;
}

/* The code of the time until the first request came again; 0: it did not. */
static unsigned timeout_code(const struct requests *r)
{
	for (unsigned i = 1; i < r->n; i++)
		if (r->list[i].psn == r->list[0].psn)
			return time_code(r->list[i].time - r->list[0].time);
	return 0;
}

/* READs that the peer had under way, as far as the capture shows. */
static unsigned peers_reads(void)
{
	unsigned n = 0;
	uint32_t first = 0;

	for (unsigned i = 0; i < st->traffic.n; i++) {
		const struct spoken *s = &st->traffic.packet[i];

		if (!in_connection(s) || is_mine(s) ||
		    packet_operation(&s->pkt) != ROCE_OP_READ_REQ)
			continue;
		if (n && s->pkt.bth.psn == first)
			break;
		first = n++ ? first : s->pkt.bth.psn;
	}
	return n;
}

static bool alike(const struct request *a, const struct request *b)
{
	return a->opcode == b->opcode && a->dest_qp == b->dest_qp && a->psn == b->psn &&
	       a->payload == b->payload && a->sport == b->sport;
}

static void compare(void)
{
	const struct requests *a = &st->ours, *b = &st->theirs;
	const unsigned reads = peers_reads();

	if (a->n != b->n)
		snprintf(st->why, sizeof(st->why), "%u requests, soft-RoCE %u", a->n, b->n);
	for (unsigned i = 0; i < a->n && i < b->n; i++)
		if (!alike(&a->list[i], &b->list[i]))
			snprintf(st->why, sizeof(st->why),
				 "request %u: opcode %u qp %u psn %u length %u port %u, soft-RoCE "
				 "%u %u %u %u %u",
				 i, a->list[i].opcode, a->list[i].dest_qp, a->list[i].psn,
				 a->list[i].payload, a->list[i].sport, b->list[i].opcode,
				 b->list[i].dest_qp, b->list[i].psn, b->list[i].payload,
				 b->list[i].sport);
	if (timeout_code(a) != timeout_code(b))
		snprintf(st->why, sizeof(st->why), "timeout %u, soft-RoCE %u", timeout_code(a),
			 timeout_code(b));
	if (reads && reads != st->attr.max_dest_rd_atomic)
		snprintf(st->why, sizeof(st->why), "%u READs can come, %u did",
			 st->attr.max_dest_rd_atomic, reads);
}

/* Plays one connection; why[] of the stage, for the caller to free, tells what was different. */
static struct stage *play(unsigned nth, enum end end, const struct change *c)
{
	st = calloc(1, sizeof(*st));
	assert_non_null(st);
	st->end = end;
	st->change = c;
	st->rng = (struct prng){nth + 1};
	load_connection(nth);
	make_device();
	make_qp();
	if (end == CLIENT)
		connect_client();
	else
		connect_server();
	connect_qp();
	if (nth == TALK)
		take_message();
	if (st->theirs.n)
		work();
	compare();
	vclient_close(&st->client);
	core_destroy(st->host.dev);
	conversation_close(&st->cm);
	conversation_close(&st->traffic);
	return st;
}

static void test_as_announced(void **state)
{
	(void)state;
	for (unsigned i = 0; i < CONNECTIONS; i++)
		for (int end = CLIENT; end <= SERVER; end++) {
			struct stage *s = play(i, (enum end)end, NULL);

			if (s->why[0])
				fail_msg("connection %u, we are the %s: %s", i,
					 end == CLIENT ? "client" : "server", s->why);
			free(s);
		}
}

/* No value is announced in vain: with another one in its place some packet is another. */
static void test_each_value_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHANGES; i++) {
		enum end end = changes[i].attr == ROCE_CM_REQ ? SERVER : CLIENT;
		unsigned different = 0;

		for (unsigned n = 0; n < CONNECTIONS; n++) {
			struct stage *s = play(n, end, &changes[i]);

			different += s->why[0] != 0;
			free(s);
		}
		if (!different)
			fail_msg("%s of the %s has no effect", changes[i].name,
				 roce_cm_name((uint16_t)changes[i].attr));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_announced),
		cmocka_unit_test(test_each_value_counts),
	};

	return cmocka_run_group_tests_name("replay_announced", tests, NULL, NULL);
}
