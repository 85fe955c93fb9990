/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watching functions: each stands in the op table, or in an object that carries functions, in the
 * place of the provider's own, which it calls, and looks at what goes in and comes out. Where the
 * provider keeps an object by our side (struct uhcav_shadow), NULL means that nobody watches it.
 */
#ifndef UHCAV_WATCH_H
#define UHCAV_WATCH_H

#include "object.h"
#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>

struct uhcav_watch {
	const char *op; /* name in provider/ops.def */
	void *function;
};

/* Lists that end with a NULL name. */
extern const struct uhcav_watch uhcav_watch_events[];
extern const struct uhcav_watch uhcav_watch_objects[];
extern const struct uhcav_watch uhcav_watch_queues[];
extern const struct uhcav_watch uhcav_watch_posts[];

/* A new object: what the caller says of it, with who made it, and when. */
void uhcav_watch_made(struct uhcav_here here, struct uhcav_object o);

/* The same of one of which no more is said, and that stands on one other (NULL: on none). */
void uhcav_watch_made_on(struct uhcav_here here, enum uhcav_kind kind, const void *self,
			 uint32_t number, const struct ibv_context *context, const void *on);

/* Around a destroy. */
struct uhcav_watch_end {
	struct uhcav_here here;
	bool known;
	struct uhcav_object o;
};

/* Before it; after it, with its errno value, which is returned. */
struct uhcav_watch_end uhcav_watch_ending(struct uhcav_here here, const void *self);
int uhcav_watch_ended(const struct uhcav_watch_end *end, int err);

/* In the place of uhcav_poll_cq: what completes leaves the shadows (watch_poll.c). */
int uhcav_watch_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc);

struct uhcav_qp;

/* "here" is about to destroy the queue pair: the peer may have refused a request of it, unread. */
void uhcav_watch_dropped(struct uhcav_here here, struct uhcav_qp *qp);

/* Queue pairs with functions of their own (watch_posts.c), and CQs (watch_poll.c). */
void uhcav_watch_wr(struct ibv_qp *qp);
void uhcav_watch_cq_ex(struct ibv_cq_ex *cq);

#endif
