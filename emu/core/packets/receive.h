/* SPDX-License-Identifier: BSD-2-Clause */
/* The way in for packets: see receive.c. core_rx stands in core.h. */
#ifndef CORE_RECEIVE_H
#define CORE_RECEIVE_H

#include "emu/core/qp/queue_pair.h"

/*
 * May this QP take this burst: service, state, partition, and for a connected QP its peer? What may
 * not is counted as dropped.
 */
bool receive_admit(struct qp *qp, const struct core_burst *t);

#endif
