/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context op table that libibverbs takes, built at run time for the release that runs: its
 * slots are sorted by name, and newer releases put new ones in between (ops.def).
 */
#ifndef UHCAV_OPS_H
#define UHCAV_OPS_H

#include <infiniband/verbs.h>

enum uhcav_op {
#define UHCAV_OP(name, since) UHCAV_OP_##name,
#include "ops.def"
#undef UHCAV_OP
	UHCAV_OP_COUNT
};

/* More slots than any release has; what lies behind the known ones stays NULL. */
#define UHCAV_OP_SLOTS (UHCAV_OP_COUNT + 64)

/* The slot of an op in the table of a layout generation (33 to 36, 59, 62, 64, 65). */
int uhcav_op_slot(enum uhcav_op op, int generation);

/* Its name, for error messages. */
const char *uhcav_op_name(enum uhcav_op op);

/*
 * Fills the table. A slot that stays NULL keeps the library's own answer, which for what the
 * device does not support is EOPNOTSUPP. free_context is for who made the context to say.
 */
void uhcav_ops_build(int generation, void (*free_context)(struct ibv_context *ibctx),
		     void *table[UHCAV_OP_SLOTS]);

#endif
