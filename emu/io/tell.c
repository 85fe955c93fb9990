/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See tell.h. Names are those of the enums of libibverbs without their prefix.
 */
#include "tell.h"

#include "cqe.h"
#include "event.h"
#include "packet.h"

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

#define STATE_ERR 6
static const char *const state_name[] = {
	"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", [STATE_ERR] = "ERR"};

static const char *const status_name[] = {
	[UHCA_ABI_WC_SUCCESS] = "SUCCESS",
	[UHCA_ABI_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
	[UHCA_ABI_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
	[UHCA_ABI_WC_LOC_EEC_OP_ERR] = "LOC_EEC_OP_ERR",
	[UHCA_ABI_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
	[UHCA_ABI_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
	[UHCA_ABI_WC_MW_BIND_ERR] = "MW_BIND_ERR",
	[UHCA_ABI_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
	[UHCA_ABI_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
	[UHCA_ABI_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
	[UHCA_ABI_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
	[UHCA_ABI_WC_REM_OP_ERR] = "REM_OP_ERR",
	[UHCA_ABI_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
	[UHCA_ABI_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
	[UHCA_ABI_WC_LOC_RDD_VIOL_ERR] = "LOC_RDD_VIOL_ERR",
	[UHCA_ABI_WC_REM_INV_RD_REQ_ERR] = "REM_INV_RD_REQ_ERR",
	[UHCA_ABI_WC_REM_ABORT_ERR] = "REM_ABORT_ERR",
	[UHCA_ABI_WC_INV_EECN_ERR] = "INV_EECN_ERR",
	[UHCA_ABI_WC_INV_EEC_STATE_ERR] = "INV_EEC_STATE_ERR",
	[UHCA_ABI_WC_FATAL_ERR] = "FATAL_ERR",
	[UHCA_ABI_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
	[UHCA_ABI_WC_GENERAL_ERR] = "GENERAL_ERR",
};

static const char *const event_name[] = {
	[UHCA_ABI_EVENT_CQ_ERR] = "CQ_ERR",
	[UHCA_ABI_EVENT_QP_FATAL] = "QP_FATAL",
	[UHCA_ABI_EVENT_QP_REQ_ERR] = "QP_REQ_ERR",
	[UHCA_ABI_EVENT_QP_ACCESS_ERR] = "QP_ACCESS_ERR",
	[UHCA_ABI_EVENT_COMM_EST] = "COMM_EST",
	[UHCA_ABI_EVENT_SQ_DRAINED] = "SQ_DRAINED",
	[UHCA_ABI_EVENT_PATH_MIG] = "PATH_MIG",
	[UHCA_ABI_EVENT_PATH_MIG_ERR] = "PATH_MIG_ERR",
	[UHCA_ABI_EVENT_DEVICE_FATAL] = "DEVICE_FATAL",
	[UHCA_ABI_EVENT_PORT_ACTIVE] = "PORT_ACTIVE",
	[UHCA_ABI_EVENT_PORT_ERR] = "PORT_ERR",
	[UHCA_ABI_EVENT_LID_CHANGE] = "LID_CHANGE",
	[UHCA_ABI_EVENT_PKEY_CHANGE] = "PKEY_CHANGE",
	[UHCA_ABI_EVENT_SM_CHANGE] = "SM_CHANGE",
	[UHCA_ABI_EVENT_SRQ_ERR] = "SRQ_ERR",
	[UHCA_ABI_EVENT_SRQ_LIMIT_REACHED] = "SRQ_LIMIT_REACHED",
	[UHCA_ABI_EVENT_QP_LAST_WQE_REACHED] = "QP_LAST_WQE_REACHED",
	[UHCA_ABI_EVENT_CLIENT_REREGISTER] = "CLIENT_REREGISTER",
	[UHCA_ABI_EVENT_GID_CHANGE] = "GID_CHANGE",
	[UHCA_ABI_EVENT_WQ_FATAL] = "WQ_FATAL",
};

static const char *wc_opcode_name(uint32_t opcode)
{
	switch (opcode) {
	case UHCA_ABI_WC_SEND:
		return "SEND";
	case UHCA_ABI_WC_RDMA_WRITE:
		return "RDMA_WRITE";
	case UHCA_ABI_WC_RDMA_READ:
		return "RDMA_READ";
	case UHCA_ABI_WC_COMP_SWAP:
		return "COMP_SWAP";
	case UHCA_ABI_WC_FETCH_ADD:
		return "FETCH_ADD";
	case UHCA_ABI_WC_BIND_MW:
		return "BIND_MW";
	case UHCA_ABI_WC_LOCAL_INV:
		return "LOCAL_INV";
	case UHCA_ABI_WC_FLUSH:
		return "FLUSH";
	case UHCA_ABI_WC_ATOMIC_WRITE:
		return "ATOMIC_WRITE";
	case UHCA_ABI_WC_REG_MR:
		return "REG_MR";
	case UHCA_ABI_WC_REG_INTERLEAVED:
		return "REG_INTERLEAVED";
	case UHCA_ABI_WC_REG_SG:
		return "REG_SG";
	case UHCA_ABI_WC_READ_WITH_INV:
		return "READ_WITH_INV";
	case UHCA_ABI_WC_MASKED_CMP_SWP:
		return "MASKED_CMP_SWP";
	case UHCA_ABI_WC_MASKED_FETCH_ADD:
		return "MASKED_FETCH_ADD";
	case UHCA_ABI_WC_RECV:
		return "RECV";
	case UHCA_ABI_WC_RECV_RDMA_WITH_IMM:
		return "RECV_RDMA_WITH_IMM";
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

const char *io_tell_status(uint32_t status)
{
	return NAME_OF(status_name, status);
}

bool io_tell_is_error_state(uint32_t state)
{
	return state == STATE_ERR;
}

/* ---- packets ---- */

/* A message's packets are full but for the last (9.4.1); a READ's request is one, always. */
static void put_part(struct io_words *w, const struct core_train *t, uint32_t i, roce_opcode op)
{
	const struct core_train_story *s = &t->story;
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

static void put_fate(struct io_words *w, const struct core_train *t,
		     const struct io_tell_fate *fate)
{
	if (fate->rule)
		io_words_number(w, "rule", fate->rule);
	if (fate->rule && fate->rule_text)
		io_words_text(w, "fault", fate->rule_text);
	if (t->story.made)
		put_made(w, fate->rule_text ? fate->rule_text : "");
	if (fate->dropped)
		io_words_text(w, "dropped", fate->dropped);
}

void io_tell_packet(struct io_words *w, const struct core_train *t, uint32_t i,
		    const struct io_tell_fate *fate)
{
	const struct core_train_story *s = &t->story;
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

static void tell_state(struct io_words *w, const struct core_trace *t)
{
	io_words_hex(w, "qp", t->qpn);
	put_named(w, "from", NAME_OF(state_name, t->a), t->a);
	put_named(w, "to", NAME_OF(state_name, t->b), t->b);
}

static void tell_completion(struct io_words *w, const struct core_trace *t)
{
	io_words_hex(w, "qp", t->qpn);
	io_words_number(w, "cq", t->cqn);
	io_words_hex(w, "wr", t->wr_id);
	put_named(w, "status", io_tell_status(t->a), t->a);
	put_named(w, "opcode", wc_opcode_name(t->b), t->b);
	io_words_number(w, "length", t->length);
	io_words_hex(w, "vendor", t->c);
}

static void tell_retry(struct io_words *w, const struct core_trace *t)
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
static void tell_event(struct io_words *w, const struct core_trace *t)
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

bool io_tell_trace(struct io_words *w, const char *device, const struct core_trace *t)
{
	static const struct {
		const char *what;
		void (*tell)(struct io_words *w, const struct core_trace *t);
	} points[CORE_TRACE_POINTS] = {
		[CORE_TRACE_QP_STATE] = {"state", tell_state},
		[CORE_TRACE_CQE] = {"completion", tell_completion},
		[CORE_TRACE_RETRY] = {"retry", tell_retry},
		[CORE_TRACE_EVENT] = {"event", tell_event},
	};

	if (t->point == CORE_TRACE_NAK) {
		begin(w, "nak", device);
		io_words_hex(w, "qp", t->qpn);
		io_words_number(w, "psn", t->a);
		io_words_hex(w, "syndrome", t->b);
		return true;
	}
	if (!points[t->point].what)
		return false;
	begin(w, points[t->point].what, device);
	points[t->point].tell(w, t);
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
		return io_tell_status(s->wc_status);
	return NULL;
}

void io_tell_hit(struct io_words *w, const struct fault_hit *h)
{
	static const char *const layer[FAULT_LAYERS] = {
		[FAULT_LAYER_PACKET] = "packet",
		[FAULT_LAYER_CALL] = "call",
		[FAULT_LAYER_COMPLETION] = "completion",
		[FAULT_LAYER_MEMORY] = "memory",
		[FAULT_LAYER_TIME] = "time",
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

void io_tell_rule(struct io_words *w, const struct fault_entry *e, const char *what)
{
	const char *device = e->rule.select.device;

	begin(w, "rule", device[0] ? device : NULL);
	io_words_number(w, "number", e->number);
	if (e->rule.name[0])
		io_words_text(w, "name", e->rule.name);
	io_words_text(w, "text", e->rule.text);
	io_words_text(w, "what", what);
}

void io_tell_region(struct io_words *w, const char *device, uint32_t qpn, uint32_t key,
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

void io_tell_call(struct io_words *w, const char *device, const char *verb, int error,
		  uint32_t client)
{
	const char *name = error ? strerrorname_np(error) : "slow";

	begin(w, "call", device);
	io_words_text(w, "verb", verb);
	io_words_text(w, "status", name ? name : "unknown");
	io_words_number(w, "client", client);
}

void io_tell_fatal(struct io_words *w, const char *device, unsigned n)
{
	begin(w, "event", device);
	io_words_text(w, "type", "DEVICE_FATAL");
	io_words_number(w, "clients", n);
}

void io_tell_leak(struct io_words *w, const char *device, const char *program,
		  const uint32_t count[CORE_OBJECT_TYPES])
{
	begin(w, "leak", device);
	io_words_text(w, "program", program);
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++)
		if (count[i] > 0)
			io_words_number(w, core_object_name((enum core_object_type)i), count[i]);
}

void io_tell_note(struct io_words *w, const char *device, const char *text)
{
	begin(w, "note", device);
	io_words_text(w, "text", text);
}
