/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replies that tell about the device, its port and its addresses: the numbers of
 * ibv_query_device_ex(3), ibv_query_port(3) and ibv_query_gid(3). See cmd_header.h.
 */
#ifndef UHCA_ABI_CMD_QUERY_H
#define UHCA_ABI_CMD_QUERY_H

#include "cmd_header.h"

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
	uint32_t mw_type;     /* UHCA_ABI_MW_TYPE_* that can be allocated: bits, 1 << type */
	uint64_t odp_general; /* struct ibv_odp_caps: general_caps, then those per transport */
	uint32_t odp_rc;
	uint32_t odp_uc;
	uint32_t odp_ud;
	uint32_t odp_xrc;
	uint64_t max_dm_size;
	uint32_t max_cq_count; /* struct ibv_cq_moderation_caps */
	uint32_t max_cq_period;
	uint32_t max_wq_type_rq;
	uint32_t raw_packet_caps;
	uint64_t rx_hash_fields; /* struct ibv_rss_caps */
	uint32_t rx_hash_function;
	uint32_t rss_qpts;
	uint32_t max_rwq_ind_tables;
	uint32_t max_rwq_ind_table_size;
	uint32_t max_rndv_hdr_size; /* struct ibv_tm_caps */
	uint32_t max_num_tags;
	uint32_t tm_flags;
	uint32_t max_tm_ops;
	uint32_t max_tm_sge;
	uint32_t rate_limit_min; /* kbit/s; struct ibv_packet_pacing_caps */
	uint32_t rate_limit_max;
	uint32_t rate_limit_qpts;
	uint32_t features;            /* UHCA_ABI_HAS_* */
	uint32_t max_list_entries;    /* of a description (layout.h) */
	uint32_t max_low_latency_wr;  /* send requests of a low-latency QP */
	uint32_t masked_atomic_sizes; /* 4 | 8 | 16 | 32: those that exist */
	uint32_t max_comp_cntr;
	uint64_t max_shared_size;
	char profile[16]; /* its name, for people; ends with a zero */
	uint64_t reserved;
};
static_assert(sizeof(struct uhca_cmd_device_attr) == 416, "device attributes");

/*
 * What a device can do beyond the foundation, where verbs has no number or bit that tells.
 * Profiles switch these off; what is off is refused with -EOPNOTSUPP.
 */
enum {
	UHCA_ABI_HAS_XRC = 1u << 0,
	UHCA_ABI_HAS_MW_TYPE_1 = 1u << 1,
	UHCA_ABI_HAS_MW_TYPE_2A = 1u << 2, /* 2A and 2B exclude each other */
	UHCA_ABI_HAS_MW_TYPE_2B = 1u << 3,
	UHCA_ABI_HAS_INVALIDATE = 1u << 4, /* LOCAL_INV and SEND_WITH_INV */
	UHCA_ABI_HAS_ZERO_BASED = 1u << 5,
	UHCA_ABI_HAS_ODP = 1u << 6,
	UHCA_ABI_HAS_DM = 1u << 7,
	UHCA_ABI_HAS_REREG = 1u << 8,
	UHCA_ABI_HAS_ATOMICS = 1u << 9,
	UHCA_ABI_HAS_ATOMIC_WRITE = 1u << 10,
	UHCA_ABI_HAS_FLUSH = 1u << 11,
	UHCA_ABI_HAS_MCAST = 1u << 12,
	UHCA_ABI_HAS_RAW_PACKET = 1u << 13, /* with flow steering */
	UHCA_ABI_HAS_RSS = 1u << 14,
	UHCA_ABI_HAS_TAG_MATCHING = 1u << 15,
	UHCA_ABI_HAS_SRQ = 1u << 16,
	UHCA_ABI_HAS_UC = 1u << 17,
	UHCA_ABI_HAS_UD = 1u << 18,
	UHCA_ABI_HAS_RESIZE_CQ = 1u << 19,
	UHCA_ABI_HAS_FAST_REG = 1u << 20, /* keys without memory, REG_MR with page lists */
	UHCA_ABI_HAS_BLOCK_LIST = 1u << 21,
	UHCA_ABI_HAS_INTERLEAVED = 1u << 22,
	UHCA_ABI_HAS_SG = 1u << 23,
	UHCA_ABI_HAS_READ_WITH_INV = 1u << 24,
	UHCA_ABI_HAS_MASKED_ATOMICS = 1u << 25,      /* of 8 bytes */
	UHCA_ABI_HAS_MASKED_ATOMIC_SIZES = 1u << 26, /* and of 4, 16 and 32 */
	UHCA_ABI_HAS_BLOCK_LOOPBACK = 1u << 27,
	UHCA_ABI_HAS_LOW_LATENCY = 1u << 28,
	UHCA_ABI_HAS_KEY_BYTE = 1u << 29,  /* the consumer chooses the low byte of a key */
	UHCA_ABI_HAS_INV_FENCE = 1u << 30, /* LOCAL_INV can be fenced */
	UHCA_ABI_HAS_SINK_RULE = 1u << 31, /* iWARP: what a READ fills must allow remote writes */
};

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
	uint32_t active_speed; /* of one lane, as in active_speed_ex */
	uint32_t phys_state;
	uint32_t link_layer;
	uint32_t lid;   /* InfiniBand; 0: none */
	uint32_t speed; /* of all lanes, units of 100 Mb/s; 0: not known */
};
static_assert(sizeof(struct uhca_cmd_port_attr) == 76, "port attributes");

struct uhca_cmd_gid_reply {
	struct uhca_cmd_reply h;
	uint8_t gid[16]; /* all zero: an empty slot */
};
static_assert(sizeof(struct uhca_cmd_gid_reply) == 32, "gid reply");

#endif
