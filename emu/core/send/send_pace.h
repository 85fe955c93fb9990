/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast packets leave that nobody acknowledges. A RoCE network loses nothing by itself; a socket
 * drops what it has no room for. Reliable services have a window for that (send_window.h), UC and
 * UD have nothing, and of long messages a burst is one call for its sender, but several datagrams
 * for its receiver. So they leave in bursts for which there is room, and more slowly than a
 * receiver takes them that has a processor for itself. In the pause behind a burst their QPs wait;
 * all others go on, and so does what stays in the shell: that is taken as it comes.
 */
#ifndef CORE_SEND_PACE_H
#define CORE_SEND_PACE_H

#include "emu/core/qp/queue_pair.h"

/* There is a pause. */
bool send_pace_rests(const struct device *dev);

/* The request of this unreliable QP waits for its end: it would leave by the network. */
bool send_pace_holds(const struct qp *qp, const struct send_wr *w);

/* The QP goes on behind the pause. */
void send_pace_wait(struct qp *qp);

/* Those that wait go on, if the pause is over. */
void send_pace_resume(struct device *dev);

/*
 * Those of a client that cannot wait go on, and there is no pause until it is set again: to what
 * this returns.
 */
uint64_t send_pace_lift(struct client *c);
void send_pace_set(struct device *dev, uint64_t until);

/* When somebody goes on: UINT64_MAX when nobody waits. */
uint64_t send_pace_deadline(const struct device *dev);

#endif
