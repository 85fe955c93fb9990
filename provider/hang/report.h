/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of a program that does not go on. All under the book's lock. */
#ifndef UHCAV_HANG_REPORT_H
#define UHCAV_HANG_REPORT_H

#include "book.h"
#include "thread.h"

#include <stdbool.h>

/* It waits for an event: of a CQ that was armed too late, or of none that is armed. */
void uhcav_hang_tell_lost(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *h);
void uhcav_hang_tell_unarmed(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *h);

/* It sleeps, and an event waits in the channel that it sleeps for. */
void uhcav_hang_tell_overslept(const struct uhcav_hang_thread *t, const struct uhcav_hang_cq *h);

/* It may wait in rdma_destroy_id: where it does, for acknowledgements. Told once. */
void uhcav_hang_tell_destroy(const struct uhcav_hang_thread *t);

/* Tells the collector that this process can go on by its peers alone. Can they not, either? */
bool uhcav_hang_is_closed(void);

/* That is so: what it waits for. False: the others have not said the same yet. */
bool uhcav_hang_tell_stuck(const struct uhcav_hang_threads *all,
			   const struct uhcav_hang_thread *stuck);

/* Nothing can come, whatever the others do. */
void uhcav_hang_tell_dry(const struct uhcav_hang_threads *all,
			 const struct uhcav_hang_thread *stuck);

#endif
