/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plugin's side of libuhca.so. Programs may hand us objects of any provider: a context is ours
 * when the library has our functions in it.
 */
#include "dv_table.h"

#include "driver.h"
#include "provider/base/base.h"
#include "provider/dv/dv.h"
#include "provider/keys/keys.h"
#include "provider/poll/poll.h"
#include "provider/sanitize/sanitize.h"

#include <errno.h>

static bool ours(const struct ibv_context *context)
{
	void *poll = (void *)context->ops.poll_cq;

	return poll && (poll == (void *)uhcav_poll_cq || poll == uhcav_sanitize_op("poll_cq"));
}

/* For calls that return pointers. */
static void *unsupported(void)
{
	errno = EOPNOTSUPP;
	return NULL;
}

static bool is_supported(struct ibv_device *device)
{
	return uhcav_driver_has(device);
}

static int query_device(struct ibv_context *context, struct uhcadv_device_attr *attr,
			size_t attr_size)
{
	return uhcav_failed(ours(context) ? uhcav_dv_query_device(context, attr, attr_size)
					  : EOPNOTSUPP);
}

static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
				struct uhcadv_qp_init_attr *dv_attr)
{
	return ours(context) ? uhcav_dv_create_qp(context, attr, dv_attr) : unsupported();
}

static struct ibv_mr *alloc_mr(struct ibv_pd *pd, uint32_t max_entries)
{
	return ours(pd->context) ? uhcav_dv_alloc_mr(pd, max_entries) : unsupported();
}

static int rereg_mr_interleaved(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
				const struct uhcadv_interleaved *layout)
{
	return uhcav_failed(ours(mr->context) ? uhcav_dv_rereg_interleaved(mr, attr, layout)
					      : EOPNOTSUPP);
}

static int rereg_mr_sg(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
		       const struct uhcadv_block *block, uint32_t n)
{
	return uhcav_failed(ours(mr->context) ? uhcav_dv_rereg_sg(mr, attr, block, n) : EOPNOTSUPP);
}

static void *alloc_shared(struct ibv_context *context, size_t length)
{
	return ours(context) ? uhcav_alloc_shared(context, length) : unsupported();
}

static int free_shared(struct ibv_context *context, void *addr)
{
	return uhcav_failed(ours(context) ? uhcav_free_shared(context, addr) : EOPNOTSUPP);
}

static int post_send(struct ibv_qp *qp, struct uhcadv_send_wr *wr, struct uhcadv_send_wr **bad_wr)
{
	if (ours(qp->context))
		return uhcav_failed(uhcav_dv_post_send(qp, wr, bad_wr));
	*bad_wr = wr;
	return uhcav_failed(EOPNOTSUPP);
}

static struct uhcadv_qp_ex *qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
	return ours(qp->qp_base.context) ? uhcav_dv_qp_ex(qp) : unsupported();
}

extern const struct uhcav_dv_table uhcav_dv_table;

__attribute__((visibility("default"))) const struct uhcav_dv_table uhcav_dv_table = {
	.size = sizeof(uhcav_dv_table),
	.is_supported = is_supported,
	.query_device = query_device,
	.create_qp = create_qp,
	.alloc_mr = alloc_mr,
	.rereg_mr_interleaved = rereg_mr_interleaved,
	.rereg_mr_sg = rereg_mr_sg,
	.alloc_shared = alloc_shared,
	.free_shared = free_shared,
	.post_send = post_send,
	.qp_ex_from_ibv_qp_ex = qp_ex_from_ibv_qp_ex,
};
