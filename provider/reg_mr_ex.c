/* SPDX-License-Identifier: BSD-2-Clause */
/* Leads ibv_reg_mr_ex to the older verbs, and to those that the sanitizer watches. */
#include "reg_mr_ex.h"

#include "provider/context/context.h"
#include "provider/sanitize/sanitize.h"

#include <errno.h>

typedef struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
			      int access);
typedef struct ibv_mr *reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
				     uint64_t iova, int fd, int access);

/* The function of the op table. */
static void *op(const char *name, void *plain)
{
	void *watching = uhcav_sanitize_op(name);

	return watching ? watching : plain;
}

/* 0 or an errno value. */
static int check(struct ibv_pd *pd, const struct uhcav_mr_init_attr *attr)
{
	static const char verb[] = "reg_mr_ex";
	const uint64_t known = UHCAV_MR_INIT_IOVA | UHCAV_MR_INIT_ADDR | UHCAV_MR_INIT_FD |
			       UHCAV_MR_INIT_FD_OFFSET | UHCAV_MR_INIT_DMAH;
	const uint64_t of_file = UHCAV_MR_INIT_FD | UHCAV_MR_INIT_FD_OFFSET;
	struct uhcav_context *ctx = uhcav_context_of(pd->context);

	if (attr->comp_mask & ~known)
		return uhcav_refuse(ctx, verb, EOPNOTSUPP,
				    "comp_mask 0x%llx has bits beyond 0x%llx",
				    (unsigned long long)attr->comp_mask, (unsigned long long)known);
	if ((attr->comp_mask & of_file) && (attr->comp_mask & of_file) != of_file)
		return uhcav_refuse(ctx, verb, EINVAL, "fd and fd_offset belong together");
	if (!(attr->comp_mask & UHCAV_MR_INIT_ADDR) == !(attr->comp_mask & UHCAV_MR_INIT_FD))
		return uhcav_refuse(ctx, verb, EINVAL, "either addr or fd must be given");
	if (attr->comp_mask & UHCAV_MR_INIT_FD && !(attr->comp_mask & UHCAV_MR_INIT_IOVA))
		return uhcav_refuse(ctx, verb, EINVAL, "a region of fd needs iova");
	if (attr->comp_mask & UHCAV_MR_INIT_DMAH && !attr->dmah)
		return uhcav_refuse(ctx, verb, EINVAL, "dmah is NULL");
	return 0;
}

static struct ibv_mr *make(struct ibv_pd *pd, const struct uhcav_mr_init_attr *attr)
{
	const bool has_iova = attr->comp_mask & UHCAV_MR_INIT_IOVA;

	if (attr->comp_mask & UHCAV_MR_INIT_FD)
		return ((reg_dmabuf_mr *)op("reg_dmabuf_mr", (void *)uhcav_reg_dmabuf_mr))(
			pd, attr->fd_offset, attr->length, attr->iova, attr->fd, attr->access);
	return ((reg_mr *)op("reg_mr", (void *)uhcav_reg_mr))(
		pd, attr->addr, attr->length, has_iova ? attr->iova : (uintptr_t)attr->addr,
		attr->access);
}

struct ibv_mr *uhcav_reg_mr_ex(struct ibv_pd *pd, const struct uhcav_mr_init_attr *attr)
{
	struct uhcav_dmah *dmah = attr->comp_mask & UHCAV_MR_INIT_DMAH ? attr->dmah : NULL;
	int err = check(pd, attr);
	struct ibv_mr *mr;

	if (err)
		return uhcav_no_object(NULL, -err);
	uhcav_mr_next_handle(dmah);
	mr = make(pd, attr);
	uhcav_mr_next_handle(NULL);
	return mr;
}
