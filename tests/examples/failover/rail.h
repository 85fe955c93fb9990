/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One rail of two: an adapter, and on it what a connection needs. It may be lost at any time, and
 * come back as another device of the same name, or under another index of the GID table.
 */
#ifndef RAIL_H
#define RAIL_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define RAIL_WINDOW 8u /* messages under way */

struct message {
	uint64_t number;
};

struct rail {
	const char *name;        /* of the device */
	struct ibv_context *ctx; /* NULL: not there */
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp; /* NULL: not connected */
	int gid_index;
	union ibv_gid gid;
	struct message memory[RAIL_WINDOW]; /* of those sent, or of receives */
};

/* What one end tells the other of its queue pair. */
struct rail_end {
	uint32_t rail, qpn; /* qpn 0: this end of the rail is not usable */
	union ibv_gid gid;
};

/* Opens the device where it is not open, and makes a queue pair. False: the rail is not usable. */
bool rail_prepare(struct rail *r, struct rail_end *own);

/* Connects it. False: it is lost. */
bool rail_connect(struct rail *r, const struct rail_end *peer);

/* The queue pair goes; with "all" the device, too. */
void rail_drop(struct rail *r, bool all);

/*
 * Takes what is told of the device. NULL: nothing that matters, or the word for what has made the
 * rail unusable; the rail is dropped then.
 */
const char *rail_news(struct rail *r);

bool rail_post_send(struct rail *r, uint64_t number);
bool rail_post_recv(struct rail *r, unsigned slot);

#endif
