/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See trace_text.h. Names are those of the enums of libibverbs without their prefix.
 */
#include "trace_text.h"

#include "emu/abi/cqe.h"
#include "emu/abi/errno_name.h"
#include "emu/abi/event.h"
#include "emu/abi/names.h"
#include "wire/packet.h"

#include <stdio.h>
#include <string.h>

#define NAME_OF(table, n) ((n) < sizeof(table) / sizeof((table)[0]) ? (table)[n] : NULL)

static const char *const operation_name[ROCE_OP_COUNT] = {
	[ROCE_OP_SEND] = "SEND",
	[ROCE_OP_WRITE] = "RDMA_WRITE",
	[ROCE_OP_READ_REQ] = "RDMA_READ",
	[ROCE_OP_CMP_SWAP] = "COMP_SWAP",
	[ROCE_OP_FETCH_ADD] = "FETCH_ADD",
	[ROCE_OP_ATOMIC_WRITE] = "ATOMIC_WRITE",
	[ROCE_OP_FLUSH] = "FLUSH",
	[ROCE_OP_MASKED_CMP_SWAP] = "MASKED_COMP_SWAP",
	[ROCE_OP_MASKED_FETCH_ADD] = "MASKED_FETCH_ADD",
};

#define STATE_INIT 1
#define STATE_ERR  6
static const char *const state_name[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", [STATE_ERR] = "ERR"};

#define STATUS_(name) [UHCA_ABI_WC_##name] = #name,
static const char *const status_name[] = {UHCA_ABI_STATUS_NAMES(STATUS_)};

#define EVENT_(name) [UHCA_ABI_EVENT_##name] = #name,
static const char *const event_name[] = {UHCA_ABI_EVENT_NAMES(EVENT_)};

static const char *wc_opcode_name(uint32_t opcode)
{
#define OPCODE_(name)                                                                              \
	case UHCA_ABI_WC_##name:                                                                   \
		return #name;
	switch (opcode) {
		UHCA_ABI_OPCODE_NAMES(OPCODE_)
	}
	return NULL;
}

/* By name, or as a number where there is none. */
static void put_named(struct io_words *w, const char *word, const char *name, uint32_t n)
{
	if (name)
		io_words_text(w, word, name);
	else
		io_words_number(w, word, n);
}

const char *io_trace_status(uint32_t status)
{
	return NAME_OF(status_name, status);
}

bool io_trace_is_first_state(uint32_t state)
{
	return state == STATE_INIT;
}

bool io_trace_is_error_state(uint32_t state)
{
	return state == STATE_ERR;
}

const char *io_trace_judgement(uint32_t judgement)
{
	static const char *const name[CORE_JUDGEMENTS] = {
		[CORE_JUDGED_DUPLICATE] = "duplicate",
		[CORE_JUDGED_REFUSED] = "refused",
		[CORE_JUDGED_NOT_READY] = "not_ready",
		[CORE_JUDGED_FAILED] = "failed",
	};

	return NAME_OF(name, judgement);
}

/* ---- why ---- */

static void put_hex(struct io_words *w, const char *name, uint64_t value)
{
	if (value)
		io_words_hex(w, name, value);
}

/* Numbers that a kind has are told when they are 0, too: expected, got, bytes, size. */
static void put_access(struct io_words *w, const struct uhca_abi_cause *c)
{
	put_hex(w, "key", c->key);
	put_hex(w, "near", c->kind == UHCA_ABI_CAUSE_ANSWER ? 0 : c->near);
	put_hex(w, "rights", c->rights);
	if (c->bytes) {
		io_words_hex(w, "at", c->at);
		io_words_number(w, "bytes", c->bytes);
	}
	if (c->size || c->start) {
		io_words_hex(w, "start", c->start);
		io_words_number(w, "size", c->size);
	}
	if (c->kind == UHCA_ABI_CAUSE_KEY_DEAD)
		io_words_number(w, "since", c->since);
}

static void put_compared(struct io_words *w, const struct uhca_abi_cause *c)
{
	if (c->expected || c->got) {
		io_words_number(w, "expected", c->expected);
		io_words_number(w, "got", c->got);
	}
	if (c->kind == UHCA_ABI_CAUSE_ANSWER)
		io_words_number(w, "near", c->near);
	if (c->rest)
		io_words_number(w, "rest", c->rest);
}

static void put_cause(struct io_words *w, const struct uhca_abi_cause *c)
{
#define CAUSE_(name) [UHCA_ABI_CAUSE_##name] = #name,
	static const char *const names[] = {UHCA_ABI_CAUSE_NAMES(CAUSE_)};
#undef CAUSE_
	const char *name = c ? NAME_OF(names, (unsigned)c->kind) : NULL;

	if (!name)
		return;
	io_words_text(w, "cause", name);
	put_access(w, c);
	put_compared(w, c);
}

/* ---- packets ---- */

/* A message's packets are full but for the last (9.4.1); a READ's request is one, always. */
static void put_part(struct io_words *w, const struct core_burst *t, uint32_t i, roce_opcode op)
{
	const struct core_burst_model *s = &t->model;
	bool whole = !(roce_opcode_info(op)->headers & ROCE_HDR_PAYLOAD);
	uint32_t mtu = s->mtu ? s->mtu : 1;
	uint32_t parts = whole || s->total == 0 ? 1 : (s->total + mtu - 1) / mtu;
	uint32_t part = whole ? 1 : s->offset / mtu + i + 1;

	if (!s->has_wr || s->mtu == 0)
		return;
	io_words_part(w, "part", part, parts);
}

/* The action of a rule: its first word, or the one behind its name. */
static void put_made(struct io_words *w, const char *rule)
{
	char action[32];
	size_t n;

	rule += strspn(rule, " \t");
	n = strcspn(rule, " \t=");
	if (n > 0 && rule[n - 1] == ':') {
		rule += n + strspn(rule + n, " \t");
		n = strcspn(rule, " \t=");
	}
	snprintf(action, sizeof(action), "%.*s", (int)n, rule);
	io_words_text(w, "made", action[0] ? action : "rule");
}

static void put_fate(struct io_words *w, const struct core_burst *t,
		     const struct io_trace_fate *fate)
{
	if (fate->rule)
		io_words_number(w, "rule", fate->rule);
	if (fate->rule && fate->rule_text)
		io_words_text(w, "fault", fate->rule_text);
	if (t->model.made)
		put_made(w, fate->rule_text ? fate->rule_text : "");
	if (fate->dropped)
		io_words_text(w, "dropped", fate->dropped);
	if (fate->judged)
		io_words_text(w, "judged", fate->judged);
	put_cause(w, fate->cause);
}

void io_trace_packet(struct io_words *w, const struct core_burst *t, uint32_t i,
		     const struct io_trace_fate *fate)
{
	const struct core_burst_model *s = &t->model;
	bool last = i + 1 == t->count;
	roce_opcode op = last && i > 0 ? t->last_opcode : t->head.bth.opcode;
	const char *operation = operation_name[roce_opcode_info(op)->operation];

	io_words_begin(w, "");
	if (s->has_wr)
		io_words_hex(w, "wr", s->wr_id);
	if (s->qpn)
		io_words_hex(w, "qp", s->qpn);
	if (operation && roce_opcode_known(op))
		io_words_text(w, "op", operation);
	put_part(w, t, i, op);
	if (s->tries)
		io_words_number(w, "try", s->tries);
	put_fate(w, t, fate);
}

/* ---- what the device does ---- */

static void begin(struct io_words *w, const char *what, const char *device)
{
	io_words_begin(w, what);
	if (device)
		io_words_text(w, "dev", device);
}

static void format_state(struct io_words *w, const struct core_trace *t)
{
	io_words_hex(w, "qp", t->qpn);
	put_named(w, "from", NAME_OF(state_name, t->a), t->a);
	put_named(w, "to", NAME_OF(state_name, t->b), t->b);
	if (t->c)
		io_words_text(w, "by", "program");
}

static void format_completion(struct io_words *w, const struct core_trace *t)
{
	io_words_hex(w, "qp", t->qpn);
	io_words_number(w, "cq", t->cqn);
	io_words_hex(w, "wr", t->wr_id);
	put_named(w, "status", io_trace_status(t->a), t->a);
	put_named(w, "opcode", wc_opcode_name(t->b), t->b);
	io_words_number(w, "length", t->length);
	io_words_hex(w, "vendor", t->c);
	put_cause(w, t->cause);
}

static void format_request(struct io_words *w, const struct core_trace *t)
{
	io_words_hex(w, "qp", t->qpn);
	io_words_hex(w, "wr", t->wr_id);
	put_named(w, "opcode", wc_opcode_name(t->c), t->c);
	io_words_number(w, "length", t->length);
	io_words_number(w, "psn", t->a);
	io_words_number(w, "psns", t->b);
	io_words_hex(w, "peer", t->peer_qpn);
	if (t->rkey || t->remote_addr) {
		io_words_hex(w, "key", t->rkey);
		io_words_hex(w, "address", t->remote_addr);
	}
}

static void format_retry(struct io_words *w, const struct core_trace *t)
{
	static const char *const why[] = {
		[CORE_RETRY_TIMEOUT] = "timeout",
		[CORE_RETRY_NAK] = "nak",
		[CORE_RETRY_GAP] = "gap",
		[CORE_RETRY_RNR] = "rnr",
	};

	io_words_hex(w, "qp", t->qpn);
	io_words_number(w, "psn", t->a);
	put_named(w, "why", NAME_OF(why, t->c), t->c);
	io_words_number(w, "left", t->b);
}

/* Which object it is of follows from the event (11.6.3). */
static void format_event(struct io_words *w, const struct core_trace *t)
{
	put_named(w, "type", NAME_OF(event_name, t->a), t->a);
	if (t->a == UHCA_ABI_EVENT_CQ_ERR)
		io_words_number(w, "cq", t->b);
	else if (t->a == UHCA_ABI_EVENT_SRQ_ERR || t->a == UHCA_ABI_EVENT_SRQ_LIMIT_REACHED)
		io_words_number(w, "srq", t->b);
	else if (t->a == UHCA_ABI_EVENT_WQ_FATAL)
		io_words_number(w, "wq", t->b);
	else if (t->qpn)
		io_words_hex(w, "qp", t->qpn);
}

bool io_trace_trace(struct io_words *w, const char *device, const struct core_trace *t)
{
	static const struct {
		const char *what;
		void (*format)(struct io_words *w, const struct core_trace *t);
	} points[CORE_TRACE_POINTS] = {
		[CORE_TRACE_QP_STATE] = {"state", format_state},
		[CORE_TRACE_CQE] = {"completion", format_completion},
		[CORE_TRACE_RETRY] = {"retry", format_retry},
		[CORE_TRACE_REQUEST] = {"request", format_request},
		[CORE_TRACE_EVENT] = {"event", format_event},
	};

	if (t->point == CORE_TRACE_NAK) {
		begin(w, "nak", device);
		io_words_hex(w, "qp", t->qpn);
		io_words_number(w, "psn", t->a);
		io_words_hex(w, "syndrome", t->b);
		put_cause(w, t->cause);
		return true;
	}
	if (!points[t->point].what)
		return false;
	begin(w, points[t->point].what, device);
	points[t->point].format(w, t);
	return true;
}

/* ---- rules, keys ---- */

static const char *what_of(const struct fault_subject *s)
{
	if (s->layer == FAULT_LAYER_CALL && s->call)
		return s->call;
	if (s->pkt)
		return roce_opcode_info(s->pkt->bth.opcode)->name;
	if (s->layer == FAULT_LAYER_COMPLETION)
		return io_trace_status(s->wc_status);
	return NULL;
}

void io_trace_hit(struct io_words *w, const struct fault_hit *h)
{
	static const char *const layer[FAULT_LAYERS] = {
		[FAULT_LAYER_PACKET] = "packet",
		[FAULT_LAYER_CALL] = "call",
		[FAULT_LAYER_COMPLETION] = "completion",
		[FAULT_LAYER_MEMORY] = "memory",
		[FAULT_LAYER_TIME] = "time",
		[FAULT_LAYER_HOP] = "hop",
	};
	const struct fault_subject *s = h->subject;
	const char *what = what_of(s);

	begin(w, "hit", s->device);
	io_words_number(w, "rule", h->entry->number);
	io_words_number(w, "hits", h->entry->hits);
	io_words_number(w, "match", h->entry->matched);
	io_words_text(w, "layer", layer[s->layer]);
	if (s->qpn)
		io_words_hex(w, "qp", s->qpn);
	if (s->pkt)
		io_words_number(w, "psn", s->pkt->bth.psn);
	if (what)
		io_words_text(w, "what", what);
}

void io_trace_rule(struct io_words *w, const struct fault_entry *e, const char *what)
{
	const char *device = e->rule.select.device;

	begin(w, "rule", device[0] ? device : NULL);
	io_words_number(w, "number", e->number);
	if (e->rule.name[0])
		io_words_text(w, "name", e->rule.name);
	io_words_text(w, "text", e->rule.text);
	io_words_text(w, "what", what);
}

void io_trace_region(struct io_words *w, const char *device, uint32_t qpn, uint32_t key,
		     const struct core_walk *walk)
{
	bool window = walk->window;

	begin(w, "region", device);
	if (qpn)
		io_words_hex(w, "qp", qpn);
	io_words_hex(w, "key", key);
	io_words_hex(w, "address", walk->iova + (window ? walk->window_offset : 0));
	io_words_number(w, "length", window ? walk->window_length : walk->length);
	if (walk->n_pages > 0)
		io_words_number(w, "pages", 1ull << walk->page_shift);
}

void io_trace_call(struct io_words *w, const char *device, const char *verb, int error,
		   uint32_t client)
{
	const char *name = error ? uhca_errno_name(error) : "slow";

	begin(w, "call", device);
	io_words_text(w, "verb", verb);
	io_words_text(w, "status", name ? name : "unknown");
	io_words_number(w, "client", client);
}

void io_trace_refused(struct io_words *w, const char *device, const struct io_trace_refused *r)
{
	io_trace_call(w, device, r->verb, r->error, r->client);
	io_words_hex(w, "qp", r->qpn);
	io_words_hex(w, "wr", r->wr_id);
	put_named(w, "state", NAME_OF(state_name, r->state), r->state);
}

void io_trace_unreachable(struct io_words *w, const char *device, const uint8_t gid[16],
			  uint16_t port)
{
	char address[IO_ADDRESS_TEXT];

	begin(w, "unreachable", device);
	io_words_text(w, "address", io_address_format(gid, address));
	io_words_number(w, "port", port);
}

void io_trace_fatal(struct io_words *w, const char *device, unsigned n)
{
	begin(w, "event", device);
	io_words_text(w, "type", "DEVICE_FATAL");
	io_words_number(w, "clients", n);
}

void io_trace_leak(struct io_words *w, const char *device, const char *program,
		   const uint32_t count[CORE_OBJECT_TYPES])
{
	begin(w, "leak", device);
	io_words_text(w, "program", program);
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++)
		if (count[i] > 0)
			io_words_number(w, core_object_name((enum core_object_type)i), count[i]);
}

void io_trace_note(struct io_words *w, const char *device, const char *text)
{
	begin(w, "note", device);
	io_words_text(w, "text", text);
}
