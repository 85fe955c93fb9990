/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages between a client (one opened context) and the daemon: a SEQPACKET Unix socket,
 * one request, one reply, in order. Descriptors travel by SCM_RIGHTS beside the message that
 * names them. The daemon checks each request's size against its command, and that reserved fields
 * are zero; a message it does not understand is answered with -EINVAL or -EOPNOTSUPP and nothing
 * else happens.
 *
 * Attribute values, access flags, states and masks are those of <infiniband/verbs.h>. Handles are
 * the device's: index and generation in one number, valid only for the client that made them.
 */
#ifndef UHCA_ABI_CMD_H
#define UHCA_ABI_CMD_H

#include <assert.h>
#include <stdint.h>

#define UHCA_ABI_MAX_MESSAGE 4096
#define UHCA_ABI_MAX_FDS     4

enum {
	UHCA_CMD_HELLO = 1,
	UHCA_CMD_QUERY_DEVICE = 2,
	UHCA_CMD_QUERY_PORT = 3,
	UHCA_CMD_QUERY_GID = 4,
	UHCA_CMD_ALLOC_PD = 5,
	UHCA_CMD_DEALLOC_PD = 6,
	UHCA_CMD_REG_MR = 7,
	UHCA_CMD_DEREG_MR = 8,
	UHCA_CMD_CREATE_CHANNEL = 9,
	UHCA_CMD_DESTROY_CHANNEL = 10,
	UHCA_CMD_CREATE_CQ = 11,
	UHCA_CMD_DESTROY_CQ = 12,
	UHCA_CMD_CREATE_QP = 13,
	UHCA_CMD_MODIFY_QP = 14,
	UHCA_CMD_QUERY_QP = 15,
	UHCA_CMD_DESTROY_QP = 16,
	UHCA_CMD_CREATE_SRQ = 17,
	UHCA_CMD_MODIFY_SRQ = 18,
	UHCA_CMD_QUERY_SRQ = 19,
	UHCA_CMD_DESTROY_SRQ = 20,
	UHCA_CMD_CREATE_AH = 21,
	UHCA_CMD_DESTROY_AH = 22,
	UHCA_CMD_ATTACH_MCAST = 23,
	UHCA_CMD_DETACH_MCAST = 24,
	UHCA_CMD_COUNT
};

struct uhca_cmd_request {
	uint32_t cmd;
	uint32_t size; /* of the whole message */
	uint32_t sequence;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_request) == 16, "request header");

struct uhca_cmd_reply {
	uint32_t cmd;
	uint32_t size;
	uint32_t sequence;
	int32_t status; /* 0 or -errno; on failure the message ends here */
};
static_assert(sizeof(struct uhca_cmd_reply) == 16, "reply header");

/*
 * HELLO, the first message. Descriptors in the request, in this order: the client's own
 * /proc/self/mem (read-write), the daemon's end of the async event channel. Descriptors in the
 * reply: status page, doorbell region, event fd to ring when need_wakeup is set.
 */
struct uhca_cmd_hello {
	struct uhca_cmd_request h;
	uint32_t magic;
	uint32_t version; /* UHCA_ABI_VERSION; another is refused with -EPROTO */
	char device[32];  /* "uhca0" */
	char program[32]; /* for uhcactl show client */
	uint32_t pid;     /* as the client sees it; the daemon uses SO_PEERCRED where it can */
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_hello) == 96, "hello");

struct uhca_cmd_hello_reply {
	struct uhca_cmd_reply h;
	uint32_t client;
	uint32_t gather_limit; /* bytes: gather payloads up to this at post time; 0 = never */
	uint64_t reserved;
};
static_assert(sizeof(struct uhca_cmd_hello_reply) == 32, "hello reply");

/* A command without arguments, and one that names one object. */
struct uhca_cmd_handle {
	struct uhca_cmd_request h;
	uint32_t handle; /* object; for QUERY_PORT the port number, 0 where nothing is named */
	uint32_t index;  /* QUERY_GID: table index; else 0 */
};
static_assert(sizeof(struct uhca_cmd_handle) == 24, "handle request");

struct uhca_cmd_handle_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_handle_reply) == 24, "handle reply");

/* Reply of the destroy commands and of modify: the header alone. */

struct uhca_cmd_device_attr {
	struct uhca_cmd_reply h;
	char fw_ver[64];
	uint64_t node_guid; /* big-endian, as ibv_device_attr */
	uint64_t sys_image_guid;
	uint64_t max_mr_size;
	uint64_t page_size_cap;
	uint64_t device_cap_flags; /* ibv_device_attr.device_cap_flags, and device_cap_flags_ex */
	uint64_t hca_core_clock_khz;
	uint64_t completion_timestamp_mask;
	uint32_t vendor_id;
	uint32_t vendor_part_id;
	uint32_t hw_ver;
	uint32_t max_qp;
	uint32_t max_qp_wr;
	uint32_t max_sge;
	uint32_t max_sge_rd;
	uint32_t max_cq;
	uint32_t max_cqe;
	uint32_t max_mr;
	uint32_t max_pd;
	uint32_t max_qp_rd_atom;
	uint32_t max_res_rd_atom;
	uint32_t max_qp_init_rd_atom;
	uint32_t atomic_cap;
	uint32_t max_mw;
	uint32_t max_mcast_grp;
	uint32_t max_mcast_qp_attach;
	uint32_t max_total_mcast_qp_attach;
	uint32_t max_ah;
	uint32_t max_srq;
	uint32_t max_srq_wr;
	uint32_t max_srq_sge;
	uint32_t max_pkeys;
	uint32_t local_ca_ack_delay;
	uint32_t max_inline_data; /* not in verbs: the cap for create_qp */
	uint32_t max_xrcd;
	uint32_t phys_port_cnt;
	uint32_t reserved[4];
};
static_assert(sizeof(struct uhca_cmd_device_attr) == 264, "device attributes");

struct uhca_cmd_port_attr {
	struct uhca_cmd_reply h;
	uint32_t state;
	uint32_t max_mtu;
	uint32_t active_mtu;
	uint32_t gid_tbl_len;
	uint32_t port_cap_flags;
	uint32_t max_msg_sz;
	uint32_t bad_pkey_cntr;
	uint32_t qkey_viol_cntr;
	uint32_t pkey_tbl_len;
	uint32_t active_width;
	uint32_t active_speed;
	uint32_t phys_state;
	uint32_t link_layer;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_port_attr) == 72, "port attributes");

struct uhca_cmd_gid_reply {
	struct uhca_cmd_reply h;
	uint8_t gid[16]; /* all zero: an empty slot */
};
static_assert(sizeof(struct uhca_cmd_gid_reply) == 32, "gid reply");

struct uhca_cmd_reg_mr {
	struct uhca_cmd_request h;
	uint64_t addr;
	uint64_t length;
	uint64_t iova;
	uint32_t pd;
	uint32_t access;
};
static_assert(sizeof(struct uhca_cmd_reg_mr) == 48, "reg_mr");

struct uhca_cmd_reg_mr_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t lkey;
	uint32_t rkey;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_reg_mr_reply) == 32, "reg_mr reply");

/* CREATE_CHANNEL carries one descriptor, the daemon's end; the reply names it by a handle. */

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
	uint32_t stride;  /* bytes of an entry with its data */
	uint64_t entries_offset;
	uint64_t region_size;
};
static_assert(sizeof(struct uhca_cmd_create_cq_reply) == 48, "create_cq reply");

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
	uint32_t create_flags; /* enum ibv_qp_create_flags */
};
static_assert(sizeof(struct uhca_cmd_create_qp) == 72, "create_qp");

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
	uint32_t rate_limit;
	uint32_t reserved1;
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
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_create_srq) == 56, "create_srq");

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

struct uhca_cmd_create_ah {
	struct uhca_cmd_request h;
	uint32_t pd;
	uint32_t reserved;
	struct uhca_abi_ah_attr attr;
};
static_assert(sizeof(struct uhca_cmd_create_ah) == 56, "create_ah");

struct uhca_cmd_mcast {
	struct uhca_cmd_request h;
	uint32_t qp;
	uint16_t mlid;
	uint16_t reserved;
	uint8_t gid[16];
};
static_assert(sizeof(struct uhca_cmd_mcast) == 40, "mcast");

#endif
