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

/*
 * The daemon stores it just now. One that died there has not finished; one that put it back wants
 * us to do it.
 */
static void wait_for_device(struct uhcav_cq *cq, struct uhca_abi_offer *o)
{
	while (uhca_offer_state(o) == UHCA_ABI_OFFER_DEVICE) {
		if (uhcav_life(cq->ctx) != UHCAV_ALIVE) {
			place(o);
			return;
		}
		uhcav_give_way();
	}
}

void uhcav_take_offer(struct uhcav_cq *cq, const struct uhca_abi_cqe *e)
{
	struct uhca_abi_offer *o;

	if (!cq->offers || e->offer >= UHCA_ABI_OFFERS)
		return;
	o = &cq->offers[e->offer];
	while (uhca_offer_state(o) != UHCA_ABI_OFFER_DONE) {
		if (uhca_offer_take(o, UHCA_ABI_OFFER_CLIENT)) {
			place(o);
			uhca_offer_set(o, UHCA_ABI_OFFER_DONE);
			return;
		}
		wait_for_device(cq, o);
		if (uhcav_life(cq->ctx) != UHCAV_ALIVE)
			return;
	}
}
