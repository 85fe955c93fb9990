/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a device is made with: its limits, features and addresses, and the named sets of them
 * (profiles). Part of core.h.
 */
#ifndef CORE_CONFIG_H
#define CORE_CONFIG_H

#include "congestion.h"

#include <stdbool.h>
#include <stdint.h>

#define CORE_PORTS_MAX 2
#define CORE_GID_TABLE 16  /* slots of a port's GID table, empty ones included, unless it says */
#define CORE_GID_MOST  256 /* and at most so many */
#define CORE_PKEY_MOST 128
#define CORE_FW_MOST   32 /* bytes of a firmware version with its NUL */

#define QP_RATE_LIMIT_MAX 100000000u /* kbit/s, as the port */

/* Bounds that keep every size product of this directory within 32 bits, and key and QPN in theirs.
 * */
#define CORE_MOST_OBJECTS (1u << 20)
#define CORE_MOST_INLINE  (1u << 16)
#define CORE_MOST_MR_SIZE (1ull << 47)

struct core_limits {
	uint32_t max_qp, max_qp_wr, max_sge, max_cq, max_cqe, max_mr, max_pd, max_ah;
	uint32_t max_srq, max_srq_wr, max_srq_sge;
	uint32_t max_rd_atomic;   /* per QP, as initiator and as responder */
	uint32_t max_inline_data; /* bytes */
	uint64_t max_mr_size;
	uint32_t max_mw, max_xrcd;
	uint32_t max_comp_cntr;
	uint64_t max_dm_size; /* bytes of all device memory */
	uint32_t max_mcast_grp, max_mcast_qp_attach;
	uint32_t max_flow, max_wq, max_rwq_ind_table;
	uint32_t max_list_entries;   /* of a description (layout.h) */
	uint32_t max_low_latency_wr; /* send requests of a low-latency QP */
	uint64_t max_shared_size;    /* bytes of all memory shared with programs */
	uint64_t client_memory;      /* bytes that what a client has takes here */
};

/* As enum ibv_node_type has them. */
enum core_node_type { CORE_NODE_CA = 1, CORE_NODE_RNIC = 4, CORE_NODE_UNSPECIFIED = 7 };

/* As verbs has them. What is neither is addressed as Ethernet. */
enum core_link_layer { CORE_LINK_NEITHER, CORE_LINK_INFINIBAND, CORE_LINK_ETHERNET };

/* What a port says of itself; its GIDs stand in core_config.gid. */
struct core_port_look {
	enum core_link_layer link_layer;
	uint32_t gid_entries;
	uint32_t width;      /* 1 1X, 2 4X, 4 8X, 8 12X, 16 2X */
	uint32_t speed;      /* of a lane: 1 SDR ... 32 EDR, 64 HDR, 128 NDR, 256 XDR */
	uint32_t state;      /* enum ibv_port_state while nobody takes the port down */
	uint32_t phys_state; /* the same */
	uint32_t active_mtu; /* enum ibv_mtu; 0: that of the device */
	uint32_t n_pkeys;    /* 1 or more */
	uint16_t pkey[CORE_PKEY_MOST];
	/*
	 * InfiniBand: the IPv4 address (mapped) of the port. Its last 16 bits are the LID. A LID
	 * stands for the address of the same network with these last 16 bits.
	 */
	uint8_t address[16];
	uint32_t gid_v1[CORE_GID_MOST / 32]; /* bits: these entries are of RoCE v1 */
};

/* What a device says of itself beside its limits. */
struct core_look {
	uint32_t vendor_id, part_id, hw_version;
	uint64_t sys_image_guid; /* host order; 0: the node's, unless no_sys_image_guid */
	bool no_sys_image_guid;
	char fw_version[CORE_FW_MOST];
	uint32_t n_ports;
	struct core_port_look port[CORE_PORTS_MAX];
};
/*
 * How a device tells of errors: vendor errors of completions (vendor_err.h), names and moves of
 * hw_counters, what it says of a port that is down.
 */
enum core_errors { CORE_ERRORS_OWN, CORE_ERRORS_MLX5 };

struct core_config {
	uint64_t node_guid; /* host order */
	struct core_look look;
	struct core_limits limits;
	uint32_t features; /* UHCA_ABI_HAS_*: what is missing is refused */
	uint8_t gid[CORE_PORTS_MAX * CORE_GID_MOST][16]; /* port 2's begin at CORE_GID_MOST */
	uint32_t active_mtu;     /* enum ibv_mtu: the longest packets that fit the network; 4096 */
	enum core_errors errors; /* whose vendor errors completions have */
	bool counts_requests;    /* that arrive, by kind: adapters show such counters */
	/*
	 * Payloads up to this are gathered by the provider when they are posted; also the most of a
	 * slot's data area that is not for inline data. 0: all payload is read at execution.
	 */
	uint32_t gather_limit;
	uint32_t burst_bytes;  /* payload of one burst at the most; 65536 */
	uint32_t window_bytes; /* unacknowledged payload that each QP may always have */
	uint32_t window_most;  /* to this it grows where nothing gets lost; less: it does not */
	/*
	 * How long the ACK of a short message that came over a network waits for company: for more
	 * to acknowledge, or for a request of the same QP with which it can travel.
	 */
	uint64_t ack_delay_ns;
	bool no_rc;                     /* RC queue pairs are refused */
	bool no_srq_resize;             /* SRQs keep their size */
	bool no_pacing;                 /* no QP has a rate limit */
	bool no_send_imm, no_write_imm; /* SEND, RDMA WRITE with immediate data are refused */
	enum core_node_type node_type;  /* what it says that it is */
	/*
	 * LOCAL_INV without fence is executed as early as its loose ordering allows: as soon as it
	 * is seen, before requests that were posted before it (a program that needs the order and
	 * did not ask for it fails here, not in the field).
	 */
	bool local_inv_early;
	/*
	 * Only completions that come after a CQ was armed raise its event (IBTA vol. 1, 11.4.2.2).
	 * Otherwise one that came before, was not taken and had no event yet raises it at once.
	 */
	bool strict_arming;
	/* No completion waits for its reader (deferred_completion.h): each enters its CQ when it is
	 * made. */
	bool strict_order;
	/* Legal chaos; relaxation_seed chooses what it does. */
	uint64_t relaxation_seed;
	uint64_t late_bytes_ns; /* so long bytes may be late (delayed_write.h); 0: none is */
	bool late_writes;       /* of RDMA WRITEs: also when their requester has a completion */
	bool any_srq_order;     /* srq_reorder.h */
	bool any_grh;           /* bytes of a GRH that are undefined have any value */
	bool same_qp_numbers;   /* of all devices with the same seed, in the order of creation */
	struct core_congestion congestion;
	bool lazy_acks;   /* every ACK waits for company, for ack_delay_ns */
	uint32_t profile; /* index of core_profile_name, for people */
};

/* What the device says: host order. */
uint64_t core_sys_image_guid(const struct core_config *cfg);

/* The entry of a port's table; port is 1 or 2, index below CORE_GID_MOST. */
static inline uint8_t *core_config_gid(struct core_config *cfg, unsigned port, unsigned index)
{
	return cfg->gid[(port - 1) * CORE_GID_MOST + index];
}

/* Is the entry one of RoCE v1? */
static inline bool core_gid_is_v1(const struct core_port_look *port, unsigned index)
{
	return port->gid_v1[index / 32] >> index % 32 & 1;
}

/* The LID of an InfiniBand port with this address. */
static inline uint32_t core_lid_of(const uint8_t address[16])
{
	return (uint32_t)address[14] << 8 | address[15];
}

/* Fills in the values of the profile "default"; GUID and GIDs stay zero. */
void core_config_default(struct core_config *cfg);

/* False when a value is beyond what the device can keep: no device can be made with it. */
bool core_config_valid(const struct core_config *cfg);

/* Name of profile i (0 is "default"), NULL after the last; what each means is in profile.c. */
const char *core_profile_name(unsigned i);

/*
 * Takes the features away that the profile has not, and sets its limits; a number of an adapter
 * that is beyond what the device can keep becomes the most that it can. 0 or -EINVAL.
 */
int core_profile_apply(struct core_config *cfg, unsigned i);

/* Name of limit i ("max_qp", ...), NULL after the last; its value. */
const char *core_limit_name(unsigned i);
uint64_t core_limit_get(const struct core_config *cfg, unsigned i);

/* The values that it may have. */
void core_limit_range(unsigned i, uint64_t *least, uint64_t *most);

/* 0, -EINVAL (no such limit) or -ERANGE, cfg then being as before. */
int core_limit_set(struct core_config *cfg, unsigned i, uint64_t value);

/* The same for a value that core_limit_set has taken before. */
void core_limit_write(struct core_config *cfg, unsigned i, uint64_t value);

/* The limits of features that are off become zero; core_create does it to its copy. */
void core_config_settle(struct core_config *cfg);

#endif
