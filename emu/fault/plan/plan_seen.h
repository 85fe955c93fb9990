/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which QPs a plan has seen, for qp=#N and psn=+N: in which order they came, and with which PSN
 * the requests of each direction began. Bounded: QPs beyond its size are not known.
 */
#ifndef FAULT_PLAN_SEEN_H
#define FAULT_PLAN_SEEN_H

#include "plan.h"

#define FAULT_SEEN_MAX 4096 /* QPs; a power of two */

struct fault_seen_qp {
	uint64_t id;     /* of device and number; 0: a free place */
	uint32_t order;  /* from 1 */
	uint32_t psn[2]; /* first one, by the direction that requests have */
	bool has_psn[2];
};

struct fault_seen {
	uint32_t n;
	struct fault_seen_qp place[FAULT_SEEN_MAX];
};

/* The QP of the subject, which is noted when it is new; NULL: none, or no room. */
const struct fault_seen_qp *fault_seen_note(struct fault_seen *seen, const struct fault_subject *s);

/* The direction of the requests to whose PSNs this packet's belongs. */
enum fault_direction fault_seen_space(const struct fault_subject *s);

#endif
