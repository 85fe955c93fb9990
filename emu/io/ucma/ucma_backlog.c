/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waits in a full backlog. Anybody on the network may ask for connections, and who asks for
 * many must not keep the others out: when there is no room, the host with the most requests that
 * wait gives one back (its newest, which is refused) for the host with fewer. Hosts are told apart
 * by a hash of their GID, as queues are by stochastic fairness queueing: two that share a bucket
 * share its part, and a request is looked at in time linear in the backlog.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"
#include "wire/cm_msg.h"

#define BUCKETS 256u

/* Where the process lies is what a stranger does not know. */
static unsigned bucket_of(const struct ucma_id *listener, const uint8_t gid[16])
{
	uint64_t h = (uint64_t)(uintptr_t)listener;

	for (unsigned i = 0; i < 16; i++)
		h = (h ^ gid[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (unsigned)(h >> 32) % BUCKETS;
}

static unsigned largest(const uint32_t count[BUCKETS])
{
	unsigned most = 0;

	for (unsigned i = 1; i < BUCKETS; i++)
		if (count[i] > count[most])
			most = i;
	return most;
}

static struct ucma_id *newest_of(const struct ucma_id *listener, unsigned bucket)
{
	struct ucma_event *e;

	TAILQ_FOREACH_REVERSE(e, &listener->file->events, ucma_events, link)
	if (e->id == listener && e->request &&
	    bucket_of(listener, e->request->remote_gid) == bucket)
		return e->request;
	return NULL;
}

bool ucma_backlog_has_room(struct ucma_id *listener, const uint8_t gid[16])
{
	uint32_t count[BUCKETS] = {0};
	const struct ucma_event *e;
	struct ucma_id *given_back;
	unsigned most;

	if (listener->backlog)
		return true;
	TAILQ_FOREACH(e, &listener->file->events, link)
	if (e->id == listener && e->request)
		count[bucket_of(listener, e->request->remote_gid)]++;
	most = largest(count);
	/* An exchange among equals would help nobody. */
	if (count[most] <= count[bucket_of(listener, gid)] + 1)
		return false;
	given_back = newest_of(listener, most);
	core_cm_reject(given_back->cm, ROCE_CM_REJ_NO_RESOURCES, &(struct core_cm_param){0},
		       io_clock_now());
	ucma_id_destroy(given_back);
	listener->backlog++;
	return true;
}
