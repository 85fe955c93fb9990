/* SPDX-License-Identifier: BSD-2-Clause */
#include "take_offer.h"

#include "emu/abi/offer.h"
#include "provider/base/base.h"

#include <string.h>

static void place(const struct uhca_abi_offer *o)
{
	if (o->length <= UHCA_ABI_OFFER_BYTES)
		memcpy((void *)(uintptr_t)o->addr, o->bytes, o->length);
}

/* One step with an offer that is not DONE; *ours: we have copied. False: that is all. */
static bool step(struct uhcav_cq *cq, struct uhca_abi_offer *o, bool *ours)
{
	switch (uhca_offer_state(o)) {
	case UHCA_ABI_OFFER_PENDING:
		uhca_offer_turn(o, UHCA_ABI_OFFER_PENDING, UHCA_ABI_OFFER_CLIENT);
		return true;
	case UHCA_ABI_OFFER_CLIENT:
		if (!*ours)
			place(o);
		*ours = true;
		return !uhca_offer_turn(o, UHCA_ABI_OFFER_CLIENT, UHCA_ABI_OFFER_DONE);
	case UHCA_ABI_OFFER_DEVICE:
		if (uhcav_life(cq->ctx) == UHCAV_ALIVE) {
			uhcav_give_way();
			return true;
		}
		if (!*ours) /* it died there */
			place(o);
		return false;
	default:
		return false;
	}
}

void uhcav_take_offer(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	bool ours = false;

	if (cq->offers && e->offer < UHCA_ABI_OFFERS)
		while (step(cq, &cq->offers[e->offer], &ours))
			;
}
