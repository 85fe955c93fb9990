/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table: op name to function, sorted. What is not here is not supported yet, and libibverbs'
 * default for it answers EOPNOTSUPP (or does nothing, for notifications).
 */
#include "ops.h"

#include "async_event.h"
#include "provider/context/context.h"
#include "provider/keys/keys.h"
#include "provider/poll/poll.h"
#include "provider/post/post.h"
#include "provider/qp/qp.h"
#include "provider/queues/queues.h"
#include "provider/sanitize/sanitize.h"
#include "reg_mr_ex.h"

#include <string.h>

#define IS(name, function) [UHCAV_OP_##name] = (void *)(function)

/* clang-format off */
static void *const supported[UHCAV_OP_COUNT] = {
	IS(advise_mr, uhcav_advise_mr),
	IS(alloc_dm, uhcav_alloc_dm),
	IS(alloc_dmah, uhcav_alloc_dmah),
	IS(alloc_mw, uhcav_alloc_mw),
	IS(alloc_null_mr, uhcav_alloc_null_mr),
	IS(alloc_parent_domain, uhcav_alloc_parent_domain),
	IS(alloc_pd, uhcav_alloc_pd),
	IS(alloc_td, uhcav_alloc_td),
	IS(async_event, uhcav_async_event),
	IS(attach_mcast, uhcav_attach_mcast),
	IS(bind_mw, uhcav_bind_mw),
	IS(close_xrcd, uhcav_close_xrcd),
	IS(cq_event, uhcav_cq_event),
	IS(create_ah, uhcav_create_ah),
	IS(create_comp_cntr, uhcav_create_comp_cntr),
	IS(create_cq, uhcav_create_cq),
	IS(create_cq_ex, uhcav_create_cq_ex),
	IS(create_flow, uhcav_create_flow),
	IS(create_qp, uhcav_create_qp),
	IS(create_qp_ex, uhcav_create_qp_ex),
	IS(create_rwq_ind_table, uhcav_create_rwq_ind_table),
	IS(create_srq, uhcav_create_srq),
	IS(create_srq_ex, uhcav_create_srq_ex),
	IS(create_wq, uhcav_create_wq),
	IS(dealloc_dmah, uhcav_dealloc_dmah),
	IS(dealloc_mw, uhcav_dealloc_mw),
	IS(dealloc_pd, uhcav_dealloc_pd),
	IS(dealloc_td, uhcav_dealloc_td),
	IS(dereg_mr, uhcav_dereg_mr),
	IS(destroy_ah, uhcav_destroy_ah),
	IS(destroy_comp_cntr, uhcav_destroy_comp_cntr),
	IS(destroy_cq, uhcav_destroy_cq),
	IS(destroy_flow, uhcav_destroy_flow),
	IS(destroy_qp, uhcav_destroy_qp),
	IS(destroy_rwq_ind_table, uhcav_destroy_rwq_ind_table),
	IS(destroy_srq, uhcav_destroy_srq),
	IS(destroy_wq, uhcav_destroy_wq),
	IS(detach_mcast, uhcav_detach_mcast),
	IS(dm_export_dmabuf_fd, uhcav_dm_export_dmabuf_fd),
	IS(free_dm, uhcav_free_dm),
	IS(get_srq_num, uhcav_get_srq_num),
	IS(import_dm, uhcav_import_dm),
	IS(import_mr, uhcav_import_mr),
	IS(import_pd, uhcav_import_pd),
	IS(inc_comp_cntr, uhcav_inc_comp_cntr),
	IS(inc_err_comp_cntr, uhcav_inc_err_comp_cntr),
	IS(modify_cq, uhcav_modify_cq),
	IS(modify_qp, uhcav_modify_qp),
	IS(modify_qp_rate_limit, uhcav_modify_qp_rate_limit),
	IS(modify_srq, uhcav_modify_srq),
	IS(modify_wq, uhcav_modify_wq),
	IS(open_qp, uhcav_open_qp),
	IS(open_xrcd, uhcav_open_xrcd),
	IS(poll_cq, uhcav_poll_cq),
	IS(post_recv, uhcav_post_recv),
	IS(post_send, uhcav_post_send),
	IS(post_srq_ops, uhcav_post_srq_ops),
	IS(post_srq_recv, uhcav_post_srq_recv),
	IS(qp_attach_comp_cntr, uhcav_qp_attach_comp_cntr),
	IS(query_comp_cntr_caps, uhcav_query_comp_cntr_caps),
	IS(query_device_ex, uhcav_query_device_ex),
	IS(query_ece, uhcav_query_ece),
	IS(query_port, uhcav_query_port),
	IS(query_port_speed, uhcav_query_port_speed),
	IS(query_qp, uhcav_query_qp),
	IS(query_rt_values, uhcav_query_rt_values),
	IS(query_srq, uhcav_query_srq),
	IS(read_comp_cntr, uhcav_read_comp_cntr),
	IS(read_err_comp_cntr, uhcav_read_err_comp_cntr),
	IS(reg_dm_mr, uhcav_reg_dm_mr),
	IS(reg_dmabuf_mr, uhcav_reg_dmabuf_mr),
	IS(reg_mr, uhcav_reg_mr),
	IS(reg_mr_ex, uhcav_reg_mr_ex),
	IS(req_notify_cq, uhcav_req_notify_cq),
	IS(rereg_mr, uhcav_rereg_mr),
	IS(resize_cq, uhcav_resize_cq),
	IS(set_comp_cntr, uhcav_set_comp_cntr),
	IS(set_ece, uhcav_set_ece),
	IS(set_err_comp_cntr, uhcav_set_err_comp_cntr),
	IS(unimport_dm, uhcav_unimport_dm),
	IS(unimport_mr, uhcav_unimport_mr),
	IS(unimport_pd, uhcav_unimport_pd),
};
/* clang-format on */

static const struct {
	const char *name;
	int since;
} known[UHCAV_OP_COUNT] = {
#define UHCAV_OP(op, first) [UHCAV_OP_##op] = {#op, first},
#include "ops.def"
#undef UHCAV_OP
};

int uhcav_op_slot(enum uhcav_op op, int generation)
{
	int slot = 0;

	for (unsigned i = 0; i < (unsigned)op; i++)
		slot += known[i].since <= generation;
	return slot;
}

const char *uhcav_op_name(enum uhcav_op op)
{
	return known[op].name;
}

void uhcav_ops_build(int generation, void (*free_context)(struct ibv_context *ibctx),
		     void *table[UHCAV_OP_SLOTS])
{
	int slot = 0;

	memset(table, 0, UHCAV_OP_SLOTS * sizeof(table[0]));
	for (unsigned i = 0; i < UHCAV_OP_COUNT; i++) {
		void *watching = uhcav_sanitize_op(known[i].name);
		if (known[i].since <= generation)
			table[slot++] = watching ? watching : supported[i];
	}
	table[uhcav_op_slot(UHCAV_OP_free_context, generation)] = (void *)free_context;
}
