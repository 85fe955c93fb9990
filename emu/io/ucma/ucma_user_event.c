/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that a program writes into its own channel (rdma_write_cm_event), to hear of them where it
 * hears of all others; librdmacm's rdma_resolve_addrinfo tells its result so.
 */
#include "ucma_file.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <string.h>

/* Of enum rdma_cm_event_type of later releases: the only ones that may be written. */
enum { EVENT_USER = 18, EVENT_INTERNAL };

/* struct rdma_ucm_write_cm_event of later kernels' headers. */
struct write_event {
	uint32_t id, reserved;
	uint32_t event, status;
	uint64_t arg;
};

int ucma_write_event(struct ucma_command *c)
{
	const struct write_event *in = c->in;
	struct ucma_id *id = ucma_id_find(c->file, in->id);
	struct ucma_event *e;

	if (in->event != EVENT_USER && in->event != EVENT_INTERNAL)
		return io_refuse(-EINVAL, "event %u cannot be written by programs", in->event);
	if (!id)
		return ucma_no_id();
	e = ucma_event_has_room(id) ? ucma_event_new(id, in->event, (int32_t)in->status) : NULL;
	if (!e)
		return ucma_events_wait();
	memcpy(&e->resp.param, &in->arg, sizeof(in->arg));
	ucma_event_post(e);
	return 0;
}
