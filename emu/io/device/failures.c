/* SPDX-License-Identifier: BSD-2-Clause */
/* The causes of the last failures of a device, for clients that ask. See failures.h. */
#include "failures.h"

#include "emu/abi/cqe.h"

/* Packets that are sent again meet the same fate: that is kept once. */
static bool is_same(const struct io_failure *a, const struct io_failure *b)
{
	return a->qpn == b->qpn && a->point == b->point && a->code == b->code &&
	       a->cause.kind == b->cause.kind;
}

bool io_failure_is(const struct core_trace *t)
{
	if (!t->cause)
		return false;
	return t->point == CORE_TRACE_CQE || t->point == CORE_TRACE_RX_DROP ||
	       (t->point == CORE_TRACE_JUDGED && t->b != CORE_JUDGED_DUPLICATE);
}

void io_failures_add(struct io_failures *all, const struct core_trace *t, uid_t uid)
{
	const struct io_failure f = {
		.qpn = t->qpn,
		.point = t->point,
		.code = t->point == CORE_TRACE_CQE ? t->a : t->b,
		.uid = uid,
		.cause = *t->cause,
	};

	if (all->n == 0 || !is_same(&all->at[(all->n - 1) % IO_FAILURES], &f))
		all->n++;
	all->at[(all->n - 1) % IO_FAILURES] = f;
}

/* The newest of the QP for which "fits" says yes. */
static const struct io_failure *find_failure(const struct io_failures *all, uint32_t qpn, uid_t uid,
					     bool (*fits)(const struct io_failure *, uint8_t),
					     uint8_t status)
{
	for (uint32_t i = 1; i <= IO_FAILURES && i <= all->n; i++) {
		const struct io_failure *f = &all->at[(all->n - i) % IO_FAILURES];

		if (f->qpn == qpn && f->uid == uid && fits(f, status))
			return f;
	}
	return NULL;
}

/* A NAK fails a request at once, and what is still on its way is dropped then. */
static bool fits_peer(const struct io_failure *f, uint8_t status)
{
	switch (status) {
	case UHCA_ABI_WC_REM_INV_REQ_ERR:
	case UHCA_ABI_WC_REM_ACCESS_ERR:
	case UHCA_ABI_WC_REM_OP_ERR:
		return f->point == CORE_TRACE_JUDGED && f->code == CORE_JUDGED_REFUSED;
	case UHCA_ABI_WC_RNR_RETRY_EXC_ERR:
		return f->point == CORE_TRACE_JUDGED && f->code == CORE_JUDGED_NOT_READY;
	case UHCA_ABI_WC_RETRY_EXC_ERR:
		return f->point == CORE_TRACE_RX_DROP ||
		       (f->point == CORE_TRACE_JUDGED && f->code != CORE_JUDGED_NOT_READY);
	}
	return false;
}

static bool is_drop(const struct io_failure *f, uint8_t status)
{
	(void)status;
	return f->point == CORE_TRACE_RX_DROP;
}

static bool fits_own(const struct io_failure *f, uint8_t status)
{
	return f->point == CORE_TRACE_CQE && f->code == status;
}

const struct io_failure *io_failures_of(const struct io_failures *all, uint32_t qpn, uid_t uid,
					uint8_t status)
{
	return find_failure(all, qpn, uid, fits_peer, status);
}

const struct io_failure *io_failures_own(const struct io_failures *all, uint32_t qpn, uid_t uid,
					 uint8_t status)
{
	return find_failure(all, qpn, uid, fits_own, status);
}

const struct io_failure *io_failures_dropped(const struct io_failures *all, uint32_t qpn, uid_t uid)
{
	return find_failure(all, qpn, uid, is_drop, 0);
}
