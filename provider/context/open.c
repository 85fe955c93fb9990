/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opening a device: socket, HELLO, the shared pages. The daemon gets two descriptors: our
 * /proc/self/mem, by which it reads and writes our memory whatever its uid and namespace
 * (design D5), and one end of the socket pair whose other end is context->async_fd. We keep a copy
 * of the daemon's end: it lets us put events back (event_queue.c), report the daemon's death, and
 * keeps the application's end from ever reading end-of-file.
 */
#include "open.h"

#include "channel.h"
#include "emu/abi/event.h"
#include "fork.h"
#include "marker.h"
#include "monitor.h"
#include "who_listens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* HELLO; fd gets status page, doorbells, event fd and active doorbells. */
static int say_hello(struct uhcav_context *ctx, const char *name, int async_fd, int fd[4])
{
	struct uhca_cmd_hello request = {
		.magic = UHCA_ABI_MAGIC, .version = UHCA_ABI_VERSION, .pid = (uint32_t)getpid()};
	struct uhca_cmd_hello_reply reply;
	int send_fd[2] = {-1, async_fd};
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_HELLO, &request, &reply, .send_fd = send_fd,
					    .n_send_fd = 2, .recv_fd = fd, .n_recv_fd = 4);
	int err;

	snprintf(request.device, sizeof(request.device), "%s", name);
	snprintf(request.program, sizeof(request.program), "%s", program_invocation_short_name);
	send_fd[0] = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (send_fd[0] < 0) { /* the daemon says why in its log, and refuses */
		request.mem_error = (uint32_t)errno;
		send_fd[0] = async_fd;
	}
	err = uhcav_rpc_call(&ctx->rpc, &call);
	if (send_fd[0] != async_fd)
		close(send_fd[0]);
	ctx->gather_limit = reply.gather_limit;
	ctx->pin = (enum uhca_abi_pin)reply.pin;
	if (!err)
		ctx->marker = uhcav_marker_map(reply.marker);
	return err;
}

static void unmap(const void *at, size_t size)
{
	if (at)
		munmap((void *)(uintptr_t)at, size);
}

static void drop_shared(struct uhcav_context *ctx)
{
	unmap(ctx->status, sizeof(*ctx->status));
	unmap(ctx->doorbell, sizeof(*ctx->doorbell));
	unmap(ctx->active_doorbells, sizeof(*ctx->active_doorbells));
	uhcav_marker_unmap(ctx->marker);
	close(ctx->event_fd);
}

/* Takes what HELLO brought; the descriptors are gone or owned by ctx afterwards. */
static int take_shared(struct uhcav_context *ctx, int fd[4])
{
	void *status = NULL, *doorbell = NULL, *active = NULL;
	int err, err_doorbell, err_active_doorbells;

	err = uhcav_context_map(fd[0], sizeof(*ctx->status), false, UHCA_ABI_REGION_STATUS,
				&status);
	err_doorbell = uhcav_context_map(fd[1], sizeof(*ctx->doorbell), true,
					 UHCA_ABI_REGION_DOORBELL, &doorbell);
	err_active_doorbells =
		uhcav_context_map_file(fd[3], sizeof(*ctx->active_doorbells), true, &active);
	ctx->status = status;
	ctx->doorbell = doorbell;
	ctx->active_doorbells = active;
	ctx->event_fd = fd[2];
	if (!err)
		err = err_doorbell ? err_doorbell : err_active_doorbells;
	if (err)
		drop_shared(ctx);
	return err;
}

static int connect_daemon(struct uhcav_context *ctx)
{
	const char *dir = getenv("UHCA_DIR");
	char path[512];
	int err;

	if (!dir || !*dir)
		return -ENODEV;
	if ((size_t)snprintf(path, sizeof(path), "%s/sock", dir) >= sizeof(path))
		return -ENAMETOOLONG;
	err = uhcav_rpc_connect(&ctx->rpc, path);
	if (err)
		return err;
	err = uhcav_check_listener(ctx->rpc.sock, dir);
	if (err)
		uhcav_rpc_close(&ctx->rpc);
	return err;
}

/*
 * Lets the daemon, and nobody else, use process_vm_* on us where Yama restricts it. Best effort:
 * without Yama there is nothing to permit, and without it the daemon has our /proc/self/mem.
 */
static void permit_daemon(int sock)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	int saved = errno;

	if (!getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len) && peer.pid > 0)
		prctl(PR_SET_PTRACER, (unsigned long)peer.pid, 0, 0, 0);
	errno = saved;
}

static struct uhcav_context *alloc_context(struct ibv_context *ibctx)
{
	const char *single = getenv("UHCA_SINGLE_THREADED");
	struct uhcav_context *ctx = calloc(1, sizeof(*ctx));

	if (!ctx)
		return NULL;
	ctx->ibctx = ibctx;
	ctx->single_threaded = single && !strcmp(single, "1");
	ctx->event_fd = -1;
	uhcav_mr_table_construct(&ctx->regions);
	uhcav_shared_construct(&ctx->shared);
	pthread_mutex_init(&ctx->listeners_lock, NULL);
	pthread_mutex_init(&ctx->parents_lock, NULL);
	return ctx;
}

static void free_context(struct uhcav_context *ctx)
{
	uhcav_mr_table_destruct(&ctx->regions);
	uhcav_shared_destruct(&ctx->shared);
	pthread_mutex_destroy(&ctx->listeners_lock);
	pthread_mutex_destroy(&ctx->parents_lock);
	free(ctx);
}

/* Joins the context that the file names. */
static int join(struct uhcav_context *ctx)
{
	struct uhca_cmd_import request = {.type = UHCA_ABI_IMPORT_CONTEXT};
	struct uhca_cmd_import_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_IMPORT, &request, &reply);

	memcpy(request.token, ctx->file.token, sizeof(request.token));
	return uhcav_rpc_call(&ctx->rpc, &call);
}

/*
 * Asks for a token and puts it where cmd_fd is. A process that may not make memory files (a
 * seccomp filter) has a context that cannot be imported, which is no reason not to open it.
 */
static int name_context(struct uhcav_context *ctx, const char *device)
{
	struct uhca_cmd_handle request = {.handle = 0};
	struct uhca_cmd_export_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_EXPORT, &request, &reply);
	struct uhca_abi_context_file *file = &ctx->file;
	int err = uhcav_rpc_call(&ctx->rpc, &call);

	if (err)
		return err;
	memcpy(file->magic, UHCA_ABI_CONTEXT_MAGIC, sizeof(file->magic));
	snprintf(file->device, sizeof(file->device), "%s", device);
	memcpy(file->token, reply.token, sizeof(file->token));
	uhcav_context_file_put(ctx->ibctx->cmd_fd, file);
	return 0;
}

static int create(struct ibv_context *ibctx, const char *name,
		  const struct uhca_abi_context_file *import, struct uhcav_context **out)
{
	struct uhcav_context *ctx = alloc_context(ibctx);
	int async[2], fd[4];
	int err = -ENOMEM;

	if (!ctx)
		return err;
	err = connect_daemon(ctx);
	if (err)
		goto err_free;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, async)) {
		err = -errno;
		goto err_close;
	}
	uhcav_event_queue_construct(&ctx->async, async[0], async[1],
				    sizeof(struct uhca_abi_async_event));
	permit_daemon(ctx->rpc.sock);
	err = say_hello(ctx, name, async[1], fd);
	if (err)
		goto err_async;
	err = take_shared(ctx, fd);
	if (err)
		goto err_async;
	if (import)
		ctx->file = *import;
	err = import ? join(ctx) : name_context(ctx, name);
	if (!err) {
		uhcav_fork_prepare_once();
		err = uhcav_monitor_add(ctx);
	}
	if (err)
		goto err_shared;
	ibctx->async_fd = async[0];
	*out = ctx;
	return 0;

err_shared:
	drop_shared(ctx);
err_async:
	uhcav_event_queue_destruct(&ctx->async);
	close(async[0]);
	close(async[1]);
err_close:
	uhcav_rpc_close(&ctx->rpc);
err_free:
	free_context(ctx);
	return err;
}

int uhcav_context_create(struct ibv_context *ibctx, const char *name, struct uhcav_context **out)
{
	return create(ibctx, name, NULL, out);
}

int uhcav_context_import(struct ibv_context *ibctx, const struct uhca_abi_context_file *file,
			 struct uhcav_context **out)
{
	return create(ibctx, file->device, file, out);
}

void uhcav_context_destroy(struct uhcav_context *ctx)
{
	uhcav_monitor_remove(ctx);
	uhcav_channels_forget(ctx);
	uhcav_rpc_close(&ctx->rpc);
	drop_shared(ctx);
	close(ctx->async.write_fd);
	uhcav_event_queue_destruct(&ctx->async);
	free_context(ctx);
}
