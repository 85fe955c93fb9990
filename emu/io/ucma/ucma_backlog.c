/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waits in a full backlog. A request that finds no room is dropped, and comes again (so does
 * the kernel: ucma answers -ENOMEM, ib_cm forgets the REQ); one for datagrams is refused. Anybody
 * on the network may ask for connections, and who asks for many must not keep the others out: when
 * there is no room, the host with the most requests that wait gives one back (its newest, which is
 * dropped) for the host with fewer. Hosts are told apart by a hash of their GID, as queues are by
 * stochastic fairness queueing: two that share a bucket share its part, and a request is looked at
 * in time linear in the backlog.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

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

	TAILQ_FOREACH_REVERSE(e, &listener->events, ucma_id_events, of_id)
	if (e->request && bucket_of(listener, e->request->remote_gid) == bucket)
		return e->request;
	return NULL;
}

static void give_back(struct ucma_id *request)
{
	core_cm_forget(request->cm, io_clock_now());
	request->cm = NULL;
	ucma_id_destroy(request); /* and its directory is free */
}

static void say_full(const struct ucma_id *listener)
{
	static struct io_log_limit limit;
	uint32_t held;

	if (io_log_limit(&limit, 1, io_clock_now(), &held))
		io_log(IO_LOG_INFO,
		       "rdma_cm: the backlog of the listener at port %u is full: request %s (%u "
		       "more)",
		       listener->src.port,
		       listener->qp_type == QPT_UD ? "refused" : "dropped; the peer retries", held);
}

bool ucma_backlog_has_room(struct ucma_id *listener, const uint8_t gid[16])
{
	uint32_t count[BUCKETS] = {0};
	const struct ucma_event *e;
	unsigned most;

	if (listener->backlog)
		return true;
	say_full(listener);
	TAILQ_FOREACH(e, &listener->events, of_id)
	if (e->request)
		count[bucket_of(listener, e->request->remote_gid)]++;
	most = largest(count);
	/* An exchange among equals would help nobody. */
	if (count[most] <= count[bucket_of(listener, gid)] + 1)
		return false;
	give_back(newest_of(listener, most));
	return true;
}
