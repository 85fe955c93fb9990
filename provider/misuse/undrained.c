/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See misuse.h. A queue pair takes receives of its SRQ before it has a message for them, and those
 * are gone with it. That does no harm where all ends; so it is told when the SRQ is used on.
 */
#include "misuse.h"

static unsigned left; /* atomic */

void uhcav_misuse_leave_undrained(struct uhcav_undrained *u, const struct ibv_cq *cq,
				  uint32_t qp_num, struct uhcav_here here)
{
	if (__atomic_load_n(&u->destroyed, __ATOMIC_RELAXED))
		return;
	u->cq = cq;
	u->qp_num = qp_num;
	__atomic_store_n(&u->destroyed, uhcav_stack_take(here), __ATOMIC_RELEASE);
	__atomic_fetch_add(&left, 1, __ATOMIC_RELEASE);
}

/* Takes the entry, for one caller alone; NULL: there is none. */
static const struct uhcav_stack *take_stack(struct uhcav_undrained *u)
{
	const struct uhcav_stack *destroyed;

	if (!__atomic_load_n(&u->destroyed, __ATOMIC_RELAXED))
		return NULL;
	destroyed = __atomic_exchange_n(&u->destroyed, NULL, __ATOMIC_ACQ_REL);
	if (destroyed)
		__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
	return destroyed;
}

void uhcav_misuse_forget_undrained(struct uhcav_undrained *u)
{
	take_stack(u);
}

bool uhcav_misuse_any_undrained(void)
{
	return __atomic_load_n(&left, __ATOMIC_RELAXED);
}

void uhcav_misuse_used_on(struct uhcav_undrained *u, uint32_t srq, struct uhcav_here here)
{
	const struct uhcav_stack *destroyed = take_stack(u);

	if (!destroyed || !uhcav_diagnostic_is_new(UHCA_CHECK_SRQ_UNDRAINED, destroyed, NULL))
		return;
	uhcav_diagnostic_begin(
		UHCA_CHECK_SRQ_UNDRAINED,
		"a queue pair was destroyed with receives of an SRQ that is used on");
	uhcav_diagnostic_fact(
		"QP 0x%x was not in the error state, and IBV_EVENT_QP_LAST_WQE_REACHED "
		"was not read of it",
		u->qp_num);
	uhcav_diagnostic_fact("SRQ 0x%x had outstanding receives", srq);
	uhcav_diagnostic_stack(destroyed, "destroyed by");
	uhcav_diagnostic_stack(uhcav_stack_take(here), "the SRQ used on by");
	uhcav_diagnostic_report();
}
