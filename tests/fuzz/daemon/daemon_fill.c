/* SPDX-License-Identifier: BSD-2-Clause */
/* See daemon_user.h: what a message of each command says where it is to be right. */
#include "daemon_user.h"

/* Not each needs all of them. */
#define FILL_ARGUMENTS                                                                             \
	__attribute__((unused)) struct daemon_user *u, void *msg,                                  \
		__attribute__((unused)) struct fuzz_input *in

static void fill_create_qp(FILL_ARGUMENTS)
{
	static const uint8_t types[] = {IBV_QPT_RC,         IBV_QPT_UC,        IBV_QPT_UD,
					IBV_QPT_RAW_PACKET, IBV_QPT_XRC_SEND,  IBV_QPT_XRC_RECV,
					IBV_QPT_RC,         IBV_QPT_RAW_PACKET};
	struct uhca_cmd_create_qp *q = msg;
	const uint8_t which = input_u8(in);
	const struct daemon_object *domain = daemon_user_object(u, ABI_XRCD, which >> 4);
	const struct daemon_object *table = daemon_user_object(u, ABI_TABLE, which >> 4);

	q->qp_type = types[which & 7];
	q->max_send_wr = q->max_recv_wr = 8;
	q->max_send_sge = q->max_recv_sge = 2;
	q->max_inline_data = 64;
	q->max_list_bytes = which & 32 ? 512 : 0;
	q->sq_sig_all = which >> 7;
	if (q->qp_type == IBV_QPT_XRC_RECV && domain) {
		q->xrcd = domain->handle;
		q->pd = q->send_cq = q->recv_cq = q->max_send_wr = q->max_recv_wr = 0;
		q->max_send_sge = q->max_recv_sge = q->max_inline_data = 0;
	}
	if (q->qp_type == IBV_QPT_RAW_PACKET && which & 8 && table) {
		q->rwq_ind_table = table->handle;
		q->send_cq = q->recv_cq = q->max_send_wr = q->max_recv_wr = 0;
		q->max_send_sge = q->max_recv_sge = q->max_inline_data = 0;
		q->rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ;
		q->rx_hash_key_len = sizeof(q->rx_hash_key);
		q->rx_hash_fields = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_PORT_UDP;
	}
}

static void fill_describe_key(FILL_ARGUMENTS)
{
	struct uhca_cmd_describe_key *k = msg;
	const uint8_t how = input_u8(in);
	const struct daemon_object *key = daemon_user_object(u, ABI_MR, input_u8(in));
	const struct daemon_object *child = daemon_user_object(u, ABI_MR, input_u8(in));
	struct uhca_abi_block *block = (void *)k->list;
	uint64_t *count = k->list;
	struct uhca_abi_piece *piece = (void *)(k->list + 1 + (how >> 1 & 1));

	k->shape = how & 1 ? UHCA_ABI_SHAPE_INTERLEAVED : UHCA_ABI_SHAPE_SG;
	k->layout = (struct uhca_abi_layout){.iova = daemon_user_memory(),
					     .key = key ? key->lkey : 0,
					     .access = DAEMON_USER_ACCESS,
					     .n = 1 + (how >> 2 & 3),
					     .n_dims = how & 1 ? 1 + (how >> 1 & 1) : 0};
	k->bytes = sizeof(k->list);
	count[0] = count[1] = 2;
	for (unsigned i = 0; i < k->layout.n; i++) {
		const uint64_t at = daemon_user_address(in);
		const uint32_t lkey = child ? child->lkey : 0;

		if (how & 1)
			piece[i] = (struct uhca_abi_piece){.addr = at,
							   .bytes = 8 + (how >> 4),
							   .lkey = lkey,
							   .stride = {512, how & 2 ? 64 : 0}};
		else
			block[i] = (struct uhca_abi_block){at, 64 + how, lkey, 0};
	}
}

static void fill_flow(FILL_ARGUMENTS)
{
	struct uhca_cmd_create_flow *f = msg;
	static const uint32_t kinds[] = {IBV_FLOW_SPEC_ETH,        IBV_FLOW_SPEC_IPV4,
					 IBV_FLOW_SPEC_UDP,        IBV_FLOW_SPEC_TCP,
					 IBV_FLOW_SPEC_IPV6,       IBV_FLOW_SPEC_VXLAN_TUNNEL,
					 IBV_FLOW_SPEC_ACTION_TAG, IBV_FLOW_SPEC_ACTION_DROP,
					 IBV_FLOW_SPEC_GRE,        IBV_FLOW_SPEC_IPV4_EXT};
	const uint8_t how = input_u8(in);

	f->type = how & 1 ? IBV_FLOW_ATTR_NORMAL : IBV_FLOW_ATTR_ALL_DEFAULT + (how >> 6);
	f->port = 1;
	f->n_specs = how & 1 ? how >> 1 & 3 : 0;
	f->priority = how >> 3 & 3;
	for (unsigned i = 0; i < f->n_specs; i++) {
		f->spec[i].type = kinds[input_u8(in) % (sizeof(kinds) / sizeof(kinds[0]))];
		input_bytes(in, f->spec[i].value, 12);
		input_bytes(in, f->spec[i].mask, 12);
	}
}

static void fill_gid(struct daemon_user *u, uint8_t gid[16])
{
	memcpy(gid, u->dev->id.addresses.a[0].gid, 16);
}

/* A random change of state, or of what may be changed in it. */
static void fill_modify_qp(FILL_ARGUMENTS)
{
	struct uhca_cmd_modify_qp *m = msg;
	const uint8_t how = input_u8(in);

	m->attr_mask = how & 128 ? IBV_QP_STATE : input_u32(in);
	m->attr = (struct uhca_abi_qp_attr){.qp_state = how & 7,
					    .cur_qp_state = how >> 3 & 7,
					    .path_mtu = IBV_MTU_1024,
					    .port_num = 1,
					    .ah = {.is_global = 1, .port_num = 1, .hop_limit = 64}};
	fill_gid(u, m->attr.ah.dgid);
}

static void fill_srq(FILL_ARGUMENTS)
{
	struct uhca_cmd_create_srq *s = msg;
	const uint8_t how = input_u8(in);

	s->max_wr = 8;
	s->max_sge = 2;
	s->srq_type = how & 1 ? IBV_SRQT_XRC : how & 2 ? IBV_SRQT_TM : IBV_SRQT_BASIC;
	if (s->srq_type == IBV_SRQT_BASIC)
		s->xrcd = s->cq = 0;
	if (s->srq_type == IBV_SRQT_TM) {
		s->xrcd = 0;
		s->max_num_tags = 4;
		s->max_tm_ops = 4;
	}
}

static void fill_query_port(FILL_ARGUMENTS)
{
	struct uhca_cmd_handle *q = msg;

	q->handle = 1;
}

static void fill_query_gid(FILL_ARGUMENTS)
{
	struct uhca_cmd_handle *q = msg;

	q->index = input_u8(in) & 3;
}

static void fill_reg_mr(FILL_ARGUMENTS)
{
	struct uhca_cmd_reg_mr *r = msg;

	r->addr = input_u16(in);
	r->length = 1 + input_u16(in);
	r->iova = daemon_user_memory() + r->addr;
	r->access = DAEMON_USER_ACCESS | IBV_ACCESS_MW_BIND;
}

static void fill_reg_pinned_mr(FILL_ARGUMENTS)
{
	struct uhca_cmd_reg_pinned_mr *r = msg;

	fill_reg_mr(u, msg, in);
	r->mr.iova = daemon_user_memory();
	r->mr.addr = 0;
	r->mr.length += 8192;
	r->n_extents = 1;
	r->extent[0] = (struct uhca_abi_extent){daemon_user_memory() + 4096,
						(r->mr.length - 4096) & ~4095ull,
						4096u * (input_u8(in) & 63)};
}

static void fill_rereg_mr(FILL_ARGUMENTS)
{
	struct uhca_cmd_rereg_mr *r = msg;

	r->flags = input_u8(in) & 7;
	r->addr = input_u16(in);
	r->length = 1 + input_u16(in);
	r->iova = daemon_user_memory() + r->addr;
	r->access = DAEMON_USER_ACCESS;
}

static void fill_create_cq(FILL_ARGUMENTS)
{
	struct uhca_cmd_create_cq *c = msg;

	c->cqe = 1 + (input_u8(in) & 63);
}

static void fill_resize_cq(FILL_ARGUMENTS)
{
	struct uhca_cmd_resize_cq *c = msg;

	c->cqe = 1 + input_u8(in);
}

static void fill_modify_cq(FILL_ARGUMENTS)
{
	struct uhca_cmd_modify_cq *c = msg;

	c->cq_count = input_u8(in) & 15;
	c->cq_period = input_u8(in);
}

static void fill_modify_srq(FILL_ARGUMENTS)
{
	struct uhca_cmd_modify_srq *s = msg;

	s->attr_mask = 1 + (input_u8(in) & 1);
	s->max_wr = input_u8(in) & 31;
	s->srq_limit = input_u8(in) & 7;
}

static void fill_ah(FILL_ARGUMENTS)
{
	struct uhca_cmd_create_ah *a = msg;

	a->attr = (struct uhca_abi_ah_attr){.is_global = 1, .port_num = 1, .hop_limit = 64};
	fill_gid(u, a->attr.dgid);
}

static void fill_mcast(FILL_ARGUMENTS)
{
	struct uhca_cmd_mcast *m = msg;

	memcpy(m->gid, "\xff\x0e\0\0\0\0\0\0\0\0\xff\xff\xe1\1\1", 15);
	m->gid[15] = input_u8(in) & 3;
}

static void fill_alloc_mw(FILL_ARGUMENTS)
{
	struct uhca_cmd_alloc_mw *m = msg;

	m->type = 1 + (input_u8(in) & 1);
}

static void fill_advise_mr(FILL_ARGUMENTS)
{
	struct uhca_cmd_advise_mr *a = msg;

	a->advice = input_u8(in) & 3;
	a->flags = 1;
	a->num_sge = 1;
	a->sge[0].addr = daemon_user_memory();
	a->sge[0].length = input_u8(in);
}

static void fill_alloc_dm(FILL_ARGUMENTS)
{
	struct uhca_cmd_alloc_dm *d = msg;

	d->length = 4096;
	d->flags = input_u8(in) & 1;
}

static void fill_reg_dm_mr(FILL_ARGUMENTS)
{
	struct uhca_cmd_reg_dm_mr *r = msg;

	r->length = 1 + (input_u16(in) & 4095);
	r->access = DAEMON_USER_ACCESS | IBV_ACCESS_ZERO_BASED;
}

static void fill_reg_shared_mr(FILL_ARGUMENTS)
{
	struct uhca_cmd_reg_shared_mr *r = msg;

	r->length = 1 + (input_u16(in) & 4095);
	r->iova = daemon_user_memory();
	r->access = DAEMON_USER_ACCESS;
}

static void fill_open_xrcd(FILL_ARGUMENTS)
{
	struct uhca_cmd_open_xrcd *x = msg;

	x->oflags = UHCA_ABI_XRCD_CREATE;
	x->unshared = input_u8(in) & 1;
}

static void fill_open_qp(FILL_ARGUMENTS)
{
	struct uhca_cmd_open_qp *q = msg;

	q->qp_type = IBV_QPT_XRC_RECV;
	q->qpn = input_u8(in);
}

static void fill_create_wq(FILL_ARGUMENTS)
{
	struct uhca_cmd_create_wq *w = msg;

	w->max_wr = 8;
	w->max_sge = 2;
}

static void fill_modify_wq(FILL_ARGUMENTS)
{
	struct uhca_cmd_modify_wq *w = msg;

	w->attr_mask = IBV_WQ_ATTR_STATE;
	w->wq_state = input_u8(in) & 3;
}

static void fill_table(FILL_ARGUMENTS)
{
	struct uhca_cmd_create_rwq_ind_table *t = msg;

	t->log_size = 1;
}

static void fill_import(FILL_ARGUMENTS)
{
	struct uhca_cmd_import *i = msg;

	i->type = input_u8(in) & 3;
	if (i->type == UHCA_ABI_IMPORT_CONTEXT)
		memcpy(i->token, u->token, sizeof(i->token));
}

static void fill_alloc_key(FILL_ARGUMENTS)
{
	struct uhca_cmd_alloc_key *k = msg;

	k->max_entries = 16;
}

static void fill_fault_check(FILL_ARGUMENTS)
{
	struct uhca_cmd_fault_check *f = msg;

	f->verb = input_u8(in) % UHCA_FAULT_VERBS;
	f->requests = 3;
}

static void fill_attach_arena(FILL_ARGUMENTS)
{
	struct uhca_cmd_attach_arena *a = msg;

	a->size = DAEMON_USER_ARENA;
}

typedef void fill_command(FILL_ARGUMENTS);

static fill_command *const fills[UHCA_CMD_COUNT] = {
	[UHCA_CMD_QUERY_PORT] = fill_query_port,
	[UHCA_CMD_QUERY_GID] = fill_query_gid,
	[UHCA_CMD_REG_MR] = fill_reg_mr,
	[UHCA_CMD_REG_PINNED_MR] = fill_reg_pinned_mr,
	[UHCA_CMD_REREG_MR] = fill_rereg_mr,
	[UHCA_CMD_CREATE_CQ] = fill_create_cq,
	[UHCA_CMD_RESIZE_CQ] = fill_resize_cq,
	[UHCA_CMD_MODIFY_CQ] = fill_modify_cq,
	[UHCA_CMD_CREATE_QP] = fill_create_qp,
	[UHCA_CMD_MODIFY_QP] = fill_modify_qp,
	[UHCA_CMD_CREATE_SRQ] = fill_srq,
	[UHCA_CMD_MODIFY_SRQ] = fill_modify_srq,
	[UHCA_CMD_CREATE_AH] = fill_ah,
	[UHCA_CMD_ATTACH_MCAST] = fill_mcast,
	[UHCA_CMD_DETACH_MCAST] = fill_mcast,
	[UHCA_CMD_ALLOC_MW] = fill_alloc_mw,
	[UHCA_CMD_ADVISE_MR] = fill_advise_mr,
	[UHCA_CMD_ALLOC_DM] = fill_alloc_dm,
	[UHCA_CMD_REG_DM_MR] = fill_reg_dm_mr,
	[UHCA_CMD_REG_SHARED_MR] = fill_reg_shared_mr,
	[UHCA_CMD_OPEN_XRCD] = fill_open_xrcd,
	[UHCA_CMD_OPEN_QP] = fill_open_qp,
	[UHCA_CMD_CREATE_WQ] = fill_create_wq,
	[UHCA_CMD_MODIFY_WQ] = fill_modify_wq,
	[UHCA_CMD_CREATE_RWQ_IND_TABLE] = fill_table,
	[UHCA_CMD_CREATE_FLOW] = fill_flow,
	[UHCA_CMD_IMPORT] = fill_import,
	[UHCA_CMD_ALLOC_KEY] = fill_alloc_key,
	[UHCA_CMD_DESCRIBE_KEY] = fill_describe_key,
	[UHCA_CMD_FAULT_CHECK] = fill_fault_check,
	[UHCA_CMD_ATTACH_ARENA] = fill_attach_arena,
};

void daemon_user_fill(struct daemon_user *u, uint32_t cmd, void *msg, struct fuzz_input *in)
{
	if (fills[cmd])
		fills[cmd](u, msg, in);
}
