/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client rang before something else that it does, which comes to us by another way: a
 * control message, or the end of its connection (design D15). Hardware had its doorbells written by
 * then, and has sent what they are about.
 */
#ifndef IO_DRAIN_DOORBELLS_H
#define IO_DRAIN_DOORBELLS_H

#include "client.h"

/*
 * Serves the client's doorbells and sends what its queue pairs have to send, in the order of
 * ringing: until there is nothing more that may go, at the most for a millisecond or, when that
 * takes longer, 256 short bursts. Also while the wire is full.
 */
void io_drain_doorbells(struct io_client *c);

#endif
