/* SPDX-License-Identifier: BSD-2-Clause */
/* The way in for packets: see receive.c. core_rx stands in core.h. */
#ifndef CORE_RECEIVE_H
#define CORE_RECEIVE_H

#include "emu/core/qp/qp.h"

/*
 * May this QP take this train: service, state, partition, and for a connected QP its peer? What may
 * not is counted as dropped.
 */
bool receive_admit(struct qp *qp, const struct core_train *t);

/*
 * A datagram to a group: each attached QP that may receive it gets its copy, the sender's own
 * included unless it was made with "block self multicast loopback". Devices without such a group
 * are silent.
 */
void mcast_receive(struct device *dev, const struct core_train *t);

#endif
