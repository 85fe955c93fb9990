/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages of queues: CQs, QPs and SRQs. Each create reply carries the descriptor of the
 * region (region.h) in which the queue's ring and entries stand. See cmd_header.h.
 */
#ifndef UHCA_ABI_CMD_QUEUE_H
#define UHCA_ABI_CMD_QUEUE_H

#include "cmd_header.h"

struct uhca_cmd_create_cq {
	struct uhca_cmd_request h;
	uint64_t cookie; /* comes back in every completion and async event of this CQ */
	uint32_t cqe;
	uint32_t channel; /* handle, or 0 for none */
	uint32_t comp_vector;
	uint32_t flags;
};
static_assert(sizeof(struct uhca_cmd_create_cq) == 40, "create_cq");

/* Carries one descriptor: the CQ's region. */
struct uhca_cmd_create_cq_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t cqe;     /* what the application is told; >= what it asked for */
	uint32_t entries; /* slots, a power of two */
	uint32_t stride;  /* bytes from one entry to the next */
	uint64_t entries_offset;
	uint64_t region_size;
	uint64_t copies_on_poll_offset; /* of the slots (copy_on_poll.h); 0: there are none */
};
static_assert(sizeof(struct uhca_cmd_create_cq_reply) == 56, "create_cq reply");

/* Bits of create_cq.flags. */
enum {
	UHCA_ABI_CQ_IGNORE_OVERRUN = 1u << 0, /* the oldest completions are overwritten */
};

/* RESIZE_CQ: the reply is create_cq's, with the descriptor of a new region. The old one's
 * entries that the client has not taken are in the new one, in order. */
struct uhca_cmd_resize_cq {
	struct uhca_cmd_request h;
	uint32_t handle;
	uint32_t cqe;
};
static_assert(sizeof(struct uhca_cmd_resize_cq) == 24, "resize_cq");

/* MODIFY_CQ: moderation (struct ibv_moderate_cq). */
struct uhca_cmd_modify_cq {
	struct uhca_cmd_request h;
	uint32_t handle;
	uint16_t cq_count;  /* completions */
	uint16_t cq_period; /* microseconds */
};
static_assert(sizeof(struct uhca_cmd_modify_cq) == 24, "modify_cq");

/*
 * CREATE_QP. That of a raw packet QP has a descriptor with it, of a raw socket: only who has
 * CAP_NET_RAW can open one. Others may have it and need none.
 */
struct uhca_cmd_create_qp {
	struct uhca_cmd_request h;
	uint64_t cookie;
	uint32_t pd;
	uint32_t qp_type; /* enum ibv_qp_type */
	uint32_t send_cq;
	uint32_t recv_cq;
	uint32_t srq; /* handle, or 0 */
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline_data;
	uint32_t sq_sig_all;
	uint32_t create_flags;  /* enum ibv_qp_create_flags, and UHCA_ABI_QP_LOW_LATENCY */
	uint32_t xrcd;          /* XRC_RECV: handle; it has neither PD nor CQs */
	uint32_t rwq_ind_table; /* RAW_PACKET with RSS: handle, or 0 */
	uint64_t rx_hash_fields;
	uint8_t rx_hash_function;
	uint8_t rx_hash_key_len;
	uint16_t reserved0;
	uint32_t max_list_bytes; /* room in the data area for lists (layout.h); 0: no matter */
	uint8_t rx_hash_key[40];
};
static_assert(sizeof(struct uhca_cmd_create_qp) == 136, "create_qp");

/*
 * A low-latency QP: at most max_low_latency_wr send requests, all SENDs and WRITEs inline; served
 * before other QPs, its packets and acknowledgements never wait for company.
 */
#define UHCA_ABI_QP_LOW_LATENCY (1u << 31)

/* Where a queue's entries stand in its region. */
struct uhca_abi_queue_layout {
	uint32_t entries; /* slots, a power of two; 0: the queue does not exist */
	uint32_t stride;
	uint64_t offset;
	uint64_t data_offset; /* send queues: slot i's data is at data_offset + i * data_stride */
	uint32_t data_stride;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_abi_queue_layout) == 32, "queue layout");

/* Carries one descriptor: the QP's region. */
struct uhca_cmd_create_qp_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t qpn;
	uint32_t doorbell; /* this QP's bit in the client's doorbell region */
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline_data;
	uint64_t region_size;
	struct uhca_abi_queue_layout send;
	struct uhca_abi_queue_layout recv;
};
static_assert(sizeof(struct uhca_cmd_create_qp_reply) == 120, "create_qp reply");

struct uhca_abi_ah_attr {
	uint8_t dgid[16];
	uint32_t flow_label;
	uint8_t sgid_index;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t is_global;
	uint16_t dlid;
	uint8_t sl;
	uint8_t src_path_bits;
	uint8_t static_rate;
	uint8_t port_num;
	uint16_t reserved;
};
static_assert(sizeof(struct uhca_abi_ah_attr) == 32, "ah attributes");

struct uhca_abi_qp_attr {
	uint32_t qp_state;
	uint32_t cur_qp_state;
	uint32_t path_mtu; /* enum ibv_mtu */
	uint32_t path_mig_state;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qp_num;
	uint32_t qp_access_flags;
	uint32_t max_send_wr;
	uint32_t max_recv_wr;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	uint32_t max_inline_data;
	struct uhca_abi_ah_attr ah;
	struct uhca_abi_ah_attr alt_ah;
	uint16_t pkey_index;
	uint16_t alt_pkey_index;
	uint8_t en_sqd_async_notify;
	uint8_t sq_draining;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t port_num;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t alt_port_num;
	uint8_t alt_timeout;
	uint8_t reserved0;
	uint32_t rate_limit;   /* kbit/s; 0: none */
	uint32_t max_burst_sz; /* bytes; with rate_limit; 0: the device chooses */
};
static_assert(sizeof(struct uhca_abi_qp_attr) == 144, "qp attributes");

struct uhca_cmd_modify_qp {
	struct uhca_cmd_request h;
	uint32_t handle;
	uint32_t attr_mask; /* enum ibv_qp_attr_mask */
	struct uhca_abi_qp_attr attr;
};
static_assert(sizeof(struct uhca_cmd_modify_qp) == 168, "modify_qp");

struct uhca_cmd_query_qp_reply {
	struct uhca_cmd_reply h;
	struct uhca_abi_qp_attr attr;
	uint32_t sq_sig_all;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_query_qp_reply) == 168, "query_qp reply");

struct uhca_cmd_create_srq {
	struct uhca_cmd_request h;
	uint64_t cookie;
	uint32_t pd;
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t srq_limit;
	uint32_t srq_type; /* enum ibv_srq_type */
	uint32_t xrcd;
	uint32_t cq;
	uint32_t max_num_tags; /* IBV_SRQT_TM */
	uint32_t max_tm_ops;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_create_srq) == 64, "create_srq");

/* Carries one descriptor: the SRQ's region. */
struct uhca_cmd_create_srq_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t srq_num;
	uint32_t max_wr;
	uint32_t max_sge;
	uint64_t region_size;
	struct uhca_abi_queue_layout recv;
};
static_assert(sizeof(struct uhca_cmd_create_srq_reply) == 72, "create_srq reply");

/*
 * MODIFY_SRQ changes the limit. RESIZE_SRQ has IBV_SRQ_MAX_WR in its mask, and perhaps the limit;
 * its reply is that of CREATE_SRQ with the new region, to which all that was posted has moved. The
 * client posts nothing meanwhile.
 */
struct uhca_cmd_modify_srq {
	struct uhca_cmd_request h;
	uint32_t handle;
	uint32_t attr_mask; /* enum ibv_srq_attr_mask */
	uint32_t max_wr;
	uint32_t srq_limit;
};
static_assert(sizeof(struct uhca_cmd_modify_srq) == 32, "modify_srq");

struct uhca_cmd_query_srq_reply {
	struct uhca_cmd_reply h;
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t srq_limit;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_query_srq_reply) == 32, "query_srq reply");

#endif
