/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work that needs no network: local operations, and flushed requests. A client can post them as
 * fast as they are done, and on many QPs: at one time (device_set_time) a device does so much of
 * it, and goes on in its next core_tick.
 */
#ifndef CORE_BUDGET_H
#define CORE_BUDGET_H

#include "qp.h"

#define BUDGET_MAX 256u /* requests of one device at one time: some hundred microseconds */

/*
 * May the QP do one more such request now? False: it is on the device's list of those that go on
 * later, and is to stop.
 */
bool budget_take(struct qp *qp);

/* The QP goes on if the time is later than the one at which it stopped. For core_tick. */
void budget_resume(struct device *dev);

/* When somebody goes on: UINT64_MAX when nobody has to. */
uint64_t budget_deadline(const struct device *dev);

#endif
