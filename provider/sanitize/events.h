/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of completion and asynchronous events. */
#ifndef UHCAV_EVENTS_H
#define UHCAV_EVENTS_H

#include "object.h"

#include <pthread.h>

struct uhcav_cq;

/*
 * Before it is armed: waits a completion there that would raise the event, came it later? *end is
 * the index behind the last one.
 */
bool uhcav_events_wait(struct uhcav_cq *cq, bool solicited_only, uint32_t *end);

/*
 * An event was waited for, and of the completions that waited when it was "armed" none was polled
 * since, or only some.
 */
void uhcav_events_lost(struct uhcav_here here, struct ibv_cq *cq, const struct uhcav_stack *armed,
		       bool some);

/* Does who reads events of this CQ wait for them: the descriptor has no O_NONBLOCK? */
bool uhcav_events_block(const struct uhcav_cq *cq);

/* What tells how many events were read and not acknowledged. */
struct uhcav_events {
	const void *object;
	const uint32_t *read;         /* atomic */
	const uint32_t *acknowledged; /* under the mutex */
	pthread_mutex_t *mutex;
	const char *call; /* that acknowledges them */
};

/*
 * Before an object is destroyed, which waits for the acknowledgements: gives other threads a second
 * for them, and then says what is missing.
 */
void uhcav_events_settle(struct uhcav_here here, const struct uhcav_events *e);

#endif
