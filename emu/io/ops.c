/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ops.h. Only glue: each operation finds the client's part and calls the file that knows.
 */
#include "ops.h"

#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/device/devices.h"
#include "emu/io/fault/fault.h"
#include "emu/io/net/udp.h"
#include "emu/io/port/port.h"
#include "emu/io/serve/serve.h"

#include <errno.h>
#include <stdlib.h>

static bool rules_hit(struct io_client *c, const struct core_span *span, unsigned n)
{
	struct io_faults *f = c->dev->faults;

	return io_faults_watch(f, FAULT_LAYER_MEMORY) && io_fault_mem(f, c, span, n);
}

static bool rules_hit_row(struct io_client *c, const struct core_row *row)
{
	struct core_span s = {row->addr, row->length, CORE_SPACE_DEVICE};
	bool hit = false;

	if (!io_faults_watch(c->dev->faults, FAULT_LAYER_MEMORY))
		return false;
	for (uint32_t i = 0; i < row->count && !hit; i++, s.addr += (uint64_t)row->stride)
		hit = io_fault_mem(c->dev->faults, c, &s, 1);
	return hit;
}

static int mem_read(void *client, const struct core_span *from, unsigned n, void *to)
{
	struct io_client *c = client;

	if (c->gone)
		return -ESRCH;
	if (rules_hit(c, from, n))
		return -EFAULT;
	return io_mem_read(&c->mem, from, n, to);
}

static int mem_write(void *client, const struct core_span *to, unsigned n, const struct iovec *from,
		     unsigned n_from)
{
	struct io_client *c = client;

	if (c->gone)
		return -ESRCH;
	if (rules_hit(c, to, n))
		return -EFAULT;
	return io_mem_write(&c->mem, to, n, from, n_from);
}

static int row_error(struct io_client *c, const struct core_row *row)
{
	if (c->gone)
		return -ESRCH;
	return rules_hit_row(c, row) ? -EFAULT : 0;
}

static int mem_read_row(void *client, const struct core_row *from, void *to)
{
	int error = row_error(client, from);

	if (!error)
		io_mapped_read_row(from, to);
	return error;
}

static int mem_write_row(void *client, const struct core_row *to, const struct iovec *from)
{
	int error = row_error(client, to);

	if (!error)
		io_mapped_write_row(to, from);
	return error;
}

/* What is not mapped any more is refused when the device stores it, and no trap for the program. */
static bool mem_there(void *client, const struct core_span *at)
{
	struct io_client *c = client;

	return !c->gone && io_mem_is_there(&c->mem, at);
}

/*
 * What stays in this process is copied once, from where it stands. What goes to the network has a
 * checksum, under which the program must not change it; and rules see every access.
 */
static const void *mem_map(void *client, const struct core_span *at, const uint8_t dst[16])
{
	const struct io_client *c = client;
	const struct io_loopback *l = c->dev->loopback;

	if (c->gone || l->always_wire || !io_fabric_find(l->fabric, dst) ||
	    io_faults_watch(c->dev->faults, FAULT_LAYER_MEMORY))
		return NULL;
	return (const void *)(uintptr_t)at->addr;
}

static bool stays(void *user, const uint8_t dst[16])
{
	const struct io_device *dev = user;
	const struct io_loopback *l = dev->loopback;

	return !l->always_wire && io_fabric_find(l->fabric, dst);
}

static int ring_alloc(void *client, size_t size, struct core_ring *out)
{
	struct io_shm *shm = malloc(sizeof(*shm));

	(void)client;
	if (!shm)
		return -ENOMEM;
	if (io_shm_create(shm, "uhca-ring", size, false) < 0) {
		free(shm);
		return -ENOMEM;
	}
	*out = (struct core_ring){.base = shm->base, .size = shm->size, .token = shm};
	return 0;
}

static void ring_free(void *client, struct core_ring *ring)
{
	(void)client;
	if (ring->token) {
		io_shm_destroy(ring->token);
		free(ring->token);
	}
	*ring = (struct core_ring){0};
}

static bool comp_event(void *client, uint32_t channel, uint64_t cookie)
{
	struct io_client *c = client;
	struct io_channel *ch = io_channel_table_get(&c->channels, channel);
	struct uhca_abi_comp_event event = {cookie};

	return ch && io_channel_send(ch, &event);
}

static uint32_t comp_purge(void *client, uint32_t channel, uint64_t cookie)
{
	struct io_client *c = client;
	struct io_channel *ch = io_channel_table_get(&c->channels, channel);

	return ch ? io_channel_purge(ch, cookie) : 0;
}

static bool async_event(void *client, const struct uhca_abi_async_event *event)
{
	struct io_client *c = client;

	io_log(IO_LOG_DEBUG, "client %u: async event %u", c->id, event->type);
	return io_channel_send(&c->async, event);
}

static uint32_t async_purge(void *client, uint64_t cookie)
{
	return io_channel_purge(&((struct io_client *)client)->async, cookie);
}

static void random_bytes(void *user, void *buf, size_t len)
{
	(void)user;
	io_random(buf, len);
}

/* Devices of one daemon hear each other without a socket; the wire needs one for each group. */
static int mcast(void *user, const uint8_t gid[16], bool join)
{
	struct io_device *dev = user;

	if (dev->udp && join)
		return io_udp_join(dev->udp, gid);
	if (dev->udp)
		io_udp_leave(dev->udp, gid);
	return 0;
}

static const char *const point_name[] = {
	[CORE_TRACE_QP_STATE] = "state", [CORE_TRACE_TX] = "tx",
	[CORE_TRACE_RX] = "rx",          [CORE_TRACE_RX_DROP] = "drop",
	[CORE_TRACE_JUDGED] = "judged",  [CORE_TRACE_REQUEST] = "request",
	[CORE_TRACE_NAK] = "nak",        [CORE_TRACE_RETRY] = "retry",
	[CORE_TRACE_CQE] = "completion", [CORE_TRACE_EVENT] = "event",
};

/* Of a QP that nobody has there is nothing to tell. */
static void keep_failure(struct io_device *dev, const struct core_trace *t)
{
	struct core_qp_look look;

	if (core_look_at_qp(dev->core, t->qpn, &look) && look.client)
		io_failures_add(&dev->failures, t, ((struct io_client *)look.client)->peer.uid);
}

static void trace(void *user, const struct core_trace *t)
{
	struct io_device *dev = user;

	if (io_failure_is(t))
		keep_failure(dev, t);
	if (io_log_enabled(IO_LOG_DEBUG))
		io_log(IO_LOG_DEBUG, "%s qp 0x%06x %s %u %u", dev->id.name, t->qpn,
		       point_name[t->point], t->a, t->b);
	if (dev->pcap)
		io_pcap_trace(dev->pcap, t);
}

static const struct core_ops ops = {
	.mem_read = mem_read,
	.mem_read_row = mem_read_row,
	.mem_write_row = mem_write_row,
	.mem_write = mem_write,
	.mem_there = mem_there,
	.mem_map = mem_map,
	.stays = stays,
	.ring_alloc = ring_alloc,
	.ring_free = ring_free,
	.comp_event = comp_event,
	.comp_purge = comp_purge,
	.async_event = async_event,
	.async_purge = async_purge,
	.mcast = mcast,
	.random = random_bytes,
	.trace = trace,
	.completion = io_fault_cqe,
};

const struct core_ops *io_core_ops(void)
{
	return &ops;
}
