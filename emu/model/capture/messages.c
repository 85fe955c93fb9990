/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups packets into messages: request, answer, retransmissions, completion. */
#include "messages.h"

#include "wire/psn.h"
#include "wire/syndrome.h"

#include "emu/abi/cqe.h"

#include <errno.h>
#include <string.h>

#define LOOK_BACK   4096 /* messages: more are not outstanding at once */
#define MTU_DEFAULT 1024u

static const struct roce_opcode_info *info_of(const struct model_packet *k)
{
	return roce_opcode_info(k->pkt.bth.opcode);
}

static bool has_answer_data(const struct model_message *m)
{
	enum roce_operation op = roce_opcode_info(m->opcode)->operation;

	return op != ROCE_OP_SEND && op != ROCE_OP_WRITE;
}

static bool is_read(const struct model_message *m)
{
	return roce_opcode_info(m->opcode)->operation == ROCE_OP_READ_REQ;
}

/* ---- requests ---- */

/* PSNs that a request of this first packet takes at least; a READ's is a guess. */
static uint32_t first_psns(const struct model *s, const struct model_arrow *a,
			   const struct model_packet *k)
{
	const struct model_qp *to = &s->qp[a->to];
	uint32_t mtu = to->mtu;

	if (k->parts > 1)
		return k->parts;
	if (info_of(k)->operation != ROCE_OP_READ_REQ || k->pkt.reth.length == 0)
		return 1;
	if (to->peer != MODEL_NONE && s->qp[to->peer].mtu > mtu)
		mtu = s->qp[to->peer].mtu;
	if (mtu == 0)
		mtu = MTU_DEFAULT;
	return k->pkt.reth.length / mtu + (k->pkt.reth.length % mtu != 0);
}

static int new_message(struct model *s, uint32_t arrow)
{
	struct model_message *grown = array_grow(s->message, s->n_messages, sizeof(*grown));
	struct model_arrow *a = &s->arrow[arrow];
	const struct model_packet *k = model_arrow_packet(s, a);
	bool atomic = (info_of(k)->headers & ROCE_HDR_ATOMICETH) != 0;
	uint32_t before = k->parts ? k->part - 1 : 0;

	if (!grown)
		return -ENOMEM;
	s->message = grown;
	a->message = s->n_messages;
	s->message[s->n_messages] = (struct model_message){
		.from = a->from,
		.to = a->to,
		.previous = s->qp[a->to].last_message,
		.first_psn = psn_add(k->pkt.bth.psn, ROCE_PSN_MASK + 1 - before),
		.psns = first_psns(s, a, k),
		.first_arrow = arrow,
		.last_arrow = arrow,
		.next_answer = psn_add(k->pkt.bth.psn, ROCE_PSN_MASK + 1 - before),
		.completion = MODEL_NONE,
		.wr = k->wr,
		.has_wr = k->has_wr,
		.va = atomic ? k->pkt.atomiceth.va : k->pkt.reth.va,
		.rkey = atomic ? k->pkt.atomiceth.rkey : k->pkt.reth.rkey,
		.began = a->sent,
		.op = k->op,
		.opcode = k->pkt.bth.opcode,
		.bytes = info_of(k)->operation == ROCE_OP_READ_REQ ? k->pkt.reth.length
								   : k->pkt.payload_len,
		.whole = roce_opcode_is_last(k->pkt.bth.opcode),
	};
	s->qp[a->to].last_message = s->n_messages++;
	return 0;
}

/* The message to this QP that has the PSN, sent before; NULL: none of those that are known. */
static struct model_message *find_message(struct model *s, uint32_t to, uint32_t psn)
{
	uint32_t i = s->qp[to].last_message;

	for (unsigned k = 0; i != MODEL_NONE && k < LOOK_BACK; k++, i = s->message[i].previous)
		if (psn_in_window(psn, s->message[i].first_psn, s->message[i].psns))
			return &s->message[i];
	return NULL;
}

/* A READ whose answer had lost its end is asked for again from there on: the same end. */
static bool is_rest_of_read(const struct model_message *m, const struct model_packet *k)
{
	return info_of(k)->operation == ROCE_OP_READ_REQ && is_read(m) &&
	       k->pkt.reth.va + k->pkt.reth.length == m->va + m->bytes &&
	       k->pkt.reth.rkey == m->rkey;
}

/*
 * A packet sent again belongs to the message that has its PSN. A READ may take fewer PSNs than was
 * guessed; what is no part of it ends it.
 */
static struct model_message *sent_before(struct model *s, const struct model_arrow *a,
					 const struct model_packet *k)
{
	uint32_t last = s->qp[a->to].last_message;
	struct model_message *m;

	if (last == MODEL_NONE ||
	    psn_diff(k->pkt.bth.psn, s->message[last].first_psn) >= (int32_t)s->message[last].psns)
		return NULL;
	m = find_message(s, a->to, k->pkt.bth.psn);
	if (!m || k->tries > 0 || !is_read(m) || is_rest_of_read(m, k))
		return m;
	m->psns = (k->pkt.bth.psn - m->first_psn) & ROCE_PSN_MASK;
	if (m->psns == 0)
		m->psns = 1;
	return NULL;
}

static void add_again(struct model_message *m, struct model_arrow *a, uint32_t arrow,
		      const struct model *s)
{
	const struct model_packet *k = model_arrow_packet(s, a);

	bool seen = false;

	a->message = (uint32_t)(m - s->message);
	for (uint32_t i = m->first_arrow; i <= m->last_arrow; i++) {
		const struct model_arrow *b = &s->arrow[i];

		if (b->message != a->message || b->answer || b->copy ||
		    model_arrow_packet(s, b)->pkt.bth.psn != k->pkt.bth.psn)
			continue;
		seen = true;
		if (k->tries == 0 && k->parts == 0 && !a->copy)
			a->tries = b->tries + 1;
	}
	if (!seen && !is_read(m))
		m->bytes += k->pkt.payload_len;
	m->whole |= roce_opcode_is_last(k->pkt.bth.opcode);
	if (a->tries > m->tries)
		m->tries = a->tries;
	if (arrow > m->last_arrow)
		m->last_arrow = arrow;
}

/* The next packet of a message that has begun. */
static bool continues(const struct model_message *m, const struct model_packet *k)
{
	if (m->whole || roce_opcode_is_first(k->pkt.bth.opcode) ||
	    roce_opcode_info(m->opcode)->operation != info_of(k)->operation)
		return false;
	return k->pkt.bth.psn == psn_add(m->first_psn, m->psns);
}

static int add_request(struct model *s, uint32_t arrow)
{
	struct model_arrow *a = &s->arrow[arrow];
	const struct model_packet *k = model_arrow_packet(s, a);
	uint32_t last = s->qp[a->to].last_message;
	struct model_message *m;

	if (info_of(k)->service == ROCE_SVC_UD)
		return new_message(s, arrow);
	if (info_of(k)->operation == ROCE_OP_CNP)
		return 0;
	m = sent_before(s, a, k);
	if (m) {
		add_again(m, a, arrow, s);
		return 0;
	}
	m = last != MODEL_NONE ? &s->message[last] : NULL;
	if (!m || !continues(m, k))
		return new_message(s, arrow);
	a->message = last;
	m->psns++;
	m->bytes += k->pkt.payload_len;
	m->last_arrow = arrow;
	m->whole = roce_opcode_is_last(k->pkt.bth.opcode);
	if (a->tries > m->tries)
		m->tries = a->tries;
	return 0;
}

/* ---- answers ---- */

/* What this answer acknowledges without data, from the message before it back. */
static bool acknowledge_before(struct model *s, uint32_t i, uint64_t ns)
{
	bool gap = false;

	for (unsigned k = 0; i != MODEL_NONE && k < LOOK_BACK; k++, i = s->message[i].previous) {
		struct model_message *m = &s->message[i];

		if (m->answered)
			break;
		if (has_answer_data(m))
			gap = true;
		else
			m->answered = ns;
	}
	return gap;
}

static bool is_negative(const struct model_packet *k)
{
	return (info_of(k)->headers & ROCE_HDR_AETH) &&
	       roce_syndrome_kind(k->pkt.aeth.syndrome) != ROCE_ACK;
}

static void take_read_answer(struct model_message *m, struct model_arrow *a,
			     const struct model_packet *k)
{
	uint32_t psn = k->pkt.bth.psn;

	if (psn_diff(psn, m->next_answer) > 0)
		a->implied_nak = true;
	if (psn == m->next_answer)
		m->next_answer = psn_add(psn, 1);
	if (!a->implied_nak && roce_opcode_is_last(k->pkt.bth.opcode) && !m->answered)
		m->answered = a->sent;
}

/* What it answers; or what it was not taken for, as the device that got it tells. */
static struct model_message *answered_message(struct model *s, const struct model_arrow *a,
					      const struct model_packet *k)
{
	struct model_message *m = find_message(s, a->from, k->pkt.bth.psn);
	const struct uhca_abi_cause *c = a->in == MODEL_NONE ? NULL : s->packet[a->in].cause;

	if (m || !c || c->kind != UHCA_ABI_CAUSE_ANSWER)
		return m;
	return find_message(s, a->from, (uint32_t)c->expected);
}

static void add_answer(struct model *s, struct model_arrow *a)
{
	const struct model_packet *k = model_arrow_packet(s, a);
	struct model_message *m = answered_message(s, a, k);

	if (!m)
		return;
	a->message = (uint32_t)(m - s->message);
	if (a->fate == MODEL_DROPPED || a->fate == MODEL_MISSING || a->fate == MODEL_REFUSED)
		return;
	a->implied_nak = acknowledge_before(s, m->previous, a->sent);
	if (is_negative(k))
		return;
	if (info_of(k)->operation == ROCE_OP_READ_RESP && is_read(m))
		take_read_answer(m, a, k);
	else if (info_of(k)->operation == ROCE_OP_ACK && has_answer_data(m) &&
		 roce_opcode_info(m->opcode)->operation != ROCE_OP_FLUSH &&
		 roce_opcode_info(m->opcode)->operation != ROCE_OP_ATOMIC_WRITE)
		a->implied_nak = true;
	else if (!m->answered &&
		 k->pkt.bth.psn == psn_add(m->first_psn, (m->psns - 1) & ROCE_PSN_MASK))
		m->answered = a->sent;
}

/* ---- completions ---- */

/* Of a request: what its packets are. Receives are none. */
static bool is_receive(const struct model_record *r)
{
	const char *op = model_word(r, "opcode");

	return op && strncmp(op, "RECV", 4) == 0;
}

/* The last message that arrived at the QP as a whole before the completion. */
static uint32_t received_message(const struct model *s, const struct model_record *r)
{
	uint32_t i = s->qp[r->qp].last_message;

	while (i != MODEL_NONE && s->arrow[s->message[i].last_arrow].sent > r->ns)
		i = s->message[i].previous;
	return i;
}

/* What a completion says of its request; read once for all requests that it is held against. */
struct completed {
	uint64_t ns, wr;
	const char *status, *op;
};

static struct completed read_completed(const struct model_record *r)
{
	return (struct completed){.ns = r->ns,
				  .wr = model_number(r, "wr"),
				  .status = model_word(r, "status"),
				  .op = model_word(r, "opcode")};
}

/*
 * May this be the request that the completion is about? A flight recorder tells of those that
 * failed only, and programs use an identifier again: one that was answered has completed without a
 * word, unless it was its answer that could not be taken.
 */
static bool may_be_of(const struct model_message *m, const struct completed *c)
{
	if (!m->has_wr || m->wr != c->wr || m->began > c->ns)
		return false;
	if (m->op && c->op && strcmp(m->op, c->op) != 0)
		return false;
	if (!c->status || strcmp(c->status, "SUCCESS") == 0 || !m->answered || m->answered > c->ns)
		return true;
	return has_answer_data(m) && strncmp(c->status, "LOC_", 4) == 0;
}

/*
 * The oldest request that it may be of and that has no completion, after the last that has one:
 * requests complete in order.
 */
static uint32_t sent_message(const struct model *s, const struct model_record *r, uint32_t peer)
{
	const struct completed c = read_completed(r);
	uint32_t i = s->qp[peer].last_message;
	uint32_t found = MODEL_NONE;

	for (unsigned k = 0; i != MODEL_NONE && k < LOOK_BACK; k++, i = s->message[i].previous) {
		const struct model_message *m = &s->message[i];

		if (m->completion != MODEL_NONE)
			break;
		if (m->from == r->qp && may_be_of(m, &c))
			found = i;
	}
	return found;
}

/* The same where the QP has no peer: its messages are in no list of their own. */
static uint32_t sent_datagram(const struct model *s, const struct model_record *r)
{
	const struct completed c = read_completed(r);
	uint32_t found = MODEL_NONE;
	uint32_t i = s->n_messages;

	for (unsigned k = 0; i > 0 && k < LOOK_BACK; k++) {
		const struct model_message *m = &s->message[--i];

		if (m->from != r->qp)
			continue;
		if (m->completion != MODEL_NONE)
			break;
		if (may_be_of(m, &c))
			found = i;
	}
	return found;
}

static void find_completed(struct model *s, uint32_t index)
{
	struct model_record *r = &s->record[index];

	if (r->qp == MODEL_NONE)
		return;
	if (is_receive(r))
		r->message = received_message(s, r);
	else if (s->qp[r->qp].peer != MODEL_NONE)
		r->message = sent_message(s, r, s->qp[r->qp].peer);
	else
		r->message = sent_datagram(s, r);
	if (r->message != MODEL_NONE && !is_receive(r))
		s->message[r->message].completion = index;
}

int model_find_messages(struct model *s)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < s->n_arrows; i++) {
		if (s->arrow[i].answer)
			add_answer(s, &s->arrow[i]);
		else
			rc = add_request(s, i);
	}
	for (uint32_t i = 0; rc == 0 && i < s->n_moments; i++)
		if (s->moment[i].is_record &&
		    s->record[s->moment[i].index].kind == MODEL_COMPLETION)
			find_completed(s, s->moment[i].index);
	return rc;
}
