/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Destroyed objects. libibverbs and its inline functions go from an object to its context, and from
 * there to a function: so a destroyed one is given another context, a "tomb", whose functions tell
 * of it. The functions that some objects carry themselves are replaced as well.
 */
#ifndef UHCAV_GONE_TOMB_H
#define UHCAV_GONE_TOMB_H

#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum uhcav_shape {
	UHCAV_SHAPE_PLAIN, /* begins with its context, and has no functions */
	UHCAV_SHAPE_CQ,    /* these have room for functions */
	UHCAV_SHAPE_QP,
	UHCAV_SHAPE_WQ,
	UHCAV_SHAPE_DM,
	UHCAV_SHAPE_FLOW
};

struct uhcav_tomb {
	void *self;
	const char *kind; /* "queue pair": a static string */
	uint32_t number;  /* 0: it has none */
	const char *end;  /* NULL: it was destroyed */
	const struct uhcav_stack *made, *destroyed;
};

/*
 * Once: how a context is made that stands for this one when its objects are gone; NULL without
 * memory.
 */
void uhcav_tomb_begin(struct ibv_context *(*make)(struct ibv_context *like));

/*
 * An object of the context was destroyed, and its memory is kept: what uses it from now on is told.
 * Nothing where memory is not kept.
 */
void uhcav_tomb_add(const struct uhcav_tomb *t, enum uhcav_shape shape, struct ibv_context *of);

/* An object of another kind, whose memory is kept and stays as it is. */
void uhcav_tomb_remember(const struct uhcav_tomb *t);

/* The context itself is closed: what stood for it is for another of the same device. */
void uhcav_tomb_closed(const struct uhcav_tomb *t, const struct ibv_context *of);

/* Its memory is about to be another's. */
void uhcav_tomb_forget(const void *self);

/* Has the object (not a flow) been destroyed? Cheap. */
bool uhcav_tomb_has(const void *object);

/* Finds the entry of an object; false: there is none. */
bool uhcav_tomb_find(const void *self, struct uhcav_tomb *out);

/* Held across a fork. */
extern pthread_mutex_t uhcav_tomb_lock;

#endif
