/* SPDX-License-Identifier: BSD-2-Clause */
/* Applies completion rules: changes, delays, withholds. */
#include "fault_cqe.h"

#include "emu/io/base/base.h"
#include "emu/io/serve/serve.h"
#include "faults.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* One that is late. */
struct io_fault_cqe {
	TAILQ_ENTRY(io_fault_cqe) link;
	struct io_device *dev;
	uint32_t cqn;
	uint64_t at;
	bool whole_cq; /* all of its CQ waits for it */
	bool receive;  /* whatever its opcode says */
	struct uhca_abi_cqe e;
};

/* ---- changing ---- */

static void set(struct uhca_abi_cqe *e, const struct fault_value *v)
{
	uint32_t value = (uint32_t)v->number2;

	if (strcmp(v->word, "status") == 0)
		e->status = (uint8_t)value;
	else if (strcmp(v->word, "vendor") == 0)
		e->vendor_err = value;
	else if (strcmp(v->word, "length") == 0)
		e->byte_len = value;
	else if (strcmp(v->word, "imm") == 0 && (e->flags & UHCA_ABI_WC_WITH_IMM))
		e->imm = htobe32(value);
}

/*
 * Only wr_id, status, qp_num and vendor_err of a failed completion mean something (ibv_poll_cq(3)).
 * The library still has to know the queue.
 */
static void garble(struct io_faults *f, const struct fault_entry *rule, struct uhca_abi_cqe *e)
{
	static const uint8_t opcodes[] = {UHCA_ABI_WC_SEND,      UHCA_ABI_WC_RDMA_WRITE,
					  UHCA_ABI_WC_RDMA_READ, UHCA_ABI_WC_BIND_MW,
					  UHCA_ABI_WC_LOCAL_INV, UHCA_ABI_WC_RECV,
					  UHCA_ABI_WC_FETCH_ADD};
	const uint16_t flags = UHCA_ABI_WC_GRH | UHCA_ABI_WC_WITH_IMM | UHCA_ABI_WC_WITH_INV;
	const uint8_t before = e->opcode;
	const uint64_t any = fault_plan_random(f->plan, rule->number, UINT64_MAX);

	e->opcode = opcodes[fault_plan_random(f->plan, rule->number, sizeof(opcodes))];
	if ((e->opcode ^ before) & UHCA_ABI_WC_RECV)
		e->flags ^= UHCA_ABI_WC_RECV_INVERTED;
	e->byte_len = (uint32_t)any;
	e->imm = (uint32_t)(any >> 32);
	e->src_qp = (uint32_t)(any >> 16) & 0xffffff;
	e->flags = (uint16_t)((e->flags & ~flags) | (any >> 8 & flags));
}

/* ---- waiting ---- */

/* Must the later one stay behind? */
static bool in_order(const struct io_fault_cqe *earlier, const struct io_fault_cqe *later)
{
	if (earlier->dev != later->dev || earlier->cqn != later->cqn)
		return false;
	return earlier->whole_cq ||
	       (earlier->e.qpn == later->e.qpn && earlier->receive == later->receive);
}

/* The last that is late and must come before this one. */
static const struct io_fault_cqe *last_late(const struct io_faults *f,
					    const struct io_fault_cqe *later)
{
	const struct io_fault_cqe *c;

	if (TAILQ_EMPTY(&f->cqes))
		return NULL;
	TAILQ_FOREACH_REVERSE(c, &f->cqes, io_fault_cqes, link)
	{
		if (in_order(c, later))
			return c;
	}
	return NULL;
}

/* False: it cannot wait. */
static bool keep(struct io_faults *f, const struct io_fault_cqe *what)
{
	struct io_fault_cqe *c = f->n_cqes < IO_FAULT_CQES_MAX ? malloc(sizeof(*c)) : NULL;

	if (!c) {
		io_log(IO_LOG_ERROR, "%s: too many deferred completions", what->dev->id.name);
		return false;
	}
	*c = *what;
	TAILQ_INSERT_TAIL(&f->cqes, c, link);
	if (f->n_cqes++ == 0 || c->at < f->cqes_due)
		f->cqes_due = c->at;
	f->armed = true;
	return true;
}

static void drop(struct io_faults *f, struct io_fault_cqe *c)
{
	TAILQ_REMOVE(&f->cqes, c, link);
	f->n_cqes--;
	free(c);
}

/* ---- the CQ is about to be full ---- */

static bool is_full(const struct io_faults *f, const struct io_device *dev, uint32_t cqn)
{
	for (unsigned i = 0; i < f->n_pending; i++)
		if (f->pending[i].action == FAULT_CQE_OVERRUN && f->pending[i].dev == dev &&
		    f->pending[i].cq == cqn)
			return true;
	return false;
}

static void fill(struct io_faults *f, const struct io_fault_cqe *c, uint32_t rule)
{
	const struct io_fault_pending p = {.dev = c->dev,
					   .action = FAULT_CQE_OVERRUN,
					   .rule = rule,
					   .qpn = c->e.qpn,
					   .cq = c->cqn};

	io_fault_later(f, &p);
}

/* ---- asking ---- */

static void fill_subject(struct fault_subject *s, const struct io_fault_cqe *c)
{
	struct core_qp_look look = {0};

	core_look_at_qp(c->dev->core, c->e.qpn, &look);
	io_fault_subject(s, FAULT_LAYER_COMPLETION, c->dev, look.client);
	s->qpn = c->e.qpn;
	s->peer_qpn = look.peer_qpn;
	s->pd = look.pd;
	s->srq = c->receive ? look.srq : 0;
	s->cq = c->cqn;
	s->length = c->e.byte_len;
	s->wc_status = c->e.status;
	s->wc_opcode = c->e.opcode;
}

static void delay(struct io_faults *f, struct io_fault_cqe *c, const struct fault_entry *e)
{
	c->at += io_faults_delay(f, e);
	c->whole_cq |= !e->rule.value.by_queue;
	if (e->rule.action == FAULT_CQE_ANNOUNCE)
		core_inject_cq_notify(c->dev->core, c->cqn);
}

/* What the rules do to it; false: it is gone. */
static bool ask(struct io_faults *f, struct io_fault_cqe *c)
{
	const struct fault_entry *hit[FAULT_HITS_MAX];
	struct fault_subject s;
	unsigned n;

	if (!io_faults_watch(f, FAULT_LAYER_COMPLETION))
		return true;
	fill_subject(&s, c);
	n = io_faults_decide(f, c->dev, &s, c->at, hit);
	for (unsigned i = 0; i < n; i++) {
		enum fault_action action = hit[i]->rule.action;

		if (action == FAULT_CQE_SET)
			set(&c->e, &hit[i]->rule.value);
		else if (action == FAULT_CQE_GARBAGE)
			garble(f, hit[i], &c->e);
		else if (action == FAULT_CQE_DELAY || action == FAULT_CQE_ANNOUNCE)
			delay(f, c, hit[i]);
		else if (action == FAULT_CQE_OVERRUN)
			fill(f, c, hit[i]->number);
		if (action == FAULT_CQE_OVERRUN || action == FAULT_CQE_WITHHOLD)
			return false;
	}
	return true;
}

bool io_fault_cqe(void *user, uint32_t cqn, struct uhca_abi_cqe *e)
{
	struct io_device *dev = user;
	struct io_faults *f = dev->faults;
	uint64_t now = io_clock_now();
	struct io_fault_cqe c = {
		.dev = dev, .cqn = cqn, .at = now, .receive = uhca_cqe_is_receive(e), .e = *e};
	const struct io_fault_cqe *before;

	if (is_full(f, dev, cqn) || !ask(f, &c))
		return false;
	*e = c.e;
	before = last_late(f, &c);
	if (before && before->at > c.at)
		c.at = before->at;
	if (!before && c.at == now)
		return true;
	return !keep(f, &c);
}

/* ---- when it is time ---- */

void io_fault_cqe_forget(struct io_faults *f, const struct io_device *dev, uint32_t qpn)
{
	struct io_fault_cqe *c, *next;

	for (c = TAILQ_FIRST(&f->cqes); c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->dev == dev && c->e.qpn == qpn)
			drop(f, c);
	}
}

/* One CQ's stand in the order of their times; of several CQs in any. */
void io_fault_cqe_tick(struct io_faults *f, uint64_t now)
{
	struct io_fault_cqe *c, *next;

	if (io_fault_cqe_deadline(f) > now)
		return;
	f->cqes_due = UINT64_MAX;
	for (c = TAILQ_FIRST(&f->cqes); c; c = next) {
		next = TAILQ_NEXT(c, link);
		if (c->at > now) {
			if (c->at < f->cqes_due)
				f->cqes_due = c->at;
			continue;
		}
		core_inject_completion(c->dev->core, c->cqn, &c->e, now);
		c->dev->dirty = true;
		drop(f, c);
		f->stale |= f->n_cqes == 0; /* perhaps nobody needs to look at completions now */
	}
}

uint64_t io_fault_cqe_deadline(const struct io_faults *f)
{
	return f->n_cqes > 0 ? f->cqes_due : UINT64_MAX;
}

void io_fault_cqe_destroy(struct io_faults *f)
{
	while (f->n_cqes > 0)
		drop(f, TAILQ_FIRST(&f->cqes));
}
