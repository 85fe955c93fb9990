/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion counters: the program's end. See comp_cntr.h. */
#include "comp_cntr.h"

#include "emu/abi/cmd_counter.h"
#include "provider/base/base.h"
#include "provider/context/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct uhcav_comp_cntr {
	union {
		struct uhcav_comp_cntr_public cntr;
		uint8_t room[UHCAV_OBJECT_ROOM / 4];
	};
	struct uhcav_context *ctx;
	const struct uhca_abi_comp_cntr *page;
	size_t region_size;
};

int uhcav_query_comp_cntr_caps(struct ibv_context *ibctx, struct uhcav_comp_cntr_caps *caps,
			       size_t size)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	struct uhca_cmd_handle request = {.handle = 0};
	struct uhca_cmd_device_attr r;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_DEVICE, &request, &r);
	int err = uhcav_context_call(ctx, &call);
	struct uhcav_comp_cntr_caps mine = {.max_value = UINT64_MAX};

	if (err)
		return uhcav_result(err);
	if (!r.max_comp_cntr)
		return uhcav_failed(
			uhcav_refuse(ctx, "query_comp_cntr_caps", EOPNOTSUPP,
				     "the device's profile has no completion counters"));
	mine.max_counters = r.max_comp_cntr;
	mine.supported_qp_attach_ops = (1u << UHCA_ABI_COMP_OPS) - 1;
	memcpy(caps, &mine, size < sizeof(mine) ? size : sizeof(mine));
	return 0;
}

/* 0 or an errno value. */
static int check(struct uhcav_context *ctx, const struct uhcav_comp_cntr_init_attr *attr)
{
	static const char verb[] = "create_comp_cntr";

	if (attr->comp_mask)
		return uhcav_refuse(ctx, verb, EINVAL, "comp_mask 0x%x has unknown bits",
				    attr->comp_mask);
	if (attr->flags)
		return uhcav_refuse(ctx, verb, EINVAL, "flags 0x%x has unknown bits", attr->flags);
	return 0;
}

/* The counter in the daemon, mapped. 0 or -errno. */
static int make(struct uhcav_comp_cntr *cntr, uint32_t type)
{
	struct uhca_cmd_create_comp_cntr request = {.type = type};
	struct uhca_cmd_create_comp_cntr_reply reply;
	int fd;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_CREATE_COMP_CNTR, &request, &reply,
					    .recv_fd = &fd, .n_recv_fd = 1);
	int err = uhcav_context_call(cntr->ctx, &call);
	void *page;

	if (err)
		return err;
	cntr->cntr.handle = reply.handle;
	cntr->region_size = reply.region_size;
	err = uhcav_context_map(fd, reply.region_size, false, UHCA_ABI_REGION_COMP_CNTR, &page);
	if (err)
		uhcav_context_call_destroy(cntr->ctx, UHCA_CMD_DESTROY_COMP_CNTR, reply.handle);
	else
		cntr->page = page;
	return err;
}

struct uhcav_comp_cntr *uhcav_create_comp_cntr(struct ibv_context *ibctx,
					       const struct uhcav_comp_cntr_init_attr *attr)
{
	struct uhcav_context *ctx = uhcav_context_of(ibctx);
	struct uhcav_comp_cntr *cntr;
	int err = check(ctx, attr);

	if (err)
		return uhcav_no_object(NULL, -err);
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return NULL;
	cntr->cntr.context = ibctx;
	cntr->ctx = ctx;
	err = make(cntr, attr->type);
	return err ? uhcav_no_object(cntr, err) : cntr;
}

int uhcav_destroy_comp_cntr(struct uhcav_comp_cntr *cntr)
{
	int err = uhcav_context_call_destroy(cntr->ctx, UHCA_CMD_DESTROY_COMP_CNTR,
					     cntr->cntr.handle);

	if (err)
		return uhcav_result(err);
	munmap((void *)(uintptr_t)cntr->page, cntr->region_size);
	uhcav_let_go(cntr);
	return 0;
}

static int modify(const struct uhcav_comp_cntr *cntr, uint32_t cmd, bool errors, uint64_t value)
{
	struct uhca_cmd_modify_comp_cntr request = {
		.handle = cntr->cntr.handle, .errors = errors, .value = value};
	struct uhcav_call call = UHCAV_CALL_PLAIN(cmd, &request);

	return uhcav_result(uhcav_context_call(cntr->ctx, &call));
}

int uhcav_set_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t value)
{
	return modify(cntr, UHCA_CMD_SET_COMP_CNTR, false, value);
}

int uhcav_set_err_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t value)
{
	return modify(cntr, UHCA_CMD_SET_COMP_CNTR, true, value);
}

int uhcav_inc_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t amount)
{
	return modify(cntr, UHCA_CMD_INC_COMP_CNTR, false, amount);
}

int uhcav_inc_err_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t amount)
{
	return modify(cntr, UHCA_CMD_INC_COMP_CNTR, true, amount);
}

static int observe(const struct uhcav_comp_cntr *cntr, const uint64_t *from, uint64_t *value)
{
	if (uhcav_life(cntr->ctx) != UHCAV_ALIVE)
		return uhcav_failed(EIO);
	*value = __atomic_load_n(from, __ATOMIC_ACQUIRE);
	return 0;
}

int uhcav_read_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t *value)
{
	return observe(cntr, &cntr->page->completions, value);
}

int uhcav_read_err_comp_cntr(struct uhcav_comp_cntr *cntr, uint64_t *value)
{
	return observe(cntr, &cntr->page->errors, value);
}

int uhcav_qp_attach_comp_cntr(struct ibv_qp *qp, struct uhcav_comp_cntr *cntr,
			      const struct uhcav_attach_comp_cntr_attr *attr)
{
	static const char verb[] = "qp_attach_comp_cntr";
	struct uhcav_context *ctx = uhcav_context_of(qp->context);
	struct uhca_cmd_attach_comp_cntr request = {
		.qp = qp->handle, .comp_cntr = cntr->cntr.handle, .op_mask = attr->op_mask};
	struct uhcav_call call = UHCAV_CALL_PLAIN(UHCA_CMD_ATTACH_COMP_CNTR, &request);

	if (attr->comp_mask)
		return uhcav_failed(uhcav_refuse(
			ctx, verb, EINVAL, "comp_mask 0x%x has unknown bits", attr->comp_mask));
	if (qp->context != cntr->cntr.context)
		return uhcav_failed(
			uhcav_refuse(ctx, verb, EINVAL, "the counter is of another context"));
	return uhcav_result(uhcav_context_call(ctx, &call));
}
