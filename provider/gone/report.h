/* SPDX-License-Identifier: BSD-2-Clause */
/* Reports of the use of destroyed objects (check object-gone). */
#ifndef UHCAV_GONE_REPORT_H
#define UHCAV_GONE_REPORT_H

#include "provider/diagnostic/diagnostic.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A call ("ibv_post_send") by "here" on a destroyed object, or on one whose context was closed.
 * Reports it.
 */
void uhcav_gone_report_call(struct uhcav_here here, const char *call, const void *object);

/* The same of an object that a call names; false: it lives, or is none. */
bool uhcav_gone_report_argument(struct uhcav_here here, const char *call, const void *object);

/*
 * In the place of functions that objects carry: they are called with the object, report, and return
 * EINVAL. The last one does not report: another one has.
 */
uintptr_t uhcav_gone_poll(const void *cq);
uintptr_t uhcav_gone_post(const void *queue);
uintptr_t uhcav_gone_copy(const void *dm);
uintptr_t uhcav_gone_refuse(const void *object);

#endif
