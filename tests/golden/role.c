/* SPDX-License-Identifier: BSD-2-Clause */
/* Plays one end of a captured conversation with our device. */
#include "role.h"

#include "emu/core/base/source_port.h"
#include "tests/support/sim/vclient.h"
#include "tests/support/wire/cmocka_all.h"
#include "wire/psn.h"
#include "wire/syndrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOCAL_BYTES (1u << 20) /* all that is sent, read and received */
#define GRH         40u
#define MAX_WINDOWS 4
#define MAX_WR      128
#define ACCESS                                                                                     \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* Memory of ours that the other end names by a key of the capture. */
struct window {
	uint32_t captured_rkey;
	struct vmr mr;
	bool atomic; /* it holds what the first atomic finds */
};

/* A completion that must come. */
struct expected {
	uint8_t opcode;
	uint32_t length;
	bool imm;
	uint32_t imm_data; /* as on the wire */
};

struct role {
	const struct conversation *c;
	enum role_pace pace;
	struct role_tally *tally;
	const struct spoken *mine, *peers; /* the first packet of each; mine may be NULL */
	/* our device */
	struct core_ops ops;
	uint64_t now;
	struct vhost host, peer;
	struct prng rng;
	struct vclient client;
	struct vcq send_cq, recv_cq;
	struct vqp qp;
	uint32_t ah; /* datagrams */
	struct vmr local;
	uint32_t local_used;
	struct window window[MAX_WINDOWS];
	unsigned n_windows;
	uint8_t *buf;
	size_t cap;
	/* where the conversation is */
	unsigned next_request, next_answer; /* packets of ours that are not compared yet */
	struct expected sent[MAX_WR], received[MAX_WR];
	uint64_t receive_va[MAX_WR];
	unsigned n_sent, n_receives, receives_used;
	uint32_t msn;    /* requests that have arrived whole */
	uint32_t offset; /* in the message that arrives */
	uint64_t write_va;
	struct core_burst burst; /* arriving, not delivered */
	bool posted;             /* no doorbell yet */
	unsigned naks, repeated; /* what the pace provoked */
	struct message message;
};

static bool is_datagram(const struct role *r)
{
	return roce_opcode_info(r->peers->pkt.bth.opcode)->service == ROCE_SVC_UD;
}

static bool is_mine(const struct role *r, const struct spoken *s)
{
	return !spoken_together(s, r->peers);
}

/* ---- our device ---- */

static void fill_random(void *user, void *buf, size_t len)
{
	prng_fill(&((struct role *)user)->rng, buf, len);
}

static void make_device(struct role *r, uint32_t window)
{
	struct core_config cfg;

	memset(&cfg, 0, sizeof(cfg));
	core_config_default(&cfg);
	memcpy(cfg.gid[0], r->peers->flow.dst, 16);
	cfg.node_guid = 1;
	if (window)
		cfg.window_bytes = cfg.window_most = window;
	vclient_fill_ops(&r->ops);
	r->ops.random = fill_random;
	r->now = 1000000;
	r->host.dev = core_create(&r->ops, r, &cfg);
	assert_non_null(r->host.dev);
	r->host.now = &r->now;
	memcpy(r->host.gid[0], r->peers->flow.dst, 16);
	memcpy(r->peer.gid[0], r->peers->flow.src, 16);
	r->cap = cfg.burst_bytes;
	r->buf = malloc(r->cap);
	assert_non_null(r->buf);
}

static enum ibv_qp_type qp_type(const struct role *r)
{
	enum roce_service service = roce_opcode_info(r->peers->pkt.bth.opcode)->service;

	if (service == ROCE_SVC_UC)
		return IBV_QPT_UC;
	return service == ROCE_SVC_UD ? IBV_QPT_UD : IBV_QPT_RC;
}

/* PSN of the first request of one of the two ends; one who never asks may start anywhere. */
static uint32_t first_psn(const struct role *r, bool mine)
{
	for (unsigned i = 0; i < r->c->n; i++) {
		const struct spoken *s = &r->c->packet[i];

		if (is_mine(r, s) == mine && !packet_is_answer(&s->pkt))
			return s->pkt.bth.psn;
	}
	return 0x123456;
}

static void make_qp(struct role *r)
{
	struct vqp_conn conn = vqp_conn_default();
	struct vqp_init init = {.type = qp_type(r),
				.send_cq = &r->send_cq,
				.recv_cq = &r->recv_cq,
				.max_send_wr = MAX_WR,
				.max_recv_wr = MAX_WR};

	assert_int_equal(vcq_create(&r->client, 2 * MAX_WR, 0, &r->send_cq), 0);
	assert_int_equal(vcq_create(&r->client, 2 * MAX_WR, 0, &r->recv_cq), 0);
	assert_int_equal(vqp_create(&r->client, &init, &r->qp), 0);
	conn.sq_psn = first_psn(r, true);
	conn.rq_psn = first_psn(r, false);
	if (is_datagram(r)) {
		conn.qkey = r->peers->pkt.deth.qkey;
		vqp_activate(&r->qp, &conn);
		assert_int_equal(vclient_create_ah(&r->client, &r->peer, 0, &r->ah), 0);
		return;
	}
	assert_non_null(r->mine); /* tells which QP the other end is */
	assert_int_equal(vqp_init(&r->qp, &conn), 0);
	assert_int_equal(vqp_rtr(&r->qp, &conn, &r->peer, r->mine->pkt.bth.dest_qp), 0);
	assert_int_equal(vqp_rts(&r->qp, &conn), 0);
}

static uint64_t local_take(struct role *r, uint32_t length)
{
	uint64_t va = r->local.addr + r->local_used;

	r->local_used += (length + 63) & ~63u; /* results of atomics are aligned */
	assert_true(r->local_used <= LOCAL_BYTES);
	return va;
}

/* What a packet of the other end says about our memory; length 0: nothing. */
static struct roce_reth target_of(const struct roce_packet *pkt)
{
	uint32_t headers = roce_opcode_info(pkt->bth.opcode)->headers;

	if (headers & ROCE_HDR_ATOMICETH)
		return (struct roce_reth){pkt->atomiceth.va, pkt->atomiceth.rkey, 8};
	return headers & ROCE_HDR_RETH ? pkt->reth : (struct roce_reth){0};
}

static struct window *window_find(struct role *r, uint32_t captured_rkey)
{
	for (unsigned i = 0; i < r->n_windows; i++)
		if (r->window[i].captured_rkey == captured_rkey)
			return &r->window[i];
	return NULL;
}

static void window_add(struct role *r, const struct roce_reth *t)
{
	struct window *w = &r->window[r->n_windows++];

	assert_true(r->n_windows <= MAX_WINDOWS);
	w->captured_rkey = t->rkey;
	memory_map_at(&r->client.mem, t->va, t->length);
	assert_int_equal(vclient_reg_mr(&r->client, t->va, t->length, ACCESS, &w->mr), 0);
}

/* Registers all that the other end will name. */
static void make_windows(struct role *r)
{
	for (unsigned i = 0; i < r->c->n; i++) {
		const struct spoken *s = &r->c->packet[i];
		struct roce_reth t = target_of(&s->pkt);

		if (!is_mine(r, s) && t.length && !window_find(r, t.rkey))
			window_add(r, &t);
	}
}

static bool takes_receive(const struct roce_packet *pkt)
{
	return packet_operation(pkt) == ROCE_OP_SEND;
}

static void post_receive(struct role *r, const struct message *m)
{
	struct expected *e = &r->received[r->n_receives];
	uint32_t length = m->length + (is_datagram(r) ? GRH : 0);
	uint64_t va = local_take(r, length);
	struct uhca_abi_sge sge = {va, length, r->local.lkey};

	*e = (struct expected){.opcode = UHCA_ABI_WC_RECV, .length = length};
	e->imm = roce_opcode_info(m->last->pkt.bth.opcode)->headers & ROCE_HDR_IMMDT;
	e->imm_data = m->last->pkt.immdt;
	assert_int_equal(vqp_post_recv(&r->qp, &(struct vrecv){r->n_receives, &sge, 1}), 0);
	if (is_datagram(r)) /* test_ud and test_grh look at it */
		memory_ignore(&r->client.mem, va, GRH, true);
	r->receive_va[r->n_receives++] = va + length - m->length;
}

/* One receive for each message that will come, posted before the first. */
static void make_receives(struct role *r)
{
	for (unsigned i = 0; i < r->c->n; i++) {
		const struct spoken *s = &r->c->packet[i];

		if (is_mine(r, s) || !takes_receive(&s->pkt) ||
		    !roce_opcode_is_first(s->pkt.bth.opcode))
			continue;
		assert_true(r->n_receives < MAX_WR);
		conversation_message(r->c, i, &r->message);
		post_receive(r, &r->message);
	}
}

/* ---- what we say ---- */

/* The next captured packet of ours of this kind, from *at; NULL: there is none. */
static const struct spoken *next_of_mine(const struct role *r, unsigned *at, bool answer)
{
	while (*at < r->c->n) {
		const struct spoken *s = &r->c->packet[(*at)++];

		if (is_mine(r, s) && packet_is_answer(&s->pkt) == answer)
			return s;
	}
	return NULL;
}

/* 9.7.5.1.2: the captured ACK is one that ours, for a later packet, makes needless. */
static bool is_coalesced(const struct role *r, const struct roce_packet *ours,
			 const struct roce_packet *theirs)
{
	return r->pace == ROLE_BURST && packet_operation(theirs) == ROCE_OP_ACK &&
	       psn_diff(theirs->bth.psn, ours->bth.psn) < 0;
}

static const struct spoken *counterpart(struct role *r, const struct roce_packet *ours)
{
	bool answer = packet_is_answer(ours);
	unsigned *at = answer ? &r->next_answer : &r->next_request;
	const struct spoken *s = next_of_mine(r, at, answer);

	while (s && answer && is_coalesced(r, ours, &s->pkt)) {
		r->tally->differences.n[DIFFERENCE_COALESCED]++;
		s = next_of_mine(r, at, answer);
	}
	if (!s)
		fail_msg("%s: we say %s, soft-RoCE said nothing more", r->c->name,
			 roce_opcode_info(ours->bth.opcode)->name);
	return s;
}

/* The same way through the network; the port by the rule, with the QP number that we have. */
static void check_flow(const struct role *r, const struct roce_flow *ours, const struct spoken *s)
{
	uint16_t port = is_datagram(r) ? source_port_datagram(r->qp.qpn)
				       : source_port_connected(r->qp.qpn, s->pkt.bth.dest_qp, 0);
	struct roce_flow level = *ours;

	assert_int_equal(ours->sport, port);
	level.sport = s->flow.sport;
	assert_memory_equal(level.src, s->flow.src, 16);
	assert_memory_equal(level.dst, s->flow.dst, 16);
	assert_int_equal(level.dport, s->flow.dport);
	assert_int_equal(level.tclass, s->flow.tclass);
	assert_int_equal(level.hop_limit, s->flow.hop_limit);
	assert_int_equal(level.flow_label, s->flow.flow_label);
}

/* 9.7.7.2: as many credits as there are receives left. */
static void check_credits(const struct role *r, const struct roce_packet *ours)
{
	if (!(roce_opcode_info(ours->bth.opcode)->headers & ROCE_HDR_AETH))
		return;
	assert_int_equal(roce_syndrome_kind(ours->aeth.syndrome), ROCE_ACK);
	assert_int_equal(roce_syndrome_value(ours->aeth.syndrome),
			 roce_credits_encode(r->n_receives - r->receives_used));
}

static void compare(struct role *r, struct roce_packet *ours, const struct roce_flow *flow)
{
	const struct spoken *s = counterpart(r, ours);
	char where[80];

	snprintf(where, sizeof(where), "%s line %u", r->c->name, s->line);
	if (roce_opcode_info(ours->bth.opcode)->headers & ROCE_HDR_DETH) {
		assert_int_equal(ours->deth.src_qp, r->qp.qpn);
		ours->deth.src_qp = s->pkt.deth.src_qp;
	}
	if (r->pace != ROLE_BURST)
		check_credits(r, ours);
	check_flow(r, flow, s);
	difference_check(where, ours, &s->pkt, &r->tally->differences);
	if (packet_is_answer(ours))
		r->tally->answers++;
	else
		r->tally->requests++;
}

static void compare_burst(struct role *r, const struct core_burst *t)
{
	static uint8_t flat[1u << 17];
	uint32_t at = 0;

	assert_true(t->length <= sizeof(flat));
	for (unsigned i = 0; i < t->n_iov; i++) {
		memcpy(flat + at, t->iov[i].iov_base, t->iov[i].iov_len);
		at += (uint32_t)t->iov[i].iov_len;
	}
	assert_int_equal(at, t->length);
	for (uint32_t i = 0; i < t->count; i++) {
		struct roce_packet pkt;
		uint32_t offset;

		core_burst_packet(t, i, &pkt, &offset);
		pkt.payload = flat + offset;
		compare(r, &pkt, &t->flow);
	}
}

static void pull(struct role *r)
{
	struct core_burst t;

	do {
		while (core_tx_next(r->host.dev, r->now, r->buf, r->cap, &t))
			compare_burst(r, &t);
	} while (core_hurry(r->host.dev));
}

/* ---- our work requests ---- */

static const struct {
	uint8_t wr, wr_imm, wc;
} request_of[ROCE_OP_COUNT] = {
	[ROCE_OP_SEND] = {UHCA_ABI_WR_SEND, UHCA_ABI_WR_SEND_WITH_IMM, UHCA_ABI_WC_SEND},
	[ROCE_OP_WRITE] = {UHCA_ABI_WR_RDMA_WRITE, 0, UHCA_ABI_WC_RDMA_WRITE},
	[ROCE_OP_READ_REQ] = {UHCA_ABI_WR_RDMA_READ, 0, UHCA_ABI_WC_RDMA_READ},
	[ROCE_OP_CMP_SWAP] = {UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, 0, UHCA_ABI_WC_COMP_SWAP},
	[ROCE_OP_FETCH_ADD] = {UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD, 0, UHCA_ABI_WC_FETCH_ADD},
};

static uint32_t wire_order(uint32_t v)
{
	uint8_t p[4] = {(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v};

	memcpy(&v, p, sizeof(v));
	return v;
}

static void fill_target(struct role *r, const struct roce_packet *pkt, struct vsend *wr)
{
	struct roce_reth t = target_of(pkt);
	bool swap = packet_operation(pkt) == ROCE_OP_CMP_SWAP;

	wr->remote_addr = t.va;
	wr->rkey = t.rkey;
	wr->compare_add = swap ? pkt->atomiceth.compare : pkt->atomiceth.swap_add;
	wr->swap = swap ? pkt->atomiceth.swap_add : 0;
	wr->ah = r->ah;
	wr->remote_qpn = pkt->bth.dest_qp;
	wr->remote_qkey = pkt->deth.qkey;
}

/* The buffer: what we send, or what the answer will leave there. */
static struct uhca_abi_sge local_buffer(struct role *r, unsigned at, struct expected *e)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	enum roce_operation op = packet_operation(pkt);
	struct message *m = &r->message;
	uint64_t va;

	if (op == ROCE_OP_SEND || op == ROCE_OP_WRITE) {
		conversation_message(r->c, at, m);
		va = local_take(r, m->length);
		memory_store(&r->client.mem, va, m->data, m->length);
		return (struct uhca_abi_sge){va, m->length, r->local.lkey};
	}
	conversation_answer(r->c, at, m);
	e->length = op == ROCE_OP_READ_REQ ? m->length : 8;
	va = local_take(r, e->length);
	if (op == ROCE_OP_READ_REQ)
		memory_expect(&r->client.mem, va, m->data, m->length);
	else
		memory_expect(&r->client.mem, va, &m->last->pkt.atomic_ack, 8);
	return (struct uhca_abi_sge){va, e->length, r->local.lkey};
}

static void post(struct role *r, unsigned at)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	enum roce_operation op = packet_operation(pkt);
	struct expected *e = &r->sent[r->n_sent];
	struct uhca_abi_sge sge;
	struct vsend wr = {.wr_id = r->n_sent++, .flags = UHCA_ABI_SEND_SIGNALED, .num_sge = 1};

	assert_true(r->n_sent <= MAX_WR);
	*e = (struct expected){.opcode = request_of[op].wc};
	sge = local_buffer(r, at, e);
	wr.sge = &sge;
	fill_target(r, pkt, &wr);
	wr.opcode = request_of[op].wr;
	if (roce_opcode_info(pkt->bth.opcode)->headers & ROCE_HDR_IMMDT) {
		wr.opcode = request_of[op].wr_imm;
		wr.imm = wire_order(pkt->immdt);
	}
	assert_int_equal(vqp_queue_send(&r->qp, &wr), 0);
	r->posted = true;
}

static void ring(struct role *r)
{
	if (r->posted)
		vqp_doorbell(&r->qp);
	r->posted = false;
}

/* ---- what comes ---- */

static void expect_atomic(struct role *r, unsigned at, struct window *w)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	uint64_t found, left;

	conversation_answer(r->c, at, &r->message);
	found = r->message.last->pkt.atomic_ack;
	if (!w->atomic) /* from the second on, our own arithmetic must have left it there */
		memory_store(&r->client.mem, w->mr.addr, &found, 8);
	w->atomic = true;
	left = found + pkt->atomiceth.swap_add;
	if (packet_operation(pkt) == ROCE_OP_CMP_SWAP)
		left = found == pkt->atomiceth.compare ? pkt->atomiceth.swap_add : found;
	memory_expect(&r->client.mem, w->mr.addr, &left, 8);
}

static void expect_payload(struct role *r, const struct roce_packet *pkt)
{
	enum roce_operation op = packet_operation(pkt);
	bool last = roce_opcode_is_last(pkt->bth.opcode);
	uint64_t va;

	if (roce_opcode_is_first(pkt->bth.opcode)) {
		r->offset = 0;
		r->write_va = pkt->reth.va;
	}
	va = op == ROCE_OP_WRITE ? r->write_va : r->receive_va[r->receives_used];
	memory_expect(&r->client.mem, va + r->offset, pkt->payload, pkt->payload_len);
	r->offset += pkt->payload_len;
	if (op == ROCE_OP_SEND && last)
		r->receives_used++;
}

/* Lays ready what our program had in its memory, and notes what it must find there later. */
static void expect(struct role *r, unsigned at)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	struct roce_reth t = target_of(pkt);

	enum roce_operation op = packet_operation(pkt);

	if (packet_is_answer(pkt))
		return;
	r->msn += roce_opcode_is_last(pkt->bth.opcode);
	if (op == ROCE_OP_SEND || op == ROCE_OP_WRITE) {
		expect_payload(r, pkt);
	} else if (op == ROCE_OP_READ_REQ) {
		conversation_answer(r->c, at, &r->message);
		assert_int_equal(r->message.length, t.length);
		memory_store(&r->client.mem, t.va, r->message.data, t.length);
	} else {
		expect_atomic(r, at, window_find(r, t.rkey));
	}
}

static void deliver(struct role *r)
{
	if (r->burst.count) {
		r->burst.from_network = true;
		core_rx(r->host.dev, r->now, &r->burst);
	}
	r->burst.count = 0;
}

/* 9.2: reserved bits, marks of congestion, and SE and MigReq in the other of their two states. */
static void set_ignored_bits(struct roce_bth *bth)
{
	bth->solicited = true;
	bth->migreq = true;
	bth->fecn = bth->becn = true;
	bth->reserved6 = 0x3f;
	bth->reserved7 = 0x7f;
}

/* The captured packet with our numbers in place of those of soft-RoCE. */
static struct roce_packet translate(struct role *r, const struct roce_packet *captured)
{
	struct roce_packet pkt = *captured;
	struct roce_reth t = target_of(captured);

	pkt.bth.dest_qp = r->qp.qpn;
	if (r->pace == ROLE_NOISY)
		set_ignored_bits(&pkt.bth);
	if (!t.length)
		return pkt;
	pkt.reth.rkey = pkt.atomiceth.rkey = window_find(r, t.rkey)->mr.rkey;
	return pkt;
}

static void deliver_one(struct role *r, unsigned at)
{
	const struct spoken *s = &r->c->packet[at];
	struct roce_packet pkt = translate(r, &s->pkt);

	core_burst_start(&r->burst, &pkt, &s->flow);
	deliver(r);
}

/* 9.7.5.1.4: the NAK names the PSN that is missing, and acknowledges what was before. */
static void expect_nak(struct role *r, uint32_t psn)
{
	struct core_burst t;

	assert_true(core_tx_next(r->host.dev, r->now, r->buf, r->cap, &t));
	assert_int_equal(t.count, 1);
	assert_int_equal(t.head.bth.opcode.v, ROCE_RC_ACKNOWLEDGE);
	assert_int_equal(t.head.bth.psn, psn);
	assert_int_equal(t.head.aeth.syndrome, roce_syndrome(ROCE_NAK, ROCE_NAK_PSN_SEQUENCE));
	assert_int_equal(t.head.aeth.msn, r->msn);
	assert_false(core_tx_next(r->host.dev, r->now, r->buf, r->cap, &t));
	r->naks++;
}

/* Packet at of the other end is late: what follows it comes before it. */
static void make_gap(struct role *r, unsigned at)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	unsigned next = at + 1;
	struct core_burst t;

	if (pkt->bth.opcode.v != ROCE_RC_SEND_MIDDLE && pkt->bth.opcode.v != ROCE_RC_WRITE_MIDDLE)
		return;
	while (is_mine(r, &r->c->packet[next]))
		next++;
	deliver_one(r, next);
	expect_nak(r, pkt->bth.psn);
	deliver_one(r, next);
	assert_false(core_tx_next(r->host.dev, r->now, r->buf, r->cap, &t));
}

/* The same request again; from says which captured answer was the first one to it. */
static void repeat(struct role *r, unsigned at, unsigned from)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	unsigned answered = r->next_answer;

	if (packet_is_answer(pkt) || !pkt->bth.ackreq)
		return;
	r->next_answer = from;
	deliver_one(r, at);
	pull(r);
	assert_int_equal(r->next_answer, answered);
	r->repeated++;
}

static void hear(struct role *r, unsigned at)
{
	const struct spoken *s = &r->c->packet[at];
	struct roce_packet pkt = translate(r, &s->pkt);
	unsigned answer = r->next_answer;

	if (r->posted) {
		ring(r);
		pull(r);
	}
	if (r->pace == ROLE_GAP)
		make_gap(r, at);
	expect(r, at);
	if (r->burst.count && core_burst_append(&r->burst, &pkt, &s->flow))
		return;
	deliver(r);
	core_burst_start(&r->burst, &pkt, &s->flow);
	if (r->pace == ROLE_BURST)
		return;
	deliver(r);
	pull(r);
	if (r->pace == ROLE_TWICE)
		repeat(r, at, answer);
}

/* Soft-RoCE says this now: so do we, or have done. */
static void speak(struct role *r, unsigned at)
{
	const struct roce_packet *pkt = &r->c->packet[at].pkt;
	bool answer = packet_is_answer(pkt);

	if (r->burst.count) {
		deliver(r);
		pull(r);
	}
	if (!answer && roce_opcode_is_first(pkt->bth.opcode))
		post(r, at);
	if (r->pace == ROLE_BURST)
		return;
	ring(r);
	pull(r);
	if ((answer ? r->next_answer : r->next_request) <= at)
		fail_msg("%s line %u: we say nothing", r->c->name, r->c->packet[at].line);
}

/* ---- the end ---- */

static void check_completions(struct role *r, struct vcq *cq, const struct expected *list,
			      unsigned n)
{
	struct uhca_abi_cqe e;

	for (unsigned i = 0; i < n; i++) {
		if (!vcq_poll(cq, &e))
			fail_msg("%s: %u of %u completions came", r->c->name, i, n);
		assert_int_equal(e.status, UHCA_ABI_WC_SUCCESS);
		assert_int_equal(e.wr_id, i);
		assert_int_equal(e.opcode, list[i].opcode);
		if (list[i].length)
			assert_int_equal(e.byte_len, list[i].length);
		assert_int_equal((e.flags & UHCA_ABI_WC_WITH_IMM) != 0, list[i].imm);
		if (list[i].imm)
			assert_int_equal(e.imm, wire_order(list[i].imm_data));
	}
	assert_false(vcq_poll(cq, &e));
}

static void check_counters(const struct role *r)
{
	const struct core_counters *n = core_counters(r->host.dev);

	for (unsigned i = 0; i < CORE_DROP_COUNT; i++)
		assert_int_equal(n->drops[i], i == CORE_DROP_SEQUENCE ? r->naks : 0);
	assert_int_equal(n->naks_sent, r->naks);
	assert_int_equal(n->retransmits, 0);
	assert_int_equal(n->duplicates, r->repeated);
}

static void finish(struct role *r)
{
	char why[200];

	deliver(r);
	ring(r);
	pull(r);
	if (next_of_mine(r, &r->next_answer, true) || next_of_mine(r, &r->next_request, false))
		fail_msg("%s: we stop before the end", r->c->name);
	check_completions(r, &r->send_cq, r->sent, r->n_sent);
	check_completions(r, &r->recv_cq, r->received, r->n_receives);
	check_counters(r);
	r->tally->sends += r->n_sent;
	r->tally->receives += r->n_receives;
	r->tally->naks += r->naks;
	r->tally->repeated += r->repeated;
	if (!memory_verify(&r->client.mem, why, sizeof(why)))
		fail_msg("%s: %s", r->c->name, why);
	vclient_close(&r->client);
	core_destroy(r->host.dev);
	free(r->buf);
}

static void choose_end(struct role *r, enum role_end end)
{
	const struct spoken *first = &r->c->packet[0], *other = NULL;

	for (unsigned i = 0; i < r->c->n && !other; i++)
		if (!spoken_together(first, &r->c->packet[i]))
			other = &r->c->packet[i];
	assert_non_null(other);
	r->mine = end == ROLE_CLIENT ? first : other;
	r->peers = end == ROLE_CLIENT ? other : first;
}

void role_play(const struct conversation *c, enum role_end end, enum role_pace pace,
	       uint32_t window, struct role_tally *tally)
{
	struct role *r = calloc(1, sizeof(*r));
	int rc;

	assert_non_null(r);
	r->c = c;
	r->pace = pace;
	r->tally = tally;
	r->rng = (struct prng){1};
	choose_end(r, end);
	make_device(r, window);
	vclient_open(&r->client, &r->host, 0, 1);
	rc = vclient_reg_mr(&r->client, memory_map(&r->client.mem, LOCAL_BYTES), LOCAL_BYTES,
			    IBV_ACCESS_LOCAL_WRITE, &r->local);
	assert_int_equal(rc, 0);
	make_qp(r);
	make_windows(r);
	make_receives(r);
	for (unsigned i = 0; i < c->n; i++) {
		if (is_mine(r, &c->packet[i]))
			speak(r, i);
		else
			hear(r, i);
	}
	finish(r);
	free(r);
}
