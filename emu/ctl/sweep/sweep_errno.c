/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of calls, their manual pages (rdma-core 44) and the errno values that these list. */
#include "sweep_errno.h"

#include <stddef.h>
#include <string.h>

#define IBV_(call, values)                                                                         \
	{                                                                                          \
#call, "ibv_" #call "(3)", false, values                                           \
	}
#define PAGE_(call, page, values)                                                                  \
	{                                                                                          \
#call, page, false, values                                                         \
	}
#define LISTED_(call, page, value)                                                                 \
	{                                                                                          \
#call, page, true, value                                                           \
	}
/* rdma_cm(7) lists the values of all its functions; each has those that its page explains. */
#define CM_ "rdma_cm(7)"

const struct sweep_errno sweep_errnos[] = {
	IBV_(open_device, "ENODEV"),
	IBV_(query_device, "EIO"),
	IBV_(query_port, "EIO"),
	IBV_(query_gid, "EIO"),
	IBV_(alloc_pd, "ENOMEM"),
	PAGE_(dealloc_pd, "ibv_alloc_pd(3)", "EBUSY"),
	IBV_(reg_mr, "ENOMEM"),
	PAGE_(dereg_mr, "ibv_reg_mr(3)", "EBUSY"),
	IBV_(rereg_mr, "ENOMEM"),
	LISTED_(advise_mr, "ibv_advise_mr(3)", "EOPNOTSUPP EFAULT EINVAL EPERM ENOENT ENOMEM"),
	PAGE_(alloc_null_mr, "ibv_alloc_null_mr(3)", "ENOMEM"),
	IBV_(alloc_mw, "ENOMEM"),
	PAGE_(dealloc_mw, "ibv_alloc_mw(3)", "EBUSY"),
	IBV_(alloc_dm, "ENOMEM"),
	PAGE_(free_dm, "ibv_alloc_dm(3)", "EBUSY"),
	PAGE_(reg_dm_mr, "ibv_alloc_dm(3)", "ENOMEM"),
	PAGE_(create_channel, "ibv_create_comp_channel(3)", "EMFILE"),
	PAGE_(destroy_channel, "ibv_create_comp_channel(3)", "EBUSY"),
	IBV_(create_cq, "ENOMEM"),
	PAGE_(destroy_cq, "ibv_create_cq(3)", "EBUSY"),
	IBV_(resize_cq, "ENOMEM"),
	IBV_(modify_cq, "EINVAL"),
	PAGE_(req_notify, "ibv_req_notify_cq(3)", "EINVAL"),
	IBV_(create_qp, "ENOMEM"),
	IBV_(modify_qp, "EINVAL"),
	IBV_(query_qp, "EINVAL"),
	PAGE_(destroy_qp, "ibv_create_qp(3)", "EBUSY"),
	IBV_(open_qp, "EINVAL"),
	IBV_(create_srq, "ENOMEM"),
	IBV_(modify_srq, "EINVAL"),
	IBV_(query_srq, "EINVAL"),
	PAGE_(destroy_srq, "ibv_create_srq(3)", "EBUSY"),
	IBV_(create_ah, "ENOMEM"),
	PAGE_(destroy_ah, "ibv_create_ah(3)", "EBUSY"),
	IBV_(attach_mcast, "ENOMEM"),
	PAGE_(detach_mcast, "ibv_attach_mcast(3)", "EINVAL"),
	IBV_(open_xrcd, "ENOMEM"),
	PAGE_(close_xrcd, "ibv_open_xrcd(3)", "EBUSY"),
	IBV_(create_wq, "ENOMEM"),
	IBV_(modify_wq, "EINVAL"),
	PAGE_(destroy_wq, "ibv_create_wq(3)", "EBUSY"),
	IBV_(create_rwq_ind_table, "ENOMEM"),
	PAGE_(destroy_rwq_ind_table, "ibv_create_rwq_ind_table(3)", "EBUSY"),
	LISTED_(create_flow, "ibv_create_flow(3)", "EINVAL ENOMEM ENXIO EPERM"),
	LISTED_(destroy_flow, "ibv_create_flow(3)", "EINVAL"),
	LISTED_(create_comp_cntr, "ibv_create_comp_cntr(3)", "EOPNOTSUPP ENOMEM EINVAL"),
	LISTED_(destroy_comp_cntr, "ibv_create_comp_cntr(3)", "EBUSY"),
	LISTED_(set_comp_cntr, "ibv_create_comp_cntr(3)", "EOPNOTSUPP EINVAL"),
	LISTED_(inc_comp_cntr, "ibv_create_comp_cntr(3)", "EOPNOTSUPP EINVAL"),
	LISTED_(qp_attach_comp_cntr, "ibv_qp_attach_comp_cntr(3)", "EINVAL EOPNOTSUPP EBUSY"),
	PAGE_(export, "a part of ibv_open_device(3)", ""),
	PAGE_(import, "ibv_import_device(3)", "EINVAL"),
	PAGE_(alloc_key, "uhcadv.h", "ENOMEM"),
	PAGE_(describe_key, "uhcadv.h", "EINVAL"),
	PAGE_(reg_shared_mr, "uhcadv.h", "ENOMEM"),
	IBV_(post_send, "ENOMEM"),
	IBV_(post_recv, "ENOMEM"),
	IBV_(post_srq_recv, "ENOMEM"),
	PAGE_(post_wq_recv, "ibv_create_wq(3)", "ENOMEM"),
	IBV_(bind_mw, "ENOMEM"),
	LISTED_(rdma_create_id, CM_, "ENOMEM ENODEV"),
	PAGE_(rdma_destroy_id, "rdma_destroy_id(3)", "EINVAL"),
	LISTED_(rdma_bind_addr, CM_, "EADDRNOTAVAIL ENODEV"),
	LISTED_(rdma_resolve_addr, CM_, "ENODEV EADDRNOTAVAIL EINVAL"),
	LISTED_(rdma_resolve_route, CM_, "ENODEV ENODATA EINVAL"),
	LISTED_(rdma_query, CM_, "ENODATA"),
	LISTED_(rdma_connect, CM_, "EINVAL ENOMEM"),
	LISTED_(rdma_listen, CM_, "EINVAL"),
	LISTED_(rdma_accept, CM_, "EINVAL ENOMEM"),
	LISTED_(rdma_reject, CM_, "EINVAL"),
	LISTED_(rdma_disconnect, CM_, "EINVAL"),
	LISTED_(rdma_init_qp_attr, CM_, "EINVAL"),
	LISTED_(rdma_get_event, CM_, "ENODATA"),
	LISTED_(rdma_set_option, CM_, "EINVAL"),
	LISTED_(rdma_notify, "rdma_notify(3)", "EISCONN"),
	LISTED_(rdma_join_mcast, CM_, "ENOMEM EINVAL"),
	LISTED_(rdma_leave_mcast, CM_, "EINVAL"),
	LISTED_(rdma_migrate_id, CM_, "ENOMEM"),
	LISTED_(rdma_write_cm_event, CM_, "EINVAL"),
	{NULL, NULL, false, NULL},
};

const struct sweep_errno *sweep_errno_of(const char *call)
{
	for (const struct sweep_errno *e = sweep_errnos; e->call; e++)
		if (strcmp(e->call, call) == 0)
			return e;
	return NULL;
}

void sweep_errno_print(FILE *out)
{
	for (const struct sweep_errno *e = sweep_errnos; e->call; e++)
		fprintf(out, "%-22s %-28s %-7s %s\n", e->call, e->page, e->listed ? "listed" : "-",
			e->values);
}
