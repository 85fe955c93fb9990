/* SPDX-License-Identifier: BSD-2-Clause */
/* Handlers of queues, of what counts their completions, and of flow rules. See cmd_handler.h. */
#include "clients.h"
#include "cmd_handler.h"

#include "doorbell.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/local/local.h"

#include <errno.h>
#include <stdbool.h>

#define QP_STATE 1 /* enum ibv_qp_attr_mask */
#define QP_RESET 0 /* enum ibv_qp_state */

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

int cmd_create_qp(struct cmd *r, struct cmd_reply *rep)
{
	const struct uhca_cmd_create_qp *in = r->msg;
	struct io_client *c = r->client;
	struct core_ring ring;
	uint32_t summaries;
	int error;

	if (in->reserved0)
		return -EINVAL;
	if (in->qp_type == QPT_RAW_PACKET &&
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
	uint32_t handle = cmd_handle_of(r);
	int error = core_close_xrcd(r->client->core, handle);

	(void)rep;
	if (error == 0)
		io_xrcd_files_drop(&r->client->xrcd_files, handle);
	return error;
}

int cmd_modify_wq(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return core_modify_wq(r->client->core, r->msg, io_clock_now());
}

static int modify_comp_cntr(const struct cmd *r, bool add)
{
	const struct uhca_cmd_modify_comp_cntr *in = r->msg;

	if (in->errors > 1)
		return -EINVAL;
	return core_modify_comp_cntr(r->client->core, in, add);
}

int cmd_set_comp_cntr(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return modify_comp_cntr(r, false);
}

int cmd_inc_comp_cntr(struct cmd *r, struct cmd_reply *rep)
{
	(void)rep;
	return modify_comp_cntr(r, true);
}

CMD_WITH_RING(cmd_resize_cq, core_resize_cq, create_cq)
CMD_OF_REQUEST(cmd_modify_cq, core_modify_cq)
CMD_OF_HANDLE(cmd_notify_cq, core_notify_cq)
CMD_OF_HANDLE(cmd_destroy_cq, core_destroy_cq)
CMD_OF_HANDLE(cmd_destroy_qp, core_destroy_qp)
CMD_OF_HANDLE(cmd_destroy_srq, core_destroy_srq)
CMD_QUERY(cmd_query_qp, core_query_qp, query_qp)
CMD_WITH_RING(cmd_open_qp, core_open_qp, open_qp)
CMD_OF_REQUEST(cmd_attach_mcast, core_attach_mcast)
CMD_OF_REQUEST(cmd_detach_mcast, core_detach_mcast)
CMD_WITH_REPLY(cmd_create_flow, core_create_flow, handle.handle)
CMD_OF_HANDLE(cmd_destroy_flow, core_destroy_flow)
CMD_WITH_RING(cmd_create_srq, core_create_srq, create_srq)
CMD_OF_REQUEST(cmd_modify_srq, core_modify_srq)
CMD_WITH_RING(cmd_resize_srq, core_resize_srq, create_srq)
CMD_QUERY(cmd_query_srq, core_query_srq, query_srq)
CMD_WITH_RING(cmd_create_wq, core_create_wq, create_srq)
CMD_OF_HANDLE(cmd_destroy_wq, core_destroy_wq)
CMD_WITH_REPLY(cmd_create_rwq_ind_table, core_create_rwq_ind_table, handle.handle)
CMD_OF_HANDLE(cmd_destroy_rwq_ind_table, core_destroy_rwq_ind_table)
CMD_WITH_RING(cmd_create_comp_cntr, core_create_comp_cntr, create_comp_cntr)
CMD_OF_HANDLE(cmd_destroy_comp_cntr, core_destroy_comp_cntr)
CMD_OF_REQUEST(cmd_attach_comp_cntr, core_attach_comp_cntr)
