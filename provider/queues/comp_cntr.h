/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion counters (ibv_create_comp_cntr(3), libraries since 65). The device counts; its values
 * are read in memory that it shares. The structs are those of newer headers than the oldest that
 * this builds with.
 */
#ifndef UHCAV_COMP_CNTR_H
#define UHCAV_COMP_CNTR_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/* struct ibv_comp_cntr */
struct uhcav_comp_cntr_public {
	struct ibv_context *context;
	uint32_t handle;
};

/* struct ibv_comp_cntr_init_attr; type: enum ibv_comp_cntr_type */
struct uhcav_comp_cntr_init_attr {
	uint32_t comp_mask;
	uint32_t type;
	uint32_t flags;
};

/* struct ibv_comp_cntr_caps */
struct uhcav_comp_cntr_caps {
	uint64_t max_value;
	uint32_t max_counters;
	uint32_t supported_qp_attach_ops;
};

/* struct ibv_qp_attach_comp_cntr_attr */
struct uhcav_attach_comp_cntr_attr {
	uint32_t comp_mask;
	uint32_t op_mask;
};

struct uhcav_comp_cntr;

/* 0; EOPNOTSUPP where the device has no counters. Fills at most "size" bytes of *caps. */
int uhcav_query_comp_cntr_caps(struct ibv_context *ibctx, struct uhcav_comp_cntr_caps *caps,
			       size_t size);

/*
 * NULL with errno: EINVAL for a mask, a type or flags that are not known, EOPNOTSUPP where the
 * device has no counters, ENOMEM when it has max_counters of them.
 */
struct uhcav_comp_cntr *uhcav_create_comp_cntr(struct ibv_context *ibctx,
					       const struct uhcav_comp_cntr_init_attr *attr);

/* 0 or an errno value; EBUSY while it is attached. */
int uhcav_destroy_comp_cntr(struct uhcav_comp_cntr *cntr);

/* 0 or an errno value; EIO on a dead context, as all of them. */
int uhcav_set_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t value);
int uhcav_set_err_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t value);
int uhcav_inc_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t amount);
int uhcav_inc_err_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t amount);
int uhcav_read_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t *value);
int uhcav_read_err_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t *value);

/*
 * 0 or an errno value: EINVAL in a state beyond INIT, for no operation and for a counter of another
 * context, EOPNOTSUPP for operations and QPs that cannot be counted, EBUSY for an operation that
 * has a counter.
 */
int uhcav_qp_attach_comp_cntr(struct ibv_qp *qp, struct uhcav_comp_cntr *cntr,
			      const struct uhcav_attach_comp_cntr_attr *attr);

#endif
