/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See udp_pace.h.
 */
#include "udp_pace.h"

#define BURST       131072 /* what one look at the sockets takes out of them, and more */
#define NS_PER_BYTE 2      /* 500 MB/s: a third of what a receiver was seen to take */
#define HEADERS     64     /* of a packet */

void io_udp_pace_init(struct io_udp_pace *p, uint32_t room)
{
	*p = (struct io_udp_pace){.burst = room < BURST ? room : BURST};
}

static bool has_window(const struct core_train *t)
{
	enum roce_service service = roce_opcode_info(t->head.bth.opcode)->service;

	return service == ROCE_SVC_RC || service == ROCE_SVC_XRC;
}

bool io_udp_pace_sent(struct io_udp_pace *p, const struct core_train *t, uint64_t now)
{
	if (has_window(t))
		return false;
	if (now - p->began >= (uint64_t)NS_PER_BYTE * p->bytes) {
		p->began = now;
		p->bytes = 0;
	}
	p->bytes += t->length + HEADERS * t->count;
	if (p->bytes < p->burst)
		return false;
	p->until = p->began + (uint64_t)NS_PER_BYTE * p->bytes;
	return true;
}

bool io_udp_pace_over(struct io_udp_pace *p, uint64_t now)
{
	if (p->until == 0 || now < p->until)
		return false;
	p->until = 0;
	return true;
}
