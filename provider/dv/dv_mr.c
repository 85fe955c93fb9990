/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys without memory, and what they are described with by a call. The table from which payloads
 * are gathered early (mr_table.h) never has such keys: what they stand for may change with any
 * work request, so that it is the device's business alone.
 */
#include "dv.h"
#include "dv_layout.h"
#include "provider/context/context.h"
#include "provider/keys/keys.h"

#include <errno.h>
#include <stdlib.h>

#define REREG_SG          "uhcadv_rereg_mr_sg"
#define REREG_INTERLEAVED "uhcadv_rereg_mr_interleaved"

struct ibv_mr *uhcav_dv_alloc_mr(struct ibv_pd *pd, uint32_t max_entries)
{
	struct uhca_cmd_alloc_key request = {.pd = pd->handle, .max_entries = max_entries};
	/* To the library it is what a null region is: it has no address. */
	struct uhcav_mr *mr = uhcav_mr_make(pd, UHCA_CMD_ALLOC_KEY, &request.h, sizeof(request),
					    UHCAV_MR_NULL, NULL);

	if (!mr)
		return NULL;
	mr->max_entries = max_entries;
	return &mr->v.mr;
}

/* Where a description that goes by message is made. */
struct described {
	struct uhca_cmd_describe_key request;
	struct uhcav_description d;
};

static struct described *start(const struct ibv_mr *mr, const char *verb, int *err)
{
	struct described *x;

	*err = 0;
	if (!((const struct uhcav_mr *)mr)->max_entries) {
		*err = uhcav_refuse(uhcav_context_of(mr->context), verb, EINVAL,
				    "the region is not from uhcadv_alloc_mr");
		return NULL;
	}
	x = calloc(1, sizeof(*x));
	if (!x) {
		*err = ENOMEM;
		return NULL;
	}
	x->d.list = x->request.list;
	x->d.room = sizeof(x->request.list);
	return x;
}

/* Tells the device what was described unless err says that nothing was, and frees it. */
static int finish(struct described *x, uint32_t shape, struct ibv_mr *mr, int err)
{
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_DESCRIBE_KEY, &x->request);

	if (!err) {
		x->request.shape = shape;
		x->request.bytes = x->d.bytes;
		x->request.layout = x->d.layout;
		err = -uhcav_context_call(uhcav_context_of(mr->context), &call);
	}
	if (!err)
		uhcav_use_key(&x->d, mr);
	free(x);
	return err;
}

int uhcav_dv_rereg_interleaved(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
			       const struct uhcadv_interleaved *layout)
{
	int err;
	struct described *x = start(mr, REREG_INTERLEAVED, &err);

	if (!x)
		return err;
	err = uhcav_describe_interleaved(&x->d, mr, attr, layout);
	if (err)
		uhcav_refused(uhcav_context_of(mr->context), REREG_INTERLEAVED, err);
	return finish(x, UHCA_ABI_SHAPE_INTERLEAVED, mr, err);
}

int uhcav_dv_rereg_sg(struct ibv_mr *mr, const struct uhcadv_reg_attr *attr,
		      const struct uhcadv_block *block, uint32_t n)
{
	int err;
	struct described *x = start(mr, REREG_SG, &err);

	if (!x)
		return err;
	err = uhcav_describe_blocks(&x->d, mr, attr, block, n);
	if (err)
		uhcav_refused(uhcav_context_of(mr->context), REREG_SG, err);
	return finish(x, UHCA_ABI_SHAPE_SG, mr, err);
}
