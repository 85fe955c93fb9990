/* SPDX-License-Identifier: BSD-2-Clause */
/* Remembers MSN and credits of responders, for answers in their name. */
#include "responders.h"

#include "wire/psn.h"
#include "wire/syndrome.h"

#include <string.h>

/* Longer than packets are under way. */
#define UNDER_WAY UINT64_C(1000000)

static unsigned hash(const uint8_t address[16], uint32_t requester)
{
	uint64_t a;

	memcpy(&a, address + 8, sizeof(a));
	return (unsigned)(((a ^ requester) * UINT64_C(0x9e3779b97f4a7c15)) >> 40) %
	       FAULT_RESPONDERS;
}

static bool is_of(const struct fault_responder *e, const uint8_t address[16], uint32_t requester)
{
	return e->requester == requester && memcmp(e->address, address, 16) == 0;
}

struct fault_responder *fault_responders_find(struct fault_responders *r, const uint8_t address[16],
					      uint32_t requester)
{
	struct fault_responder *e = &r->slot[hash(address, requester)];

	if (is_of(e, address, requester))
		return e;
	*e = (struct fault_responder){.requester = requester, .credits = ROCE_CREDITS_UNLIMITED};
	memcpy(e->address, address, 16);
	return e;
}

void fault_responders_hear(struct fault_responders *r, const struct fault_packet *p)
{
	const struct roce_opcode_info *info = roce_opcode_info(p->pkt.bth.opcode);
	struct fault_responder *e;

	if (!(info->headers & ROCE_HDR_AETH))
		return;
	e = fault_responders_find(r, p->flow.src, p->pkt.bth.dest_qp);
	e->msn = p->pkt.aeth.msn;
	if (roce_syndrome_kind(p->pkt.aeth.syndrome) == ROCE_ACK)
		e->credits = roce_syndrome_value(p->pkt.aeth.syndrome);
}

void fault_responders_refuse(struct fault_responders *r, struct fault_responder *who,
			     const struct fault_packet *request, uint64_t now)
{
	who->refused_psn = request->pkt.bth.psn;
	who->refuses_until = now + UNDER_WAY;
	who->rule = request->model.rule;
	r->refuse_until = who->refuses_until;
}

uint32_t fault_responders_refused(struct fault_responders *r, const struct fault_packet *request,
				  uint32_t requester, uint64_t now)
{
	struct fault_responder *e = &r->slot[hash(request->flow.dst, requester)];

	if (now >= r->refuse_until || now >= e->refuses_until ||
	    !is_of(e, request->flow.dst, requester))
		return 0;
	if (psn_diff(request->pkt.bth.psn, e->refused_psn) > 0)
		return e->rule;
	e->refuses_until = 0;
	return 0;
}
