/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registration with whatever libibverbs runs (design D1): the only file that knows its private
 * functions. None of them is linked; they are looked up in the libibverbs that is loading us.
 *
 * The private layouts differ between releases, sometimes without a change of the library's
 * private ABI number, so before anything is registered they are proved: a table of sentinels is
 * installed into a scratch context, and the public fields of that context must then hold the
 * sentinels of the slots that we believe in. A library that fails the proof is refused.
 */
#include "driver.h"

#include "dead_ops.h"
#include "names.h"
#include "no_preload.h"
#include "ops.h"
#include "provider/base/base.h"
#include "provider/connection/connection.h"
#include "provider/context/context.h"
#include "provider/gone/gone.h"
#include "provider/pin/pin.h"
#include "provider/post/post.h"
#include "provider/sanitize/sanitize.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for the library's verbs_context, of any release. */
#define CONTEXT_ROOM 4096u

struct library {
	void (*register_driver)(const struct uhcav_device_ops *ops);
	void (*set_ops)(void *verbs_context, void *const *table);
	void *(*alloc_context)(struct ibv_device *dev, int cmd_fd, size_t size, void *offset,
			       uint32_t driver_id);
	void (*uninit_context)(void *verbs_context);
	int generation;
};

static struct library library;
static void *op_table[UHCAV_OP_SLOTS];
static void *dead_table[UHCAV_OP_SLOTS]; /* of what is destroyed */

/*
 * The library's context ends with the public struct ibv_context, right before which stands the
 * size of the whole: the place where that is so is the place.
 */
static struct ibv_context *find_public(char *verbs_context, const struct ibv_device *dev,
				       int cmd_fd)
{
	size_t size = sizeof(struct ibv_context) + sizeof(size_t);

	for (; size <= CONTEXT_ROOM; size += sizeof(void *)) {
		char *end = verbs_context + size;
		struct ibv_context *c = (void *)(end - sizeof(*c));
		if (((size_t *)(void *)c)[-1] == size && c->device == dev && c->cmd_fd == cmd_fd)
			return c;
	}
	return NULL;
}

/* A context of the library with our headroom before it; *out is its public part. */
static char *new_context(struct ibv_device *dev, int cmd_fd, struct ibv_context **out)
{
	char *base = library.alloc_context(dev, cmd_fd, UHCAV_CONTEXT_HEADROOM + CONTEXT_ROOM,
					   (void *)(uintptr_t)UHCAV_CONTEXT_HEADROOM, 0);

	if (!base)
		return NULL;
	*out = find_public(base + UHCAV_CONTEXT_HEADROOM, dev, cmd_fd);
	return base;
}

/* Closes cmd_fd and async_fd, too. */
static void delete_context(char *base)
{
	library.uninit_context(base + UHCAV_CONTEXT_HEADROOM);
	free(base);
}

/* Fields of verbs_context are found from its end: the library puts new ones at its start. */
#define VERBS_FIELD(c, field)                                                                      \
	(*(void **)(void *)((char *)((c) + 1) - (sizeof(struct verbs_context) -                    \
						 offsetof(struct verbs_context, field))))

struct anchor {
	enum uhcav_op op;
	void *found;
};

static bool anchors_hold(struct ibv_context *c, const char *sentinel, int generation)
{
#define OPS(field)                                                                                 \
	{                                                                                          \
		UHCAV_OP_##field, (void *)c->ops.field                                             \
	}
#define FIELD(field)                                                                               \
	{                                                                                          \
		UHCAV_OP_##field, VERBS_FIELD(c, field)                                            \
	}
#define FIELD_AS(op_name, name)                                                                    \
	{                                                                                          \
		UHCAV_OP_##op_name, VERBS_FIELD(c, name)                                           \
	}
	const struct anchor anchors[] = {
		OPS(alloc_mw),
		OPS(bind_mw),
		OPS(dealloc_mw),
		OPS(poll_cq),
		OPS(req_notify_cq),
		OPS(post_srq_recv),
		OPS(post_send),
		OPS(post_recv),
		FIELD(advise_mr),
		FIELD(alloc_null_mr),
		FIELD(read_counters),
		FIELD(alloc_dm),
		FIELD(free_dm),
		FIELD(reg_dm_mr),
		FIELD(alloc_td),
		FIELD(dealloc_td),
		FIELD(create_counters),
		FIELD(destroy_counters),
		FIELD(modify_cq),
		FIELD(create_wq),
		FIELD(destroy_wq),
		FIELD(query_rt_values),
		FIELD(query_device_ex),
		FIELD_AS(create_flow, ibv_create_flow),
		FIELD_AS(destroy_flow, ibv_destroy_flow),
		FIELD(open_qp),
		FIELD(create_qp_ex),
		FIELD(get_srq_num),
		FIELD(create_srq_ex),
		FIELD(open_xrcd),
		FIELD(close_xrcd),
	};
#undef OPS
#undef FIELD
#undef FIELD_AS
	for (size_t i = 0; i < sizeof(anchors) / sizeof(anchors[0]); i++)
		if (anchors[i].found != sentinel + uhcav_op_slot(anchors[i].op, generation))
			return false;
	return true;
}

bool uhcav_driver_probe(int generation, const char **why)
{
	static const char sentinel[UHCAV_OP_SLOTS];
	struct uhcav_device *dev = calloc(1, sizeof(*dev));
	void *table[UHCAV_OP_SLOTS];
	struct ibv_context *c;
	char *base = NULL;
	bool good = false;

	*why = "no memory";
	if (!dev)
		return false;
	dev->refcount = 1000; /* not one of the library's: it must never free it */
	base = new_context(&dev->device, -1, &c);
	if (!base)
		goto out;
	*why = "its context has an unknown layout";
	if (c) {
		for (size_t i = 0; i < UHCAV_OP_SLOTS; i++)
			table[i] = (void *)(uintptr_t)&sentinel[i];
		library.set_ops(base + UHCAV_CONTEXT_HEADROOM, table);
		*why = "its op table has an unknown layout";
		good = anchors_hold(c, sentinel, generation);
	}
	delete_context(base);
out:
	free(dev);
	return good;
}

static void *finish_context(char *base, struct ibv_context *c, struct uhcav_context *ctx)
{
	memcpy(base, &ctx, sizeof(ctx)); /* where uhcav_context_of looks */
	library.set_ops(base + UHCAV_CONTEXT_HEADROOM, op_table);
	c->num_comp_vectors = 1;
	return base + UHCAV_CONTEXT_HEADROOM;
}

static void *alloc_context(struct ibv_device *dev, int cmd_fd, void *private_data)
{
	struct uhcav_context *ctx = NULL;
	struct ibv_context *c;
	char *base = new_context(dev, cmd_fd, &c);
	int err;

	(void)private_data;
	if (!base)
		return NULL;
	err = c ? uhcav_context_create(c, dev->name, &ctx) : -EPROTO;
	if (err) {
		delete_context(base);
		return uhcav_no_object(NULL, err);
	}
	uhcav_share_heap_listen();
	if (uhcav_keeping_is_on())
		ctx->opened = uhcav_stack_take(UHCAV_HERE);
	return finish_context(base, c, ctx);
}

static char *base_of(struct ibv_context *ibctx)
{
	size_t size = ((size_t *)(void *)ibctx)[-1];

	return (char *)(ibctx + 1) - size - UHCAV_CONTEXT_HEADROOM;
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A kept one's time has come. */
static void delete_kept(void *ibctx)
{
	delete_context(base_of(ibctx));
}

/* It stays for a while, for who uses it all the same. */
static void keep_context(struct uhcav_here here, struct ibv_context *ibctx,
			 const struct uhcav_stack *opened)
{
	const struct uhcav_tomb closed = {.self = ibctx,
					  .kind = "device context",
					  .end = "closed",
					  .made = opened,
					  .destroyed = uhcav_stack_take(here)};

	close_file(&ibctx->cmd_fd);
	close_file(&ibctx->async_fd);
	library.set_ops(base_of(ibctx) + UHCAV_CONTEXT_HEADROOM, dead_table);
	uhcav_tomb_closed(&closed, ibctx);
	uhcav_keeping_take(ibctx, delete_kept);
}

static void free_context(struct ibv_context *ibctx)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	const struct uhcav_stack *opened = ctx->opened;

	uhcav_datagram_over(&(struct uhcav_datagram){.who.ctx = ctx});
	uhcav_child_close(ctx);
	uhcav_context_destroy(ctx);
	if (uhcav_keeping_is_on())
		keep_context(UHCAV_HERE, ibctx, opened);
	else
		delete_context(base_of(ibctx));
}

/* A context that stands for this one once objects of it are gone. */
static struct ibv_context *make_stand_in(struct ibv_context *like)
{
	struct ibv_context *c = NULL;
	char *base = new_context(like->device, -1, &c);

	if (base && !c)
		delete_context(base);
	if (!base || !c)
		return NULL;
	library.set_ops(base + UHCAV_CONTEXT_HEADROOM, dead_table);
	c->num_comp_vectors = like->num_comp_vectors;
	c->async_fd = -1;
	return c;
}

/* All devices of ours that the library knows. Under the lock. */
static pthread_mutex_t devices_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_device *devices;

static void *alloc_device(void *sysfs_dev)
{
	struct uhcav_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs_dev;
	if (!dev)
		return NULL;
	dev->core_support = UHCAV_CORE_SUPPORT_OPTIONAL_MR_ACCESS;
	pthread_mutex_lock(&devices_lock);
	dev->next = devices;
	devices = dev;
	pthread_mutex_unlock(&devices_lock);
	return dev;
}

static void uninit_device(void *device)
{
	struct uhcav_device **at = &devices;

	pthread_mutex_lock(&devices_lock);
	while (*at && *at != device)
		at = &(*at)->next;
	if (*at)
		*at = (*at)->next;
	pthread_mutex_unlock(&devices_lock);
	free(device);
}

bool uhcav_driver_has(const struct ibv_device *device)
{
	const struct uhcav_device *dev;

	pthread_mutex_lock(&devices_lock);
	for (dev = devices; dev && &dev->device != device; dev = dev->next)
		;
	pthread_mutex_unlock(&devices_lock);
	return dev;
}

static struct ibv_device *find_device(const char *name)
{
	struct uhcav_device *dev;

	pthread_mutex_lock(&devices_lock);
	for (dev = devices; dev; dev = dev->next)
		if (!strncmp(dev->device.name, name, sizeof(dev->device.name)))
			break;
	pthread_mutex_unlock(&devices_lock);
	return dev ? &dev->device : NULL;
}

/*
 * The library chose the device by its device number, which all of ours share; the file tells
 * which it is. The library holds references to all devices while it calls us.
 */
static void *import_context(struct ibv_device *dev, int cmd_fd)
{
	struct uhca_abi_context_file file;
	struct uhcav_context *ctx = NULL;
	struct ibv_context *c;
	char *base = NULL;
	int err = uhcav_context_file_get(cmd_fd, &file);

	if (!err)
		dev = find_device(file.device);
	if (!err && dev)
		base = new_context(dev, cmd_fd, &c);
	if (!base) {
		errno = err ? -err : ENODEV;
		return NULL;
	}
	err = c ? uhcav_context_import(c, &file, &ctx) : -EPROTO;
	if (err) {
		if (c)
			c->cmd_fd = -1; /* stays its owner's */
		delete_context(base);
		return uhcav_no_object(NULL, err);
	}
	return finish_context(base, c, ctx);
}

static struct uhcav_device_ops device_ops = {
	.name = "uhca",
	.match_min_abi = 1,
	.match_max_abi = 1,
	.alloc_context = alloc_context,
	.import_context = import_context,
	.alloc_device = alloc_device,
	.uninit_device = uninit_device,
};

static const struct uhca_preload_hooks preload_hooks = {
	.size = sizeof(preload_hooks),
	.create_comp_channel = uhcav_channel_create,
	.async_fd = uhcav_monitor_async_fd,
	.fork_before = uhcav_fork_copy_before,
	.fork_in_parent = uhcav_fork_copy_in_parent,
	.fork_in_child = uhcav_fork_copy_in_child,
};

/* The generation of the op table, by what a release brought to the public interface. */
static int generation_of(void *handle)
{
	if (dlvsym(handle, "ibv_create_comp_cntr", "IBVERBS_1.18"))
		return 65;
	if (dlvsym(handle, "ibv_alloc_buf", "IBVERBS_1.17"))
		return 64;
	if (dlvsym(handle, "ibv_query_port_speed", "IBVERBS_1.16"))
		return 62;
	if (dlvsym(handle, "ibv_alloc_dmah", "IBVERBS_1.15"))
		return 59;
	if (dlvsym(handle, "ibv_query_qp_data_in_order", "IBVERBS_1.14"))
		return 36;
	if (dlvsym(handle, "ibv_import_dm", "IBVERBS_1.13"))
		return 35;
	if (dlvsym(handle, "ibv_reg_dmabuf_mr", "IBVERBS_1.12"))
		return 34;
	return 33;
}

static bool look_up(void *handle)
{
	static const char *const names[] = {"verbs_register_driver_65", "verbs_register_driver_64",
					    "verbs_register_driver_59", "verbs_register_driver_57",
					    "verbs_register_driver_34", "verbs_register_driver_33"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library.register_driver; i++)
		*(void **)&library.register_driver = dlsym(handle, names[i]);
	*(void **)&library.set_ops = dlsym(handle, "verbs_set_ops");
	*(void **)&library.alloc_context = dlsym(handle, "_verbs_init_and_alloc_context");
	*(void **)&library.uninit_context = dlsym(handle, "verbs_uninit_context");
	library.generation = generation_of(handle);
	return library.register_driver && library.set_ops && library.alloc_context &&
	       library.uninit_context;
}

static void find_qp_ex_mark(void *handle)
{
	struct ibv_qp_ex *(*to_qp_ex)(struct ibv_qp * qp);

	*(void **)&to_qp_ex = dlsym(handle, "ibv_qp_to_qp_ex");
	uhcav_qp_ex_probe(to_qp_ex);
}

/*
 * What libibverbs and librdmacm ask of the system behind our back: the preload library answers it,
 * be it preloaded or not.
 */
static void take_over_calls(void)
{
	uhca_preload_register_fn *register_hooks;
	const char *why;

	*(void **)&register_hooks = dlsym(RTLD_DEFAULT, UHCA_PRELOAD_REGISTER);
	if (register_hooks && !register_hooks(&preload_hooks))
		return;
	why = uhcav_no_preload(&preload_hooks);
	if (!why)
		return;
	fprintf(stderr, "uhca: completion channels and rdma_cm are not available: %s\n", why);
	pthread_atfork(uhcav_fork_copy_before, uhcav_fork_copy_in_parent, uhcav_fork_copy_in_child);
}

__attribute__((constructor)) static void enter(void)
{
	void *handle = dlopen("libibverbs.so.1", RTLD_NOLOAD | RTLD_LAZY);
	const char *why = "it lacks a function that providers need";

	if (!handle) {
		fprintf(stderr, "uhca: this file is a provider plugin: libibverbs loads it\n");
		return;
	}
	if (!look_up(handle) || !uhcav_driver_probe(library.generation, &why)) {
		fprintf(stderr, "uhca: cannot work with this libibverbs: %s\n", why);
		return;
	}
	uhcav_query_for(library.generation);
	take_over_calls(); /* first: it installs the first handlers of fork(3) */
	uhcav_sanitize_begin();
	uhcav_ops_build(library.generation, free_context, op_table);
	uhcav_dead_ops_build(library.generation, dead_table);
	uhcav_tomb_begin(make_stand_in);
	find_qp_ex_mark(handle);
	device_ops.match_table = uhcav_names_table();
	library.register_driver(&device_ops);
}
