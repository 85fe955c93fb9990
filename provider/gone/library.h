/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of libibverbs and librdmacm that no provider sees the end of: completion channels,
 * rdma_cm's ids, event channels and events. The calls on them are heard in the slots by which the
 * program makes them (base/got.h); a call on one that was destroyed is told, and fails.
 */
#ifndef UHCAV_GONE_LIBRARY_H
#define UHCAV_GONE_LIBRARY_H

/* Hears the calls from now on, also of what was loaded since. Any thread. */
void uhcav_gone_listen(void);

#endif
