/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flow steering: which raw packet QPs get a frame that arrives (ibv_create_flow(3)). Rules are kept
 * in the order in which they are tried: by priority, the smallest number first, then by age.
 */
#ifndef CORE_FLOW_H
#define CORE_FLOW_H

#include "emu/core/qp/queue_pair.h"
#include "wire/frame.h"

/* enum ibv_flow_attr_type */
enum flow_type { FLOW_NORMAL, FLOW_ALL_DEFAULT, FLOW_MC_DEFAULT, FLOW_SNIFFER, FLOW_TYPES };

struct flow_spec {
	enum roce_frame_layer layer;
	uint8_t value[ROCE_FRAME_FIELDS], mask[ROCE_FRAME_FIELDS];
};

struct flow {
	struct object obj;
	struct list link; /* dev->flow_rules */
	struct qp *qp;    /* its refs count the rules */
	enum flow_type type;
	uint16_t priority;
	bool dont_trap; /* lower priorities are tried as well */
	bool drop;
	uint32_t tag; /* 0: none */
	uint32_t n_specs;
	struct flow_spec spec[UHCA_ABI_FLOW_SPECS];
};

extern const struct object_type object_flow;

#endif
