/* SPDX-License-Identifier: BSD-2-Clause */
/* What goes over an open device: commands, doorbells, the pages that come with replies, its end. */
#include "device.h"

#include "emu/abi/event.h"
#include "provider/diagnostic/diagnostic.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int uhcav_context_map_file(int fd, size_t size, bool writable, void **out)
{
	int prot = writable ? PROT_READ | PROT_WRITE : PROT_READ;
	struct stat st;
	void *base;
	int err = 0;

	/* A file that is shorter than it says would be a SIGBUS later. */
	if (fstat(fd, &st) || (uint64_t)st.st_size < size) {
		uhcav_close(fd);
		return -EPROTO;
	}
	base = mmap(NULL, size, prot, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		err = -errno;
	else
		*out = base;
	uhcav_close(fd);
	return err;
}

int uhcav_context_map(int fd, size_t size, bool writable, uint32_t kind, void **out)
{
	struct uhca_abi_region *region;
	void *base;
	int err;

	if (size < sizeof(*region)) {
		uhcav_close(fd);
		return -EPROTO;
	}
	err = uhcav_context_map_file(fd, size, writable, &base);
	if (err)
		return err;
	region = base;
	if (region->magic != UHCA_ABI_MAGIC || region->version != UHCA_ABI_VERSION ||
	    region->kind != kind || region->size < size) {
		munmap(region, size);
		return -EPROTO;
	}
	*out = region;
	return 0;
}

/* What the library does by itself may find that it is done already. */
static bool is_programs(uint32_t cmd)
{
	return cmd != UHCA_CMD_DESTROY_CHANNEL && cmd != UHCA_CMD_NOTIFY_CQ;
}

int uhcav_context_call(struct uhcav_context *ctx, struct uhcav_call *call)
{
	int err;

	if (uhcav_life(ctx) != UHCAV_ALIVE)
		return -EIO;
	err = uhcav_rpc_call(&ctx->rpc, call);
	if (call->lost)
		uhcav_context_fatal(ctx);
	else if (err && *call->why && !call->tried && is_programs(call->cmd))
		uhcav_diagnostic_refused("ibv_", call->why, -err);
	return err;
}

int uhcav_context_call_handle(struct uhcav_context *ctx, uint32_t cmd, uint32_t handle)
{
	struct uhca_cmd_handle request = {.handle = handle};
	struct uhcav_call call = UHCAV_CALL_PLAIN(cmd, &request);

	return uhcav_context_call(ctx, &call);
}

int uhcav_context_call_destroy(struct uhcav_context *ctx, uint32_t cmd, uint32_t handle)
{
	int err = uhcav_context_call_handle(ctx, cmd, handle);

	return uhcav_life(ctx) == UHCAV_ALIVE ? err : 0;
}

int uhcav_context_drop_object(struct uhcav_context *ctx, uint32_t cmd, uint32_t handle,
			      void *object)
{
	int err = uhcav_context_call_destroy(ctx, cmd, handle);

	if (!err)
		uhcav_let_go(object);
	return uhcav_result(err);
}

void uhcav_context_ring(struct uhcav_context *ctx, uint32_t n)
{
	static const uint64_t one = 1;

	uhcav_waits_no_more();
	uhca_doorbell_set(ctx->doorbell, n);
	uhca_doorbell_set_active(ctx->doorbell, ctx->active_doorbells);
	if (__atomic_load_n(&ctx->status->need_wakeup, __ATOMIC_RELAXED)) {
		int saved = errno, before = uhcav_cancel_off();
		/* A failed write means that the counter is full: the daemon wakes up anyway. */
		if (write(ctx->event_fd, &one, sizeof(one)) < 0)
			errno = saved;
		uhcav_cancel_back(before);
	}
}

void uhcav_context_listen(struct uhcav_context *ctx, struct uhcav_listener *l)
{
	pthread_mutex_lock(&ctx->listeners_lock);
	LIST_INSERT_HEAD(&ctx->listeners, l, link);
	pthread_mutex_unlock(&ctx->listeners_lock);
}

void uhcav_context_unlisten(struct uhcav_context *ctx, struct uhcav_listener *l)
{
	pthread_mutex_lock(&ctx->listeners_lock);
	LIST_REMOVE(l, link);
	pthread_mutex_unlock(&ctx->listeners_lock);
}

void uhcav_context_fatal(struct uhcav_context *ctx)
{
	struct uhca_abi_async_event event = {.type = UHCA_ABI_EVENT_DEVICE_FATAL};
	uint32_t alive = UHCAV_ALIVE;
	struct uhcav_listener *l;

	if (!__atomic_compare_exchange_n(&ctx->life, &alive, UHCAV_FATAL, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	/* Were it only slow and not gone, it must not touch our memory from here on. */
	shutdown(ctx->rpc.sock, SHUT_RDWR);
	uhcav_event_queue_put(&ctx->async, &event);
	pthread_mutex_lock(&ctx->listeners_lock);
	LIST_FOREACH(l, &ctx->listeners, link)
	{
		l->daemon_gone(l);
	}
	pthread_mutex_unlock(&ctx->listeners_lock);
}

void uhcav_context_forked(struct uhcav_context *ctx)
{
	__atomic_store_n(&ctx->life, UHCAV_FORKED, __ATOMIC_RELEASE);
	/* While a copy is open the daemon would not notice that our parent has ended. */
	close(ctx->rpc.sock);
	ctx->rpc.sock = -1;
}
