/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The legal transitions of queue pairs as a test expects them, written down from IBTA vol. 1
 * (chapter 11, Modify Queue Pair) and ibv_modify_qp(3), row by row and without looking at
 * the table of the code under test.
 */
#ifndef TESTS_SUPPORT_QP_TABLE_H
#define TESTS_SUPPORT_QP_TABLE_H

#include <infiniband/verbs.h>
#include <stdint.h>

struct qp_rule {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	uint32_t required, optional; /* IBV_QP_STATE not among them */
};

/* NULL: there is no such transition (or, from == to, no attribute may change in that state). */
const struct qp_rule *qp_rule_find(enum ibv_qp_type type, enum ibv_qp_state from,
				   enum ibv_qp_state to);

/* The types that have a column, and their number. */
#define QP_RULE_TYPES 5
extern const enum ibv_qp_type qp_rule_type[QP_RULE_TYPES];

/* Every attribute bit a program can set, also those that no transition takes. */
#define QP_RULE_BITS 32

#endif
