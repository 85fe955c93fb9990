/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies the payload beside a completion to its place when it is polled. */
#include "take_copy_on_poll.h"

#include "emu/abi/copy_on_poll.h"
#include "provider/base/base.h"

#include <string.h>

static void place(const struct uhca_abi_copy_on_poll *o)
{
	if (o->length <= UHCA_ABI_COPY_ON_POLL_BYTES)
		memcpy((void *)(uintptr_t)o->addr, o->bytes, o->length);
}

/* One step with a copy that is not DONE; *ours: we have copied. False: that is all. */
static bool step(struct uhcav_cq *cq, struct uhca_abi_copy_on_poll *o, bool *ours)
{
	switch (uhca_copy_on_poll_state(o)) {
	case UHCA_ABI_COPY_ON_POLL_PENDING:
		uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_PENDING,
					   UHCA_ABI_COPY_ON_POLL_CLIENT);
		return true;
	case UHCA_ABI_COPY_ON_POLL_CLIENT:
		if (!*ours)
			place(o);
		*ours = true;
		return !uhca_copy_on_poll_exchange(o, UHCA_ABI_COPY_ON_POLL_CLIENT,
						   UHCA_ABI_COPY_ON_POLL_DONE);
	case UHCA_ABI_COPY_ON_POLL_DEVICE:
		if (uhcav_life(cq->ctx) == UHCAV_ALIVE) {
			uhcav_yield_backoff();
			return true;
		}
		if (!*ours) /* it died there */
			place(o);
		return false;
	default:
		return false;
	}
}

void uhcav_take_copy_on_poll(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	bool ours = false;

	if (cq->copies_on_poll && e->copy_on_poll < UHCA_ABI_COPY_ON_POLL_SLOTS)
		while (step(cq, &cq->copies_on_poll[e->copy_on_poll], &ours))
			;
}
