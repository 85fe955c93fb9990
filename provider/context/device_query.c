/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attributes of device and port: the daemon's numbers in verbs' structs. Optional features that
 * have their own structs there (TSO, tag matching) are all zero: the device has none of them.
 */
#include "device_query.h"

#include "refuse.h"

#include "child.h"
#include "provider/base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SM_LID    1   /* as sysfs says of described InfiniBand ports */
#define SPEED_NDR 128 /* the most that active_speed has room for */

static void fill_limits(const struct uhca_cmd_device_attr *r, struct ibv_device_attr *d)
{
	d->max_mr_size = r->max_mr_size;
	d->max_qp = (int)r->max_qp;
	d->max_qp_wr = (int)r->max_qp_wr;
	d->max_sge = (int)r->max_sge;
	d->max_sge_rd = (int)r->max_sge_rd;
	d->max_cq = (int)r->max_cq;
	d->max_cqe = (int)r->max_cqe;
	d->max_mr = (int)r->max_mr;
	d->max_pd = (int)r->max_pd;
	d->max_qp_rd_atom = (int)r->max_qp_rd_atom;
	d->max_res_rd_atom = (int)r->max_res_rd_atom;
	d->max_qp_init_rd_atom = (int)r->max_qp_init_rd_atom;
	d->max_mw = (int)r->max_mw;
	d->max_mcast_grp = (int)r->max_mcast_grp;
	d->max_mcast_qp_attach = (int)r->max_mcast_qp_attach;
	d->max_total_mcast_qp_attach = (int)r->max_total_mcast_qp_attach;
	d->max_ah = (int)r->max_ah;
	d->max_srq = (int)r->max_srq;
	d->max_srq_wr = (int)r->max_srq_wr;
	d->max_srq_sge = (int)r->max_srq_sge;
	d->max_pkeys = (uint16_t)r->max_pkeys;
}

static void fill_identity(const struct uhca_cmd_device_attr *r, struct ibv_device_attr *d)
{
	snprintf(d->fw_ver, sizeof(d->fw_ver), "%.*s", (int)sizeof(r->fw_ver), r->fw_ver);
	d->node_guid = r->node_guid;
	d->sys_image_guid = r->sys_image_guid;
	d->page_size_cap = r->page_size_cap;
	d->vendor_id = r->vendor_id;
	d->vendor_part_id = r->vendor_part_id;
	d->hw_ver = r->hw_ver;
	d->device_cap_flags = (unsigned)r->device_cap_flags;
	d->atomic_cap = (enum ibv_atomic_cap)r->atomic_cap;
	d->local_ca_ack_delay = (uint8_t)r->local_ca_ack_delay;
	d->phys_port_cnt = (uint8_t)r->phys_port_cnt;
}

static void fill_memory(const struct uhca_cmd_device_attr *r, struct ibv_device_attr_ex *d)
{
	d->odp_caps.general_caps = r->odp_general;
	d->odp_caps.per_transport_caps.rc_odp_caps = r->odp_rc;
	d->odp_caps.per_transport_caps.uc_odp_caps = r->odp_uc;
	d->odp_caps.per_transport_caps.ud_odp_caps = r->odp_ud;
	d->xrc_odp_caps = r->odp_xrc;
	d->max_dm_size = r->max_dm_size;
}

static void fill_raw(const struct uhca_cmd_device_attr *r, struct ibv_device_attr_ex *d)
{
	d->raw_packet_caps = r->raw_packet_caps;
	d->max_wq_type_rq = r->max_wq_type_rq;
	d->rss_caps.supported_qpts = r->rss_qpts;
	d->rss_caps.max_rwq_indirection_tables = r->max_rwq_ind_tables;
	d->rss_caps.max_rwq_indirection_table_size = r->max_rwq_ind_table_size;
	d->rss_caps.rx_hash_fields_mask = r->rx_hash_fields;
	d->rss_caps.rx_hash_function = (uint8_t)r->rx_hash_function;
}

int uhcav_device_ask(struct uhcav_context *ctx, struct uhca_cmd_device_attr *reply)
{
	struct uhca_cmd_handle request = {.handle = 0};
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_DEVICE, &request, reply);

	return uhcav_context_call(ctx, &call);
}

int uhcav_device_features(struct uhcav_context *ctx, uint32_t *features)
{
	uint64_t known = __atomic_load_n(&ctx->features, __ATOMIC_ACQUIRE);
	struct uhca_cmd_device_attr reply;
	int err = 0;

	if (!(known & UHCAV_FEATURES_KNOWN)) {
		err = uhcav_device_ask(ctx, &reply);
		if (!err) {
			known = UHCAV_FEATURES_KNOWN | reply.features;
			__atomic_store_n(&ctx->guid, reply.node_guid, __ATOMIC_RELAXED);
			__atomic_store_n(&ctx->features, known, __ATOMIC_RELEASE);
		}
	}
	*features = err ? 0 : (uint32_t)known;
	return err;
}

uint64_t uhcav_device_guid(struct uhcav_context *ctx)
{
	uint32_t features;

	return uhcav_device_features(ctx, &features)
		       ? 0
		       : __atomic_load_n(&ctx->guid, __ATOMIC_RELAXED);
}

int uhcav_query_device_ex(struct ibv_context *ibctx, const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct uhca_cmd_device_attr reply;
	struct uhcav_context *ctx = uhcav_context_here(uhcav_context_of(ibctx));
	struct ibv_device_attr_ex all;
	int err;

	if (input && input->comp_mask)
		return uhcav_failed(uhcav_refuse(uhcav_context_of(ibctx), "query_device_ex", EINVAL,
						 "comp_mask 0x%x has unknown bits",
						 input->comp_mask));
	if (!ctx)
		return uhcav_failed(EIO);
	err = uhcav_device_ask(ctx, &reply);
	if (err)
		return uhcav_result(err);
	memset(&all, 0, sizeof(all));
	fill_identity(&reply, &all.orig_attr);
	fill_limits(&reply, &all.orig_attr);
	all.completion_timestamp_mask = reply.completion_timestamp_mask;
	all.hca_core_clock = reply.hca_core_clock_khz;
	all.cq_mod_caps.max_cq_count = (uint16_t)reply.max_cq_count;
	all.cq_mod_caps.max_cq_period = (uint16_t)reply.max_cq_period;
	all.device_cap_flags_ex = reply.device_cap_flags;
	all.phys_port_cnt_ex = reply.phys_port_cnt;
	fill_memory(&reply, &all);
	fill_raw(&reply, &all);
	all.packet_pacing_caps.qp_rate_limit_min = reply.rate_limit_min;
	all.packet_pacing_caps.qp_rate_limit_max = reply.rate_limit_max;
	all.packet_pacing_caps.supported_qpts = reply.rate_limit_qpts;
	memset(attr, 0, attr_size);
	memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
	return 0;
}

static int library; /* its generation: fields that older ones lack are not written */

void uhcav_query_for(int generation)
{
	library = generation;
}

/*
 * A speed that has no bit among the eight of active_speed stands in active_speed_ex, behind the
 * fields that all releases have, and active_speed says the fastest that it can (ibv_query_port(3)).
 * Only libraries with query_port_speed have that field for sure.
 */
static void fill_speed(struct ibv_port_attr *attr, uint32_t speed)
{
	const size_t end = offsetof(struct ibv_port_attr, port_cap_flags2) + sizeof(uint32_t);

	attr->active_speed = (uint8_t)(speed > UINT8_MAX ? SPEED_NDR : speed);
	if (speed > UINT8_MAX && library >= 62)
		memcpy((char *)attr + end, &speed, sizeof(speed));
}

/* ibv_query_port_speed(3), of libraries since 62: units of 100 Mb/s. */
int uhcav_query_port_speed(struct ibv_context *ibctx, uint32_t port, uint64_t *speed)
{
	struct uhca_cmd_handle request = {.handle = port};
	struct uhca_cmd_port_attr r;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_PORT, &request, &r);
	int err = uhcav_context_call(uhcav_context_of(ibctx), &call);

	if (!err)
		*speed = r.speed;
	return uhcav_result(err);
}

int uhcav_query_port(struct ibv_context *ibctx, uint8_t port, struct ibv_port_attr *attr)
{
	struct uhca_cmd_handle request = {.handle = port};
	struct uhca_cmd_port_attr r;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_PORT, &request, &r);
	int err = uhcav_context_call(uhcav_context_of(ibctx), &call);

	if (err)
		return uhcav_result(err);
	attr->state = (enum ibv_port_state)r.state;
	attr->max_mtu = (enum ibv_mtu)r.max_mtu;
	attr->active_mtu = (enum ibv_mtu)r.active_mtu;
	attr->gid_tbl_len = (int)r.gid_tbl_len;
	attr->port_cap_flags = r.port_cap_flags;
	attr->max_msg_sz = r.max_msg_sz;
	attr->bad_pkey_cntr = r.bad_pkey_cntr;
	attr->qkey_viol_cntr = r.qkey_viol_cntr;
	attr->pkey_tbl_len = (uint16_t)r.pkey_tbl_len;
	/* RoCE has no subnet manager that would give one (annex A16.4). */
	attr->lid = (uint16_t)r.lid;
	attr->sm_lid = r.lid ? SM_LID : 0;
	attr->lmc = 0;
	attr->max_vl_num = 1;
	attr->sm_sl = 0;
	attr->subnet_timeout = 0;
	attr->init_type_reply = 0;
	attr->active_width = (uint8_t)r.active_width;
	fill_speed(attr, r.active_speed);
	attr->phys_state = (uint8_t)r.phys_state;
	attr->link_layer = (uint8_t)r.link_layer;
	/* RoCE: the GID is the address. */
	attr->flags = r.link_layer == IBV_LINK_LAYER_INFINIBAND ? 0 : IBV_QPF_GRH_REQUIRED;
	attr->port_cap_flags2 = 0;
	return 0;
}
