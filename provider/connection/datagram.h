/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams, which are lost without a word: does their receiver take them? */
#ifndef UHCAV_DATAGRAM_H
#define UHCAV_DATAGRAM_H

#include "ask.h"
#include "provider/diagnostic/diagnostic.h"

struct uhcav_datagram {
	struct uhcav_asker who;
	uint32_t ah, qpn, qkey; /* where it goes, by the address handle's handle */
	const struct uhcav_stack *posted;
};

/* One was sent, "length" bytes of it. It may be lost: the daemon is asked as with a post. */
void uhcav_datagram_sent(struct uhcav_here here, const struct uhcav_datagram *d, uint64_t length);

/*
 * Nothing is sent any more from this queue pair (who), or by this address handle; what is 0 is any.
 * Before they are destroyed, and at the end of the process: if what was sent to a place has found a
 * queue pair that is not in RTR, and it is not up yet, that is told.
 */
void uhcav_datagram_over(const struct uhcav_datagram *of);

/* One was posted. The daemon is asked with the first ones to a place. */
void uhcav_datagram_look(const struct uhcav_datagram *d);

#endif
