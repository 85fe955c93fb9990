/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See library.h. All these calls take the object first, and few arguments behind it, which go in
 * registers: one function fits all. The library frees the object in the midst of its destruction;
 * who hears free(3) keeps it then (keeping.h).
 */
#include "library.h"

#include "keeping.h"
#include "provider/base/base.h"
#include "report.h"
#include "tomb.h"
#include "unacked.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* X(call, what it takes, "how it ends it" or NULL) */
#define CALLS(X)                                                                                   \
	X(ibv_ack_cq_events, "completion queue", NULL)                                             \
	X(ibv_destroy_comp_channel, "completion channel", "destroyed")                             \
	X(ibv_get_cq_event, "completion channel", NULL)                                            \
	X(rdma_accept, "rdma_cm id", NULL)                                                         \
	X(rdma_ack_cm_event, "rdma_cm event", "acknowledged")                                      \
	X(rdma_bind_addr, "rdma_cm id", NULL)                                                      \
	X(rdma_connect, "rdma_cm id", NULL)                                                        \
	X(rdma_create_id, "event channel", NULL)                                                   \
	X(rdma_create_qp, "rdma_cm id", NULL)                                                      \
	X(rdma_create_qp_ex, "rdma_cm id", NULL)                                                   \
	X(rdma_destroy_ep, "rdma_cm id", "destroyed")                                              \
	X(rdma_destroy_event_channel, "event channel", "destroyed")                                \
	X(rdma_destroy_id, "rdma_cm id", "destroyed")                                              \
	X(rdma_destroy_qp, "rdma_cm id", NULL)                                                     \
	X(rdma_disconnect, "rdma_cm id", NULL)                                                     \
	X(rdma_establish, "rdma_cm id", NULL)                                                      \
	X(rdma_get_cm_event, "event channel", NULL)                                                \
	X(rdma_get_request, "rdma_cm id", NULL)                                                    \
	X(rdma_join_multicast, "rdma_cm id", NULL)                                                 \
	X(rdma_leave_multicast, "rdma_cm id", NULL)                                                \
	X(rdma_listen, "rdma_cm id", NULL)                                                         \
	X(rdma_migrate_id, "rdma_cm id", NULL)                                                     \
	X(rdma_notify, "rdma_cm id", NULL)                                                         \
	X(rdma_reject, "rdma_cm id", NULL)                                                         \
	X(rdma_resolve_addr, "rdma_cm id", NULL)                                                   \
	X(rdma_resolve_route, "rdma_cm id", NULL)                                                  \
	X(rdma_set_option, "rdma_cm id", NULL)

enum call {
#define ID(name, kind, end) CALL_##name,
	CALLS(ID)
#undef ID
		CALL_COUNT
};

struct arguments {
	void *object;
	uintptr_t more[5];
};

static const struct {
	const char *name, *kind, *end;
} about[] = {
#define ROW(name, kind, end) {#name, kind, end},
	CALLS(ROW)
#undef ROW
};

static uintptr_t hear(struct uhcav_here here, enum call call, struct arguments a);

#define HEAR(name, kind, end)                                                                      \
	static uintptr_t hear_##name(void *object, uintptr_t b, uintptr_t c, uintptr_t d,          \
				     uintptr_t e, uintptr_t f)                                     \
	{                                                                                          \
		return hear(UHCAV_HERE, CALL_##name, (struct arguments){object, {b, c, d, e, f}}); \
	}
CALLS(HEAR)
#undef HEAR

/* Without a name while its library is not loaded. */
static struct uhcav_got_call calls[CALL_COUNT + 1] = {
#define SLOT(name_of, kind, end) {.name = "", .answer = (void *)hear_##name_of},
	CALLS(SLOT)
#undef SLOT
};

static uintptr_t go_on(enum call call, const struct arguments *a)
{
	uintptr_t (*behind)(void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

	*(void **)&behind = calls[call].behind;
	return behind(a->object, a->more[0], a->more[1], a->more[2], a->more[3], a->more[4]);
}

/*
 * The library frees it on the way, or leaves it because it fails. The end of an event channel waits
 * for nobody: from its begin on, a call of another thread comes too late.
 */
static uintptr_t end(struct uhcav_here here, enum call call, const struct arguments *a)
{
	const struct uhcav_tomb t = {.self = a->object,
				     .kind = about[call].kind,
				     .end = about[call].end,
				     .destroyed = uhcav_stack_take(here)};
	void *outer = uhcav_keeping_next; /* one call may destroy by way of another */
	bool at_once = call == CALL_rdma_destroy_event_channel;
	uintptr_t answer;
	int saved;

	if (at_once)
		uhcav_tomb_remember(&t);
	uhcav_keeping_next = a->object;
	answer = go_on(call, a);
	saved = errno;
	if (!uhcav_keeping_next)
		uhcav_tomb_remember(&t);
	else if (at_once)
		uhcav_tomb_forget(a->object);
	uhcav_keeping_next = outer == a->object && !uhcav_keeping_next ? NULL : outer;
	errno = saved;
	return answer;
}

/* The events between a program and the end of an id. */
static void look_before(enum call call, const struct arguments *a)
{
	if (call == CALL_rdma_ack_cm_event)
		uhcav_unacked_remove(a->object);
	if (call == CALL_rdma_destroy_id || call == CALL_rdma_destroy_ep ||
	    call == CALL_rdma_migrate_id)
		uhcav_unacked_await(a->object);
}

static uintptr_t get_event(struct uhcav_here here, const struct arguments *a)
{
	uintptr_t answer = go_on(CALL_rdma_get_cm_event, a);
	void **event = (void **)a->more[0];
	int saved = errno;

	if (!(int)answer)
		uhcav_unacked_add(*event, here);
	errno = saved;
	return answer;
}

static bool is_gone(enum call call, const void *object)
{
	struct uhcav_tomb t;

	return object && uhcav_tomb_find(object, &t) && !strcmp(t.kind, about[call].kind);
}

/* Another thread may destroy the object while the call goes on; then the call fails. */
static uintptr_t use(struct uhcav_here here, enum call call, const struct arguments *a)
{
	uintptr_t answer = call == CALL_rdma_get_cm_event ? get_event(here, a) : go_on(call, a);

	if ((int)answer && is_gone(call, a->object))
		uhcav_gone_report_call(here, about[call].name, a->object);
	return answer;
}

static uintptr_t hear(struct uhcav_here here, enum call call, struct arguments a)
{
	/* Events come often, and a queue says by itself what it is. */
	if (call == CALL_ibv_ack_cq_events && !uhcav_tomb_has(a.object))
		return go_on(call, &a);
	if (!is_gone(call, a.object)) {
		look_before(call, &a);
		return about[call].end && a.object ? end(here, call, &a) : use(here, call, &a);
	}
	uhcav_gone_report_call(here, about[call].name, a.object);
	errno = EINVAL;
	return call == CALL_ibv_destroy_comp_channel ? EINVAL : (uintptr_t)-1;
}

/* A library, wherever it is loaded: programs may have it where others do not see it. */
static void find_calls(const char *library, const char *prefix)
{
	void *handle = dlopen(library, RTLD_NOLOAD | RTLD_LAZY);

	for (unsigned i = 0; handle && i < CALL_COUNT; i++) {
		if (calls[i].behind || strncmp(about[i].name, prefix, strlen(prefix)) != 0)
			continue;
		calls[i].behind = dlsym(handle, about[i].name);
		if (calls[i].behind)
			calls[i].name = about[i].name;
	}
	if (handle)
		dlclose(handle);
}

void uhcav_gone_listen(void)
{
	static pthread_mutex_t listening = PTHREAD_MUTEX_INITIALIZER;

	if (!uhcav_keeping_is_on() || pthread_mutex_trylock(&listening))
		return;
	find_calls("libibverbs.so.1", "ibv_");
	find_calls("librdmacm.so.1", "rdma_");
	uhcav_got_patch_all(calls);
	pthread_mutex_unlock(&listening);
}
