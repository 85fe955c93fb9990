/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the device tells about itself (IBTA vol. 1, 11.2.1.2; ibv_query_device(3),
 * ibv_query_port(3)): its limits as they are enforced, and no capability that it does not have.
 */
#include "emu/core/base/base.h"
#include "emu/core/queues/queues.h"
#include "emu/core/send/send.h"
#include "wire/bytes.h"

#include <errno.h>
#include <string.h>

#define PAGE_SIZES    (1ull << 12 | 1ull << 21 | 1ull << 30) /* what mr.c may choose */
#define ATOMIC_HCA    1        /* enum ibv_atomic_cap: atomic among this device's operations */
#define CLOCK_KHZ     1000000u /* time stamps are nanoseconds */
#define MTU_4096      5
#define MAX_MESSAGE   0x80000000u
#define STATE_DOWN    1
#define STATE_ACTIVE  4
#define PHYS_DISABLED 3
#define IP_BASED_GIDS (1u << 26)

/* enum ibv_device_cap_flags */
#define BAD_PKEY_CNTR      (1u << 1)
#define BAD_QKEY_CNTR      (1u << 2)
#define UD_AV_PORT_ENFORCE (1u << 6)
#define CURR_QP_STATE_MOD  (1u << 7)
#define SYS_IMAGE_GUID     (1u << 11)
#define RC_RNR_NAK_GEN     (1u << 12)
#define SRQ_RESIZE         (1u << 13)
#define MEM_WINDOW         (1u << 17)
#define XRC                (1u << 20)
#define MEM_MGT_EXTENSIONS (1u << 21)
#define MEM_WINDOW_2A      (1u << 23)
#define MEM_WINDOW_2B      (1u << 24)
#define FLUSH_GLOBAL       (1ull << 38)
#define FLUSH_PERSISTENT   (1ull << 39)
#define ATOMIC_WRITE       (1ull << 40)
#define MANAGED_STEERING   (1u << 29)

uint64_t core_sys_image_guid(const struct core_config *cfg)
{
	if (cfg->look.sys_image_guid || cfg->look.no_sys_image_guid)
		return cfg->look.sys_image_guid;
	return cfg->node_guid;
}

static void fill_identity(const struct device *dev, struct uhca_cmd_device_attr *out)
{
	const struct core_look *look = &dev->cfg.look;
	_Static_assert(sizeof(look->fw_version) <= sizeof(out->fw_ver), "the version fits");
	memcpy(out->fw_ver, look->fw_version, sizeof(look->fw_version));
	roce_store_be64((uint8_t *)&out->node_guid, dev->cfg.node_guid);
	roce_store_be64((uint8_t *)&out->sys_image_guid, core_sys_image_guid(&dev->cfg));
	out->vendor_id = look->vendor_id;
	out->vendor_part_id = look->part_id;
	out->hw_ver = look->hw_version;
	out->phys_port_cnt = look->n_ports;
}

static void fill_limits(const struct core_limits *l, struct uhca_cmd_device_attr *out)
{
	out->max_mr_size = l->max_mr_size;
	out->max_qp = l->max_qp;
	out->max_qp_wr = l->max_qp_wr;
	out->max_sge = l->max_sge;
	out->max_cq = l->max_cq;
	out->max_cqe = l->max_cqe;
	out->max_mr = l->max_mr;
	out->max_mw = l->max_mw;
	out->max_pd = l->max_pd;
	out->max_qp_rd_atom = l->max_rd_atomic;
	out->max_res_rd_atom = l->max_rd_atomic * l->max_qp;
	out->max_qp_init_rd_atom = l->max_rd_atomic;
	out->max_ah = l->max_ah;
	out->max_srq = l->max_srq;
	out->max_srq_wr = l->max_srq_wr;
	out->max_srq_sge = l->max_srq_sge;
	out->max_xrcd = l->max_xrcd;
	out->max_comp_cntr = l->max_comp_cntr;
	out->max_mcast_grp = l->max_mcast_grp;
	out->max_mcast_qp_attach = l->max_mcast_qp_attach;
	out->max_total_mcast_qp_attach = l->max_mcast_grp * l->max_mcast_qp_attach;
	out->max_inline_data = l->max_inline_data;
}

/* enum ibv_odp_general_caps and ibv_odp_transport_cap_bits */
#define ODP_SUPPORT      (1u << 0)
#define ODP_IMPLICIT     (1u << 1)
#define ODP_SEND         (1u << 0)
#define ODP_RECV         (1u << 1)
#define ODP_WRITE        (1u << 2)
#define ODP_READ         (1u << 3)
#define ODP_ATOMIC       (1u << 4)
#define ODP_SRQ_RECV     (1u << 5)
/* Since rdma-core 44. */
#define ODP_FLUSH        (1u << 6)
#define ODP_ATOMIC_WRITE (1u << 7)

/*
 * Every access goes through the client's own page tables, so an on-demand region does whatever
 * its transport can do at all.
 */
static void fill_memory(const struct core_config *cfg, struct uhca_cmd_device_attr *out)
{
	uint32_t srq = cfg->features & UHCA_ABI_HAS_SRQ ? ODP_SRQ_RECV : 0;
	uint32_t reliable = ODP_SEND | ODP_WRITE | ODP_READ | srq;
	if (cfg->features & UHCA_ABI_HAS_ATOMICS)
		reliable |= ODP_ATOMIC;
	if (cfg->features & UHCA_ABI_HAS_FLUSH)
		reliable |= ODP_FLUSH;
	if (cfg->features & UHCA_ABI_HAS_ATOMIC_WRITE)
		reliable |= ODP_ATOMIC_WRITE;
	if (cfg->features & UHCA_ABI_HAS_DM)
		out->max_dm_size = cfg->limits.max_dm_size;
	if (!(cfg->features & UHCA_ABI_HAS_ODP))
		return;
	out->odp_general = ODP_SUPPORT | ODP_IMPLICIT;
	out->odp_rc = reliable | ODP_RECV;
	if (cfg->features & UHCA_ABI_HAS_UC)
		out->odp_uc = ODP_SEND | ODP_RECV | ODP_WRITE;
	if (cfg->features & UHCA_ABI_HAS_UD)
		out->odp_ud = ODP_SEND | ODP_RECV | srq;
	if (cfg->features & UHCA_ABI_HAS_XRC)
		out->odp_xrc = reliable;
}

/* Capabilities that profiles switch. */
static bool can_resize_srqs(const struct core_config *cfg)
{
	return cfg->features & UHCA_ABI_HAS_SRQ && !cfg->no_srq_resize;
}

static uint64_t optional_caps(uint32_t features)
{
	static const struct {
		uint32_t feature;
		uint64_t cap;
	} caps[] = {
		{UHCA_ABI_HAS_MW_TYPE_1, MEM_WINDOW},
		{UHCA_ABI_HAS_MW_TYPE_2A, MEM_WINDOW_2A},
		{UHCA_ABI_HAS_MW_TYPE_2B, MEM_WINDOW_2B},
		{UHCA_ABI_HAS_INVALIDATE, MEM_MGT_EXTENSIONS},
		{UHCA_ABI_HAS_FLUSH, FLUSH_GLOBAL | FLUSH_PERSISTENT},
		{UHCA_ABI_HAS_ATOMIC_WRITE, ATOMIC_WRITE},
		{UHCA_ABI_HAS_XRC, XRC},
		{UHCA_ABI_HAS_RAW_PACKET, MANAGED_STEERING},
	};
	uint64_t all = 0;

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++)
		if (features & caps[i].feature)
			all |= caps[i].cap;
	return all;
}

/* UHCA_ABI_MW_TYPE bits: 1 << enum ibv_mw_type. */
static uint32_t window_types(uint32_t features)
{
	uint32_t type_2 = UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B;

	return (features & UHCA_ABI_HAS_MW_TYPE_1 ? 1u << 1 : 0) |
	       (features & type_2 ? 1u << 2 : 0);
}

static void fill_rss(const struct core_config *cfg, struct uhca_cmd_device_attr *out)
{
	if (!(cfg->features & UHCA_ABI_HAS_RSS))
		return;
	out->max_wq_type_rq = cfg->limits.max_wq;
	out->max_rwq_ind_tables = cfg->limits.max_rwq_ind_table;
	out->max_rwq_ind_table_size = 1u << UHCA_ABI_IND_TABLE_LOG;
	out->rx_hash_fields = RSS_FIELDS;
	out->rx_hash_function = RSS_TOEPLITZ;
	out->rss_qpts = 1u << QPT_RAW_PACKET;
}

/* What only uhcadv.h tells programs. */
static void fill_extensions(const struct core_config *cfg, struct uhca_cmd_device_attr *out)
{
	const char *profile = core_profile_name(cfg->profile);

	/* The last byte stays zero. */
	for (size_t i = 0; profile && profile[i] && i < sizeof(out->profile) - 1; i++)
		out->profile[i] = profile[i];
	out->max_list_entries = cfg->limits.max_list_entries;
	out->max_low_latency_wr = cfg->limits.max_low_latency_wr;
	if (cfg->features & UHCA_ABI_HAS_DM)
		out->max_shared_size = cfg->limits.max_shared_size;
	out->masked_atomic_sizes = masked_sizes(cfg->features);
}

static void fill_pacing(const struct core_config *cfg, struct uhca_cmd_device_attr *out)
{
	if (cfg->no_pacing)
		return;
	out->rate_limit_min = 1;
	out->rate_limit_max = QP_RATE_LIMIT_MAX;
	out->rate_limit_qpts = 1u << QPT_RC | 1u << QPT_UC | 1u << QPT_UD | 1u << QPT_XRC_SEND;
	if (cfg->features & UHCA_ABI_HAS_RAW_PACKET)
		out->rate_limit_qpts |= 1u << QPT_RAW_PACKET;
}

static uint32_t most_pkeys(const struct core_look *look)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < look->n_ports; i++)
		most = look->port[i].n_pkeys > most ? look->port[i].n_pkeys : most;
	return most;
}

int core_query_device(struct client *c, struct uhca_cmd_device_attr *out)
{
	memset((uint8_t *)out + sizeof(out->h), 0, sizeof(*out) - sizeof(out->h));
	fill_identity(c->dev, out);
	fill_limits(&c->dev->cfg.limits, out);
	out->max_pkeys = most_pkeys(&c->dev->cfg.look);
	out->max_sge_rd = send_max_read_sge(&c->dev->cfg);
	fill_memory(&c->dev->cfg, out);
	out->features = c->dev->cfg.features;
	fill_extensions(&c->dev->cfg, out);
	out->page_size_cap = PAGE_SIZES;
	out->device_cap_flags = BAD_PKEY_CNTR | BAD_QKEY_CNTR | UD_AV_PORT_ENFORCE |
				CURR_QP_STATE_MOD | SYS_IMAGE_GUID | RC_RNR_NAK_GEN |
				optional_caps(out->features) |
				(can_resize_srqs(&c->dev->cfg) ? SRQ_RESIZE : 0);
	out->mw_type = window_types(out->features);
	out->atomic_cap = c->dev->cfg.features & UHCA_ABI_HAS_ATOMICS ? ATOMIC_HCA : 0;
	fill_rss(&c->dev->cfg, out);
	fill_pacing(&c->dev->cfg, out);
	out->local_ca_ack_delay = DEVICE_ACK_DELAY;
	out->hca_core_clock_khz = CLOCK_KHZ;
	out->completion_timestamp_mask = UINT64_MAX;
	out->max_cq_count = UINT16_MAX;
	out->max_cq_period = UINT16_MAX;
	return 0;
}

/* Or it is not up in the first place, and says so itself. */
static bool taken_down(const struct device *dev, const struct core_port_look *look)
{
	return dev->port_down && look->state == STATE_ACTIVE;
}

int core_query_port(struct client *c, uint32_t port, struct uhca_cmd_port_attr *out)
{
	const struct core_counters *counters = &c->dev->counters;
	const struct core_port_look *look;
	int err = device_check_port(c->dev, "port_num", port);

	if (err)
		return err;
	look = &c->dev->cfg.look.port[port - 1];
	out->state = taken_down(c->dev, look) ? STATE_DOWN : look->state;
	out->max_mtu = MTU_4096;
	out->active_mtu = look->active_mtu ? look->active_mtu : c->dev->cfg.active_mtu;
	out->gid_tbl_len = look->gid_entries;
	out->port_cap_flags = look->link_layer == CORE_LINK_ETHERNET ? IP_BASED_GIDS : 0;
	out->max_msg_sz = MAX_MESSAGE;
	out->bad_pkey_cntr = (uint32_t)counters->drops[CORE_DROP_PKEY];
	out->qkey_viol_cntr = (uint32_t)counters->drops[CORE_DROP_QKEY];
	out->pkey_tbl_len = look->n_pkeys;
	out->active_width = look->width;
	out->active_speed = look->speed;
	out->speed = port == 1 ? core_port_speed(c->dev) : core_look_speed(look);
	if (!out->speed) {
		out->active_width = core_port_link(c->dev)->width;
		out->active_speed = core_port_link(c->dev)->code;
	}
	out->phys_state = taken_down(c->dev, look) ? PHYS_DISABLED : look->phys_state;
	out->link_layer = look->link_layer;
	out->lid = core_lid_of(look->address);
	return 0;
}

int core_query_gid(struct client *c, uint32_t index, uint8_t gid[16])
{
	const uint32_t entries = c->dev->cfg.look.port[0].gid_entries;

	if (index >= entries)
		return device_refuse(c->dev, -EINVAL, "index %u is not below gid_tbl_len, %u",
				     index, entries);
	memcpy(gid, c->dev->cfg.gid[index], 16);
	return 0;
}
