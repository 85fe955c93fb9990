/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory windows of side b of a pair. */
#include "window.h"

void window_pair(struct pair *p, bool type_2a, uint32_t qp_access, uint64_t seed)
{
	struct vqp_conn conn = vqp_conn_default();
	struct core_config cfg = world_config();

	conn.access = qp_access;
	if (type_2a) {
		cfg.features &= ~(uint32_t)UHCA_ABI_HAS_MW_TYPE_2B;
		cfg.features |= UHCA_ABI_HAS_MW_TYPE_2A;
	}
	pair_create(p, &(struct pair_options){
			       .conn = &conn, .cfg = &cfg, .buffer = 16384, .seed = seed});
}

void window_region(struct side *s, uint32_t access, struct vmr *out)
{
	int rc = vclient_reg_mr_pd(&s->c, s->c.pd, &s->mr, access | IBV_ACCESS_MW_BIND, out);

	world_assert(s->pair->w, rc == 0);
}

void window_alloc(struct side *s, uint32_t type, struct vmw *out)
{
	int rc = vclient_alloc_mw(&s->c, s->c.pd, type, out);

	world_assert(s->pair->w, rc == 0);
}

void window_bind(struct side *s, uint64_t wr_id, struct vmw *w, const struct vmr *mr,
		 const struct vsend *range)
{
	struct vsend wr = *range;
	int rc;

	wr.wr_id = wr_id;
	wr.opcode = UHCA_ABI_WR_BIND_MW;
	wr.flags |= UHCA_ABI_SEND_SIGNALED;
	wr.bind.addr += mr->addr;
	wr.bind.mr_lkey = mr->lkey;
	wr.bind.mw_rkey = w->rkey;
	wr.bind.new_rkey = window_next_key(w->rkey) ^ 0x5a5a5a00; /* its byte counts */
	rc = vqp_post_send(&s->qp, &wr);
	world_assert(s->pair->w, rc == 0);
	w->rkey = window_next_key(w->rkey);
}

uint8_t window_bind_wait(struct side *s, struct vmw *w, const struct vmr *mr,
			 const struct vsend *range)
{
	side_poll(s);
	window_bind(s, 7000, w, mr, range);
	side_wait(s, s->n_wc + 1);
	world_assert(s->pair->w, s->wc[s->n_wc - 1].wr_id == 7000);
	return s->wc[s->n_wc - 1].status;
}

void window_invalidate(struct side *s, uint64_t wr_id, uint32_t key, uint16_t flags)
{
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = UHCA_ABI_WR_LOCAL_INV,
			   .flags = flags | UHCA_ABI_SEND_SIGNALED,
			   .imm = key};
	int rc = vqp_post_send(&s->qp, &wr);

	world_assert(s->pair->w, rc == 0);
}

void window_use(struct side *s, const struct vsend *how, uint32_t local, uint32_t length)
{
	struct uhca_abi_sge sge = {s->mr.addr + local, length, s->mr.lkey};
	struct vsend wr = *how;
	int rc;

	wr.flags |= UHCA_ABI_SEND_SIGNALED;
	wr.sge = &sge;
	wr.num_sge = 1;
	rc = vqp_post_send(&s->qp, &wr);
	world_assert(s->pair->w, rc == 0);
}
