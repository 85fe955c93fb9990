/* SPDX-License-Identifier: BSD-2-Clause */
/* The context of destroyed objects: all its functions report the use. See tomb.h. */
#include "tomb.h"

#include "keeping.h"
#include "report.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define CONTEXTS 64u /* open ones, of which objects were destroyed */

/* A context, and what stands for it. "of" is NULL when it is closed: then it may serve another. */
struct stand_in {
	const struct ibv_context *of;
	const struct ibv_device *device;
	struct ibv_context *context; /* read without the lock, never taken away */
};

pthread_mutex_t uhcav_tomb_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_tomb tombs[UHCAV_KEPT];
static unsigned next;
static struct stand_in stand_ins[CONTEXTS];
static unsigned n_stand_ins;
static struct ibv_context *(*make_context)(struct ibv_context *like);

void uhcav_tomb_begin(struct ibv_context *(*make)(struct ibv_context *like))
{
	make_context = make;
}

static struct stand_in *find_stand_in(const struct ibv_context *of)
{
	struct stand_in *free = NULL;

	for (unsigned i = 0; i < n_stand_ins; i++) {
		struct stand_in *s = &stand_ins[i];
		if (s->of == of)
			return s;
		if (!s->of && s->device == of->device)
			free = s;
	}
	return free;
}

/* Under the lock. */
static struct ibv_context *stand_in_of(struct ibv_context *of)
{
	struct stand_in *s = find_stand_in(of);

	if (!s && n_stand_ins < CONTEXTS && make_context) {
		struct ibv_context *made = make_context(of);
		if (!made)
			return NULL;
		s = &stand_ins[n_stand_ins];
		*s = (struct stand_in){.device = of->device, .context = made};
		__atomic_store_n(&n_stand_ins, n_stand_ins + 1, __ATOMIC_RELEASE);
	}
	if (!s)
		return NULL;
	s->of = of;
	return s->context;
}

/* Under the lock. */
static struct uhcav_tomb *find_tomb(const void *self)
{
	for (unsigned i = 1; i <= UHCAV_KEPT; i++) {
		struct uhcav_tomb *t = &tombs[(next + UHCAV_KEPT - i) % UHCAV_KEPT];
		if (!t->kind) /* and none before it */
			break;
		if (t->self == self)
			return t;
	}
	return NULL;
}

/* Each is known once: one call of a library may destroy by way of another. */
static void remember(const struct uhcav_tomb *t)
{
	struct uhcav_tomb *known = find_tomb(t->self);

	if (known) {
		*known = *t;
		return;
	}
	tombs[next] = *t;
	next = (next + 1) % UHCAV_KEPT;
}

/* The functions from one field of an object to another. */
static void fill(void *object, size_t from, size_t to, uintptr_t (*with)(const void *object))
{
	for (size_t at = from; at < to; at += sizeof(with))
		memcpy((char *)object + at, &with, sizeof(with));
}

/* The call that begins a poll or a post reports; those in between would say the same again. */
static void lay_out_cq(struct ibv_cq_ex *cq)
{
	fill(cq, offsetof(struct ibv_cq_ex, start_poll), sizeof(*cq), uhcav_gone_refuse);
	fill(cq, offsetof(struct ibv_cq_ex, start_poll), offsetof(struct ibv_cq_ex, next_poll),
	     uhcav_gone_poll);
	cq->channel = NULL; /* ibv_destroy_cq would count there */
}

static void lay_out_qp(struct ibv_qp_ex *qp)
{
	fill(qp, offsetof(struct ibv_qp_ex, wr_atomic_cmp_swp), sizeof(*qp), uhcav_gone_refuse);
	fill(qp, offsetof(struct ibv_qp_ex, wr_start), offsetof(struct ibv_qp_ex, wr_complete),
	     uhcav_gone_post);
}

static void lay_out(void *object, enum uhcav_shape shape, struct ibv_context *context)
{
	if (shape == UHCAV_SHAPE_FLOW)
		((struct ibv_flow *)object)->context = context;
	else
		memcpy(object, &context, sizeof(context));
	switch (shape) {
	case UHCAV_SHAPE_PLAIN:
	case UHCAV_SHAPE_FLOW:
		break;
	case UHCAV_SHAPE_CQ:
		lay_out_cq(object);
		break;
	case UHCAV_SHAPE_QP:
		lay_out_qp(object);
		break;
	case UHCAV_SHAPE_WQ:
		fill(object, offsetof(struct ibv_wq, post_recv), offsetof(struct ibv_wq, mutex),
		     uhcav_gone_post);
		break;
	case UHCAV_SHAPE_DM:
		fill(object, offsetof(struct ibv_dm, memcpy_to_dm),
		     offsetof(struct ibv_dm, comp_mask), uhcav_gone_copy);
		break;
	}
}

void uhcav_tomb_add(const struct uhcav_tomb *t, enum uhcav_shape shape, struct ibv_context *of)
{
	struct ibv_context *context;

	if (!uhcav_keeping_is_on())
		return;
	pthread_mutex_lock(&uhcav_tomb_lock);
	context = stand_in_of(of);
	if (context) {
		remember(t);
		lay_out(t->self, shape, context);
	}
	pthread_mutex_unlock(&uhcav_tomb_lock);
}

void uhcav_tomb_closed(const struct uhcav_tomb *t, const struct ibv_context *of)
{
	pthread_mutex_lock(&uhcav_tomb_lock);
	for (unsigned i = 0; i < n_stand_ins; i++)
		if (stand_ins[i].of == of)
			stand_ins[i].of = NULL;
	remember(t);
	pthread_mutex_unlock(&uhcav_tomb_lock);
}

void uhcav_tomb_remember(const struct uhcav_tomb *t)
{
	pthread_mutex_lock(&uhcav_tomb_lock);
	remember(t);
	pthread_mutex_unlock(&uhcav_tomb_lock);
}

void uhcav_tomb_forget(const void *self)
{
	struct uhcav_tomb *t;

	pthread_mutex_lock(&uhcav_tomb_lock);
	t = find_tomb(self);
	if (t)
		t->self = NULL;
	pthread_mutex_unlock(&uhcav_tomb_lock);
}

bool uhcav_tomb_has(const void *object)
{
	unsigned n = __atomic_load_n(&n_stand_ins, __ATOMIC_ACQUIRE);
	const struct ibv_context *context;

	if (!n || !object)
		return false;
	memcpy(&context, object, sizeof(context));
	for (unsigned i = 0; i < n; i++)
		if (stand_ins[i].context == context)
			return true;
	return false;
}

bool uhcav_tomb_find(const void *self, struct uhcav_tomb *out)
{
	const struct uhcav_tomb *t;

	pthread_mutex_lock(&uhcav_tomb_lock);
	t = self ? find_tomb(self) : NULL;
	if (t)
		*out = *t;
	pthread_mutex_unlock(&uhcav_tomb_lock);
	return t;
}
