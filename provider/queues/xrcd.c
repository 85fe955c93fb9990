/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * XRC domains. The program's descriptor travels to the daemon, which looks at its inode: whoever
 * opens the same file gets the same domain, whatever path or namespace it took.
 */
#include "xrcd.h"

#include "provider/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

static uint32_t abi_flags(int oflags)
{
	uint32_t create = oflags & O_CREAT ? UHCA_ABI_XRCD_CREATE : 0u;

	return create | (oflags & O_EXCL ? UHCA_ABI_XRCD_EXCLUSIVE : 0u);
}

static int open_command(struct uhcav_xrcd *x, int fd, int oflags)
{
	/* Without a file the message has a descriptor all the same: one that means nothing. */
	int sent = fd == -1 ? x->ctx->event_fd : fd;
	struct uhca_cmd_open_xrcd request = {.oflags = abi_flags(oflags), .unshared = fd == -1};
	struct uhca_cmd_handle_reply reply;
	struct uhcav_call call =
		UHCAV_CALL(UHCA_CMD_OPEN_XRCD, &request, &reply, .send_fd = &sent, .n_send_fd = 1);
	int err;

	/* A bad descriptor would break the message, not the request. */
	if (fcntl(sent, F_GETFD) < 0)
		return uhcav_refuse(x->ctx, "open_xrcd", -EBADF, "fd %d is not open", sent);
	err = uhcav_context_call(x->ctx, &call);
	x->handle = reply.handle;
	return err;
}

struct ibv_xrcd *uhcav_open_xrcd(struct ibv_context *ibctx, struct ibv_xrcd_init_attr *attr)
{
	const uint32_t needed = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct uhcav_xrcd *x;
	int err;

	if (attr->comp_mask != needed)
		return uhcav_no_object(NULL, uhcav_refuse(uhcav_context_of(ibctx), "open_xrcd",
							  -EINVAL, "comp_mask 0x%x is not 0x%x",
							  attr->comp_mask, needed));
	if (attr->oflags & ~(O_CREAT | O_EXCL))
		return uhcav_no_object(
			NULL, uhcav_refuse(uhcav_context_of(ibctx), "open_xrcd", -EINVAL,
					   "oflags 0x%x has bits beyond O_CREAT and O_EXCL",
					   (unsigned)attr->oflags));
	x = calloc(1, sizeof(*x));
	if (!x)
		return NULL;
	x->ctx = uhcav_context_of(ibctx);
	x->xrcd.context = ibctx;
	err = open_command(x, attr->fd, attr->oflags);
	return err ? uhcav_no_object(x, err) : &x->xrcd;
}

int uhcav_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct uhcav_xrcd *x = uhcav_xrcd_of(ibxrcd);

	return uhcav_context_drop_object(x->ctx, UHCA_CMD_CLOSE_XRCD, x->handle, x);
}
