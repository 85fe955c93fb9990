/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of completion statuses, completion opcodes and asynchronous events, as libibverbs has them
 * without their prefix, and of the calls that a fault rule can name. Each list is an X macro,
 * X(NAME): modules that print, read or judge such names make their tables from it.
 */
#ifndef UHCA_ABI_NAMES_H
#define UHCA_ABI_NAMES_H

/* clang-format off */
/* UHCA_ABI_WC_NAME of cqe.h */
#define UHCA_ABI_STATUS_NAMES(X) \
	X(SUCCESS) \
	X(LOC_LEN_ERR) \
	X(LOC_QP_OP_ERR) \
	X(LOC_EEC_OP_ERR) \
	X(LOC_PROT_ERR) \
	X(WR_FLUSH_ERR) \
	X(MW_BIND_ERR) \
	X(BAD_RESP_ERR) \
	X(LOC_ACCESS_ERR) \
	X(REM_INV_REQ_ERR) \
	X(REM_ACCESS_ERR) \
	X(REM_OP_ERR) \
	X(RETRY_EXC_ERR) \
	X(RNR_RETRY_EXC_ERR) \
	X(LOC_RDD_VIOL_ERR) \
	X(REM_INV_RD_REQ_ERR) \
	X(REM_ABORT_ERR) \
	X(INV_EECN_ERR) \
	X(INV_EEC_STATE_ERR) \
	X(FATAL_ERR) \
	X(RESP_TIMEOUT_ERR) \
	X(GENERAL_ERR)

/* UHCA_ABI_WC_NAME of cqe.h */
#define UHCA_ABI_OPCODE_NAMES(X) \
	X(SEND) \
	X(RDMA_WRITE) \
	X(RDMA_READ) \
	X(COMP_SWAP) \
	X(FETCH_ADD) \
	X(BIND_MW) \
	X(LOCAL_INV) \
	X(FLUSH) \
	X(ATOMIC_WRITE) \
	X(REG_MR) \
	X(REG_INTERLEAVED) \
	X(REG_SG) \
	X(READ_WITH_INV) \
	X(MASKED_CMP_SWP) \
	X(MASKED_FETCH_ADD) \
	X(RECV) \
	X(RECV_RDMA_WITH_IMM)

/* UHCA_ABI_EVENT_NAME of event.h */
#define UHCA_ABI_EVENT_NAMES(X) \
	X(CQ_ERR) \
	X(QP_FATAL) \
	X(QP_REQ_ERR) \
	X(QP_ACCESS_ERR) \
	X(COMM_EST) \
	X(SQ_DRAINED) \
	X(PATH_MIG) \
	X(PATH_MIG_ERR) \
	X(DEVICE_FATAL) \
	X(PORT_ACTIVE) \
	X(PORT_ERR) \
	X(LID_CHANGE) \
	X(PKEY_CHANGE) \
	X(SM_CHANGE) \
	X(SRQ_ERR) \
	X(SRQ_LIMIT_REACHED) \
	X(QP_LAST_WQE_REACHED) \
	X(CLIENT_REREGISTER) \
	X(GID_CHANGE) \
	X(WQ_FATAL) \
	X(DEVICE_SPEED_CHANGE)

/* Why memory of a region is not pinned: UHCA_ABI_BORROWED_name of cmd_memory.h, and in words. */
#define UHCA_ABI_BORROWED_NAMES(X) \
	X(UNTOLD, "unknown") \
	X(OFF, "pinning is off") \
	X(ON_DEMAND, "on demand") \
	X(SMALL, "small") \
	X(EDGES, "edges") \
	X(KIND, "not private anonymous memory") \
	X(STACK, "stack") \
	X(LOCKED, "locked in memory") \
	X(ADVISED, "special advice") \
	X(OVERLAP, "a borrowed region overlaps") \
	X(DESCRIPTORS, "io_uring, aio, vfio or verbs of the kernel") \
	X(UNHEARD, "madvise and mremap calls are not intercepted") \
	X(THREADS, "multiple threads without userfaultfd") \
	X(MANY, "too many pieces") \
	X(ROOM, "the arena is full") \
	X(FAILED, "a system call failed")

/* Verbs less the ibv_, then calls of librdmacm. */
#define UHCA_ABI_CALL_NAMES(X) \
	X(open_device) \
	X(query_device) \
	X(query_port) \
	X(query_gid) \
	X(alloc_pd) \
	X(dealloc_pd) \
	X(reg_mr) \
	X(dereg_mr) \
	X(rereg_mr) \
	X(advise_mr) \
	X(alloc_null_mr) \
	X(alloc_mw) \
	X(dealloc_mw) \
	X(alloc_dm) \
	X(free_dm) \
	X(reg_dm_mr) \
	X(create_channel) \
	X(destroy_channel) \
	X(create_cq) \
	X(destroy_cq) \
	X(resize_cq) \
	X(modify_cq) \
	X(req_notify) \
	X(create_qp) \
	X(modify_qp) \
	X(query_qp) \
	X(destroy_qp) \
	X(open_qp) \
	X(create_srq) \
	X(modify_srq) \
	X(query_srq) \
	X(destroy_srq) \
	X(create_ah) \
	X(destroy_ah) \
	X(attach_mcast) \
	X(detach_mcast) \
	X(open_xrcd) \
	X(close_xrcd) \
	X(create_wq) \
	X(modify_wq) \
	X(destroy_wq) \
	X(create_rwq_ind_table) \
	X(destroy_rwq_ind_table) \
	X(create_flow) \
	X(destroy_flow) \
	X(export) \
	X(import) \
	X(alloc_key) \
	X(describe_key) \
	X(reg_shared_mr) \
	X(create_comp_cntr) \
	X(destroy_comp_cntr) \
	X(set_comp_cntr) \
	X(inc_comp_cntr) \
	X(qp_attach_comp_cntr) \
	X(post_send) \
	X(post_recv) \
	X(post_srq_recv) \
	X(post_wq_recv) \
	X(bind_mw) \
	X(rdma_create_id) \
	X(rdma_destroy_id) \
	X(rdma_bind_addr) \
	X(rdma_resolve_addr) \
	X(rdma_resolve_route) \
	X(rdma_query) \
	X(rdma_connect) \
	X(rdma_listen) \
	X(rdma_accept) \
	X(rdma_reject) \
	X(rdma_disconnect) \
	X(rdma_init_qp_attr) \
	X(rdma_get_event) \
	X(rdma_set_option) \
	X(rdma_notify) \
	X(rdma_join_mcast) \
	X(rdma_leave_mcast) \
	X(rdma_migrate_id) \
	X(rdma_write_cm_event)
/* clang-format on */

#endif
