/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that a program writes into its own channel (rdma_write_cm_event), to hear of them where it
 * hears of all others; librdmacm's rdma_resolve_addrinfo tells its result so.
 */
#include "ucma_file.h"

#include <errno.h>
#include <string.h>

/* Of enum rdma_cm_event_type of later releases: the only ones that may be written. */
enum { EVENT_USER = 18, EVENT_INTERNAL };

#define WAITING_MAX 4096 /* events of one open, before no more are taken */

/* struct rdma_ucm_write_cm_event of later kernels' headers. */
struct write_event {
	uint32_t id, reserved;
	uint32_t event, status;
	uint64_t arg;
};

static unsigned waiting(const struct ucma_file *f)
{
	const struct ucma_event *e;
	unsigned n = 0;

	TAILQ_FOREACH(e, &f->events, link)
	{
		n++;
	}
	return n;
}

int ucma_write_event(struct ucma_command *c)
{
	const struct write_event *in = c->in;
	struct ucma_id *id = ucma_id_find(c->file, in->id);
	struct ucma_event *e;

	if (in->event != EVENT_USER && in->event != EVENT_INTERNAL)
		return -EINVAL;
	if (!id)
		return -ENOENT;
	e = waiting(c->file) < WAITING_MAX ? ucma_event_new(id, in->event, (int32_t)in->status)
					   : NULL;
	if (!e)
		return -ENOMEM;
	memcpy(&e->resp.param, &in->arg, sizeof(in->arg));
	ucma_event_post(e);
	return 0;
}
