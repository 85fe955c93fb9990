/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of completion queues, shared receive queues and queue pairs. See cmd_handler.h. */
#include "clients.h"
#include "cmd_handler.h"

#include "doorbell.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <stdbool.h>

#define QP_RAW_PACKET 8 /* enum ibv_qp_type */
#define QP_STATE      1 /* enum ibv_qp_attr_mask */
#define QP_RESET      0 /* enum ibv_qp_state */

int cmd_create_cq(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_create_cq *in = r->msg;
	struct io_client *c = r->client;
	struct core_ring ring;
	int error;

	if (in->channel != 0 && !io_channel_table_get(&c->channels, in->channel))
		return io_refuse(-ENOENT, "channel 0x%x is not of this context", in->channel);
	error = core_create_cq(c->core, in, &rep->create_cq, &ring);
	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

int cmd_resize_cq(struct cmd *r, struct cmd_reply *rep)
{
	struct core_ring ring;
	int error = core_resize_cq(r->client->core, r->msg, &rep->create_cq, &ring);

	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

int cmd_modify_cq(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return core_modify_cq(r->client->core, r->msg);
}

int cmd_create_qp(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_create_qp *in = r->msg;
	struct io_client *c = r->client;
	struct core_ring ring;
	uint32_t summaries;
	int error;

	if (in->reserved0)
		return -EINVAL;
	if (in->qp_type == QP_RAW_PACKET &&
	    (r->fds->n == 0 || !io_privilege_net_raw(r->fds->fd[0])))
		return io_refuse(-EPERM, "qp_type IBV_QPT_RAW_PACKET needs CAP_NET_RAW");
	error = core_create_qp(c->core, in, &rep->create_qp, &ring);
	if (error < 0)
		return error;
	cmd_reply_ring(rep, &ring);
	summaries = io_doorbell_summaries(rep->create_qp.doorbell + 1);
	if (summaries > c->bell.summaries)
		c->bell.summaries = summaries;
	return 0;
}

static bool reserved_ah(const struct uhca_abi_ah_attr *a)
{
	return a->reserved != 0;
}

int cmd_modify_qp(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_modify_qp *in = r->msg;
	struct io_client *c = r->client;
	int error;

	(void)rep;
	if (in->attr.reserved0 || reserved_ah(&in->attr.ah) || reserved_ah(&in->attr.alt_ah))
		return -EINVAL;
	c->dev->pcap->ordered = c->program;
	error = core_modify_qp(c->core, in, io_clock_now());
	c->dev->pcap->ordered = NULL;
	if (error == 0 && (in->attr_mask & QP_STATE) && in->attr.qp_state == QP_RESET)
		c->all->ops->reset(c->all->user, c->dev, core_qp_number(c->core, in->handle));
	return error;
}

int cmd_query_qp(struct cmd *r, struct cmd_reply *rep)
{
	uint32_t handle;

	if (cmd_only_handle(r, &handle) < 0)
		return -EINVAL;
	return core_query_qp(r->client->core, handle, &rep->query_qp);
}

int cmd_create_srq(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_create_srq *in = r->msg;
	struct core_ring ring;
	int error;

	if (in->reserved != 0)
		return -EINVAL;
	error = core_create_srq(r->client->core, in, &rep->create_srq, &ring);
	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

int cmd_modify_srq(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return core_modify_srq(r->client->core, r->msg);
}

int cmd_resize_srq(struct cmd *r, struct cmd_reply *rep)
{
	struct core_ring ring;
	int error = core_resize_srq(r->client->core, r->msg, &rep->create_srq, &ring);

	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

int cmd_query_srq(struct cmd *r, struct cmd_reply *rep)
{
	uint32_t handle;

	if (cmd_only_handle(r, &handle) < 0)
		return -EINVAL;
	return core_query_srq(r->client->core, handle, &rep->query_srq);
}

static int mcast_check(const struct uhca_cmd_mcast *in)
{
	return in->reserved ? -EINVAL : 0;
}

int cmd_attach_mcast(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return mcast_check(r->msg) ? -EINVAL : core_attach_mcast(r->client->core, r->msg);
}

int cmd_detach_mcast(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return mcast_check(r->msg) ? -EINVAL : core_detach_mcast(r->client->core, r->msg);
}

/* ibv_open_xrcd(3): whoever opens the same file opens the same domain. */
int cmd_open_xrcd(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_open_xrcd *in = r->msg;
	uint64_t file[2];
	int error;

	if (in->unshared > 1)
		return -EINVAL;
	if (in->unshared)
		return core_open_xrcd(r->client->core, in, NULL, &rep->handle.handle);
	error = io_descriptor_file(r->fds->fd[0], file);
	if (error < 0)
		return io_refuse(error, "fd is not a file that can name an XRC domain");
	error = io_xrcd_files_prepare(&r->client->xrcd_files);
	if (error == 0)
		error = core_open_xrcd(r->client->core, in, file, &rep->handle.handle);
	if (error == 0)
		io_xrcd_files_add(&r->client->xrcd_files, rep->handle.handle,
				  io_fds_take(r->fds, 0));
	return error;
}

int cmd_close_xrcd(struct cmd *r, struct cmd_reply *rep)
{
	uint32_t handle;
	int error;

	(void)rep;
	if (cmd_only_handle(r, &handle) < 0)
		return -EINVAL;
	error = core_close_xrcd(r->client->core, handle);
	if (error == 0)
		io_xrcd_files_drop(&r->client->xrcd_files, handle);
	return error;
}

int cmd_open_qp(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_open_qp *in = r->msg;
	struct core_ring ring;
	int error;

	if (in->reserved)
		return -EINVAL;
	error = core_open_qp(r->client->core, in, &rep->open_qp, &ring);
	if (error == 0)
		cmd_reply_ring(rep, &ring);
	return error;
}

CMD_OF_HANDLE(cmd_notify_cq, core_notify_cq)
CMD_OF_HANDLE(cmd_destroy_cq, core_destroy_cq)
CMD_OF_HANDLE(cmd_destroy_qp, core_destroy_qp)
CMD_OF_HANDLE(cmd_destroy_srq, core_destroy_srq)
