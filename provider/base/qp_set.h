/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The QPs that complete to one CQ, found by QP number: polling needs the QP of a receive
 * completion, and flushing after the daemon's death needs them all. A hash table under the CQ's
 * lock; a QP is in it once, whether one or both of its queues complete there.
 */
#ifndef UHCAV_QP_SET_H
#define UHCAV_QP_SET_H

#include <stddef.h>
#include <stdint.h>

struct uhcav_qp;

struct uhcav_qp_entry {
	uint32_t qpn;
	struct uhcav_qp *qp; /* NULL: the slot is free */
};

struct uhcav_qp_set {
	struct uhcav_qp_entry *slot;
	uint32_t mask;
	uint32_t n;
};

void uhcav_qp_set_construct(struct uhcav_qp_set *s);
void uhcav_qp_set_destruct(struct uhcav_qp_set *s);

/* Enters a QP; one that is there already stays once. 0 or -ENOMEM. */
int uhcav_qp_set_add(struct uhcav_qp_set *s, uint32_t qpn, struct uhcav_qp *qp);

/* Takes a QP out; one that is not there is ignored. */
void uhcav_qp_set_remove(struct uhcav_qp_set *s, uint32_t qpn);

/* NULL when there is none of that number. */
struct uhcav_qp *uhcav_qp_set_find(const struct uhcav_qp_set *s, uint32_t qpn);

/* All in turn: *cursor starts at 0; NULL at the end. */
struct uhcav_qp *uhcav_qp_set_next(const struct uhcav_qp_set *s, uint32_t *cursor);

#endif
