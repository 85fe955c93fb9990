/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles: what kind of device it is, as data. Each takes features away from what the device has,
 * and sets limits; limits can be set one by one as well. A limit of a feature that is off is zero.
 */
#include "emu/abi/adapters.h"
#include "emu/core/base/base.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/queues/queues.h"

#include <errno.h>
#include <string.h>

#define LIMITS_PER_PROFILE 24

#define MTU_4096      5 /* enum ibv_mtu */
#define WIDTH_4X      2
#define SPEED_25_GBPS 32 /* per lane (EDR) */
#define STATE_ACTIVE  4
#define PHYS_LINK_UP  5
#define VENDOR_ID     0x75ca
#define PART_ID       1
#define HW_VERSION    1

/* One line for each feature that is complete; profiles take them away again. */
/* clang-format off */
#define DEFAULT_FEATURES ( \
	UHCA_ABI_HAS_ATOMIC_WRITE | \
	UHCA_ABI_HAS_FLUSH | \
	UHCA_ABI_HAS_ATOMICS | \
	UHCA_ABI_HAS_ZERO_BASED | \
	UHCA_ABI_HAS_SRQ | \
	UHCA_ABI_HAS_UC | \
	UHCA_ABI_HAS_UD | \
	UHCA_ABI_HAS_REREG | \
	UHCA_ABI_HAS_ODP | \
	UHCA_ABI_HAS_DM | \
	UHCA_ABI_HAS_RAW_PACKET | \
	UHCA_ABI_HAS_RSS | \
	UHCA_ABI_HAS_XRC | \
	UHCA_ABI_HAS_MW_TYPE_1 | \
	UHCA_ABI_HAS_MW_TYPE_2B | \
	UHCA_ABI_HAS_INVALIDATE | \
	UHCA_ABI_HAS_INV_FENCE | \
	UHCA_ABI_HAS_FAST_REG | \
	UHCA_ABI_HAS_BLOCK_LIST | \
	UHCA_ABI_HAS_INTERLEAVED | \
	UHCA_ABI_HAS_SG | \
	UHCA_ABI_HAS_KEY_BYTE | \
	UHCA_ABI_HAS_READ_WITH_INV | \
	UHCA_ABI_HAS_MASKED_ATOMICS | \
	UHCA_ABI_HAS_MASKED_ATOMIC_SIZES | \
	UHCA_ABI_HAS_MCAST | \
	UHCA_ABI_HAS_LOW_LATENCY | \
	UHCA_ABI_HAS_BLOCK_LOOPBACK | \
	UHCA_ABI_HAS_RESIZE_CQ)
/* clang-format on */

static const struct core_limits default_limits = {
	.max_qp = 4096,
	.max_qp_wr = 16384,
	.max_sge = CORE_MAX_SGE,
	.max_cq = 4096,
	.max_cqe = 1048575, /* with its defaults, libfabric's ofi_rxm wants 262144 */
	.max_mr = 16384,
	.max_mw = 16384,
	.max_pd = 4096,
	.max_ah = 16384,
	.max_srq = 4096,
	.max_srq_wr = 16384,
	.max_srq_sge = CORE_MAX_SGE,
	.max_rd_atomic = REPLAY_MAX,
	.max_inline_data = 1024,
	.max_mr_size = CORE_MOST_MR_SIZE,
	.max_dm_size = 1ull << 24,
	.max_flow = 4096,
	.max_wq = 4096,
	.max_rwq_ind_table = 1024,
	.max_xrcd = 1024,
	.max_comp_cntr = 4096,
	.max_mcast_grp = 256,
	.max_mcast_qp_attach = 256,
	.max_list_entries = UHCA_ABI_MAX_ENTRIES,
	.max_low_latency_wr = 16,
	.max_shared_size = 1ull << 30,
	.client_memory = 1ull << 28,
};

static const struct core_port_look default_port = {
	.link_layer = CORE_LINK_ETHERNET,
	.gid_entries = CORE_GID_TABLE,
	.width = WIDTH_4X,
	.speed = SPEED_25_GBPS,
	.state = STATE_ACTIVE,
	.phys_state = PHYS_LINK_UP,
	.n_pkeys = 1,
	.pkey = {0xffff},
};

void core_config_default(struct core_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->look = (struct core_look){.vendor_id = VENDOR_ID,
				       .part_id = PART_ID,
				       .hw_version = HW_VERSION,
				       .fw_version = UHCA_VERSION,
				       .n_ports = 1,
				       .port = {default_port, default_port}};
	cfg->limits = default_limits;
	cfg->features = DEFAULT_FEATURES;
	cfg->node_type = CORE_NODE_CA;
	cfg->active_mtu = MTU_4096;
	cfg->gather_limit = 4096;
	cfg->burst_bytes = 65536;
	cfg->window_bytes = 131072;
	cfg->window_most = 1048576;
	cfg->congestion = (struct core_congestion){
		.cnp_interval = 50000, .base_rtt = 50000, .cnp_dscp = ROCE_CNP_DSCP, .scale = 1};
}

struct setting {
	size_t offset; /* in struct core_limits */
	uint64_t value;
};

#define SET_(field, value_)                                                                        \
	{                                                                                          \
		offsetof(struct core_limits, field), value_                                        \
	}

struct profile {
	const char *name;
	uint32_t keeps; /* UHCA_ABI_HAS_* that stay when the device has them */
	uint32_t adds;  /* and those it has beside */
	uint32_t is;    /* UHCA_ADAPTER_* */
	bool mw_type_2a, strict_order, strict_memory;
	unsigned n;
	struct setting set[LIMITS_PER_PROFILE];
};

/* What every HCA has; all the rest is optional (IBTA vol. 1, chapters 10, 11 and 17). */
#define REQUIRED                                                                                   \
	(UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD | UHCA_ABI_HAS_MW_TYPE_1 | UHCA_ABI_HAS_REREG |         \
	 UHCA_ABI_HAS_RESIZE_CQ)

/*
 * What no iWARP device has; the fence of LOCAL_INV, which InfiniBand leaves optional, it must have
 * (RFC 5040, RFC 7306; ibv_create_qp(3)).
 */
#define NOT_IWARP                                                                                  \
	(UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD | UHCA_ABI_HAS_XRC | UHCA_ABI_HAS_ATOMICS |             \
	 UHCA_ABI_HAS_ATOMIC_WRITE | UHCA_ABI_HAS_FLUSH | UHCA_ABI_HAS_MCAST |                     \
	 UHCA_ABI_HAS_RAW_PACKET | UHCA_ABI_HAS_RSS | UHCA_ABI_HAS_TAG_MATCHING |                  \
	 UHCA_ABI_HAS_INTERLEAVED | UHCA_ABI_HAS_SG | UHCA_ABI_HAS_MASKED_ATOMICS |                \
	 UHCA_ABI_HAS_MASKED_ATOMIC_SIZES | UHCA_ABI_HAS_BLOCK_LOOPBACK |                          \
	 UHCA_ABI_HAS_LOW_LATENCY | UHCA_ABI_HAS_KEY_BYTE | UHCA_ABI_HAS_MW_TYPE_1 |               \
	 UHCA_ABI_HAS_MW_TYPE_2A)

/*
 * An adapter. None of them waits for a reader with completions, or reads payload when it is posted:
 * these kindnesses are this device's own.
 */
#define LISTED_(field, value_) SET_(field, value_),
#define COUNT_(field, value_)  +1
#define ADAPTER_(id, name_)                                                                        \
	{.name = name_,                                                                            \
	 .keeps = ~(uint32_t)UHCA_ADAPTER_##id##_LACKS,                                            \
	 .adds = UHCA_ADAPTER_##id##_IS & UHCA_ADAPTER_RNIC ? UHCA_ABI_HAS_SINK_RULE : 0,          \
	 .is = UHCA_ADAPTER_##id##_IS,                                                             \
	 .strict_order = true,                                                                     \
	 .strict_memory = true,                                                                    \
	 .n = 0 UHCA_ADAPTER_##id##_LIMITS(COUNT_),                                                \
	 .set = {UHCA_ADAPTER_##id##_LIMITS(LISTED_)}},

static const struct profile profiles[] = {
	{.name = "default", .keeps = UINT32_MAX},
	{.name = "ib-strict",
	 .keeps = REQUIRED,
	 .is = UHCA_ADAPTER_STRICT_ARMING,
	 .strict_order = true,
	 .strict_memory = true},
	{.name = "iwarp-like",
	 .keeps = ~(uint32_t)NOT_IWARP,
	 .adds = UHCA_ABI_HAS_SINK_RULE,
	 .is = UHCA_ADAPTER_NO_WRITE_IMM | UHCA_ADAPTER_RNIC},
	{.name = "minimal",
	 .keeps = UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD,
	 .n = 11,
	 .set = {SET_(max_qp, 8), SET_(max_qp_wr, 16), SET_(max_sge, 1), SET_(max_cq, 8),
		 SET_(max_cqe, 64), SET_(max_mr, 16), SET_(max_pd, 4), SET_(max_ah, 8),
		 SET_(max_rd_atomic, 1), SET_(max_inline_data, 0), SET_(max_mw, 0)}},
	{.name = "2a", .keeps = UINT32_MAX, .mw_type_2a = true},
	{.name = "large",
	 .keeps = UINT32_MAX,
	 .n = 6,
	 .set = {SET_(max_qp, 65536), SET_(max_cq, 65536), SET_(max_mr, 1u << 20),
		 SET_(max_pd, 65536), SET_(max_ah, 1u << 20), SET_(max_srq, 65536)}},
	UHCA_ADAPTERS(ADAPTER_)};
#define PROFILES (sizeof(profiles) / sizeof(profiles[0]))

const char *core_profile_name(unsigned i)
{
	return i < PROFILES ? profiles[i].name : NULL;
}

static enum core_node_type node_type(const struct profile *p)
{
	if (p->is & UHCA_ADAPTER_RNIC)
		return CORE_NODE_RNIC;
	return p->is & UHCA_ADAPTER_UNSPECIFIED ? CORE_NODE_UNSPECIFIED : CORE_NODE_CA;
}

static void set_behaviour(struct core_config *cfg, const struct profile *p)
{
	cfg->no_rc = p->is & UHCA_ADAPTER_NO_RC;
	cfg->no_pacing = p->keeps != UINT32_MAX; /* this device's own, in its own profiles */
	cfg->no_srq_resize = p->is & UHCA_ADAPTER_NO_SRQ_RESIZE;
	cfg->no_send_imm = p->is & UHCA_ADAPTER_NO_SEND_IMM;
	cfg->no_write_imm = p->is & UHCA_ADAPTER_NO_WRITE_IMM;
	cfg->node_type = node_type(p);
	cfg->strict_arming = p->is & UHCA_ADAPTER_STRICT_ARMING;
	cfg->strict_order = p->strict_order;
	cfg->errors = p->is & UHCA_ADAPTER_MLX5_ERRORS ? CORE_ERRORS_MLX5 : CORE_ERRORS_OWN;
	cfg->counts_requests = cfg->no_pacing;
	if (p->strict_memory)
		cfg->gather_limit = 0;
}

#define MOST_WR            (1u << 20)
#define MOST_CQE           (1u << 22)
#define MOST_GROUPS        (1u << 15)
#define MOST_DM_SIZE       (1ull << 30)
#define MOST_SHARED_SIZE   (1ull << 40)
#define MOST_CLIENT_MEMORY (1ull << 40)

static const struct limit {
	const char *name;
	size_t offset, size;
	uint64_t least, most;
} limits[] = {
#define LIMIT_(f, least_, most_)                                                                   \
	{                                                                                          \
#f, offsetof(struct core_limits, f), sizeof(((struct core_limits *)0)->f), least_, \
			most_                                                                      \
	}
	LIMIT_(max_qp, 1, CORE_MOST_OBJECTS),
	LIMIT_(max_qp_wr, 1, MOST_WR),
	LIMIT_(max_sge, 1, CORE_MAX_SGE),
	LIMIT_(max_cq, 1, CORE_MOST_OBJECTS),
	LIMIT_(max_cqe, 1, MOST_CQE),
	LIMIT_(max_mr, 1, CORE_MOST_OBJECTS),
	LIMIT_(max_pd, 1, CORE_MOST_OBJECTS),
	LIMIT_(max_ah, 1, CORE_MOST_OBJECTS),
	LIMIT_(max_srq, 1, CORE_MOST_OBJECTS),
	LIMIT_(max_srq_wr, 1, MOST_WR),
	LIMIT_(max_srq_sge, 1, CORE_MAX_SGE),
	LIMIT_(max_rd_atomic, 0, REPLAY_MAX),
	LIMIT_(max_inline_data, 0, CORE_MOST_INLINE),
	LIMIT_(max_mr_size, 1, CORE_MOST_MR_SIZE),
	LIMIT_(max_mw, 0, CORE_MOST_OBJECTS),
	LIMIT_(max_xrcd, 0, CORE_MOST_OBJECTS),
	LIMIT_(max_comp_cntr, 0, CORE_MOST_OBJECTS),
	LIMIT_(max_dm_size, 0, MOST_DM_SIZE),
	LIMIT_(max_mcast_grp, 0, MOST_GROUPS),
	LIMIT_(max_mcast_qp_attach, 0, MOST_GROUPS),
	LIMIT_(max_flow, 0, CORE_MOST_OBJECTS),
	LIMIT_(max_wq, 0, CORE_MOST_OBJECTS),
	LIMIT_(max_rwq_ind_table, 0, CORE_MOST_OBJECTS),
	LIMIT_(max_list_entries, 0, UHCA_ABI_MAX_ENTRIES),
	LIMIT_(max_low_latency_wr, 0, MOST_WR),
	LIMIT_(max_shared_size, 0, MOST_SHARED_SIZE),
	LIMIT_(client_memory, 0, MOST_CLIENT_MEMORY),
};
#define LIMITS (sizeof(limits) / sizeof(limits[0]))

static void set_limit(struct core_config *cfg, const struct setting *s)
{
	unsigned i = 0;

	while (limits[i].offset != s->offset)
		i++;
	core_limit_write(cfg, i, s->value < limits[i].most ? s->value : limits[i].most);
}

int core_profile_apply(struct core_config *cfg, unsigned i)
{
	const uint32_t type_2b = UHCA_ABI_HAS_MW_TYPE_2B;
	const struct profile *p = &profiles[i];

	if (i >= PROFILES)
		return -EINVAL;
	cfg->features = (cfg->features & p->keeps) | p->adds;
	cfg->profile = i;
	if (p->mw_type_2a && cfg->features & type_2b)
		cfg->features = (cfg->features & ~type_2b) | UHCA_ABI_HAS_MW_TYPE_2A;
	set_behaviour(cfg, p);
	if (cfg->no_pacing && !(p->is & UHCA_ADAPTER_COMP_CNTR)) /* the same of counters */
		cfg->limits.max_comp_cntr = 0;
	for (unsigned k = 0; k < p->n; k++)
		set_limit(cfg, &p->set[k]);
	return 0;
}

const char *core_limit_name(unsigned i)
{
	return i < LIMITS ? limits[i].name : NULL;
}

void core_limit_range(unsigned i, uint64_t *least, uint64_t *most)
{
	*least = limits[i].least;
	*most = limits[i].most;
}

void core_limit_write(struct core_config *cfg, unsigned i, uint64_t value)
{
	char *field = (char *)&cfg->limits + limits[i].offset;
	uint32_t narrow = (uint32_t)value;

	if (limits[i].size == sizeof(value))
		memcpy(field, &value, sizeof(value));
	else
		memcpy(field, &narrow, sizeof(narrow));
}

uint64_t core_limit_get(const struct core_config *cfg, unsigned i)
{
	const char *field = (const char *)&cfg->limits + limits[i].offset;
	uint64_t wide;
	uint32_t narrow;

	memcpy(&narrow, field, sizeof(narrow));
	if (limits[i].size == sizeof(narrow))
		return narrow;
	memcpy(&wide, field, sizeof(wide));
	return wide;
}

/* False when a limit is beyond what the device can keep. */
static bool limits_valid(const struct core_limits *l)
{
	const struct core_config cfg = {.limits = *l};

	for (unsigned i = 0; i < LIMITS; i++)
		if (core_limit_get(&cfg, i) < limits[i].least ||
		    core_limit_get(&cfg, i) > limits[i].most)
			return false;
	return true;
}

bool core_config_valid(const struct core_config *cfg)
{
	return limits_valid(&cfg->limits) && cfg->active_mtu >= 1 && cfg->active_mtu <= MTU_4096 &&
	       cfg->gather_limit <= CORE_MOST_INLINE && cfg->burst_bytes >= ROCE_MAX_MTU &&
	       cfg->window_bytes >= ROCE_MAX_MTU && cfg->congestion.scale > 0;
}

int core_limit_set(struct core_config *cfg, unsigned i, uint64_t value)
{
	struct core_config changed = *cfg;

	if (i >= LIMITS)
		return -EINVAL;
	if (limits[i].size == sizeof(uint32_t) && value > UINT32_MAX)
		return -ERANGE;
	core_limit_write(&changed, i, value);
	if (!core_config_valid(&changed))
		return -ERANGE;
	*cfg = changed;
	return 0;
}

void core_config_settle(struct core_config *cfg)
{
	const uint32_t windows =
		UHCA_ABI_HAS_MW_TYPE_1 | UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B;
	const uint32_t keys = UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_BLOCK_LIST |
			      UHCA_ABI_HAS_INTERLEAVED | UHCA_ABI_HAS_SG;
	struct core_limits *l = &cfg->limits;

	if (!(cfg->features & UHCA_ABI_HAS_SRQ))
		l->max_srq = l->max_srq_wr = l->max_srq_sge = 0;
	if (!(cfg->features & windows))
		l->max_mw = 0;
	if (!(cfg->features & UHCA_ABI_HAS_XRC))
		l->max_xrcd = 0;
	if (!(cfg->features & UHCA_ABI_HAS_DM))
		l->max_dm_size = l->max_shared_size = 0;
	if (!(cfg->features & UHCA_ABI_HAS_MCAST))
		l->max_mcast_grp = l->max_mcast_qp_attach = 0;
	if (!(cfg->features & UHCA_ABI_HAS_RAW_PACKET))
		l->max_flow = 0;
	if (!(cfg->features & UHCA_ABI_HAS_RSS))
		l->max_wq = l->max_rwq_ind_table = 0;
	if (!(cfg->features & keys))
		l->max_list_entries = 0;
	if (!(cfg->features & UHCA_ABI_HAS_LOW_LATENCY))
		l->max_low_latency_wr = 0;
	if (l->max_low_latency_wr > l->max_qp_wr)
		l->max_low_latency_wr = l->max_qp_wr;
}
