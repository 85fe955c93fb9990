/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An address handle is a name for the device's copy of an address vector; UD work requests carry
 * the handle.
 */
#include "ah.h"

#include "provider/base/base.h"
#include "provider/diagnostic/diagnostic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void uhcav_ah_attr_to_abi(const struct ibv_ah_attr *from, struct uhca_abi_ah_attr *to)
{
	memset(to, 0, sizeof(*to));
	memcpy(to->dgid, from->grh.dgid.raw, sizeof(to->dgid));
	to->flow_label = from->grh.flow_label;
	to->sgid_index = from->grh.sgid_index;
	to->hop_limit = from->grh.hop_limit;
	to->traffic_class = from->grh.traffic_class;
	to->is_global = from->is_global != 0;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->port_num = from->port_num;
}

void uhcav_ah_attr_from_abi(const struct uhca_abi_ah_attr *from, struct ibv_ah_attr *to)
{
	memset(to, 0, sizeof(*to));
	memcpy(to->grh.dgid.raw, from->dgid, sizeof(from->dgid));
	to->grh.flow_label = from->flow_label;
	to->grh.sgid_index = from->sgid_index;
	to->grh.hop_limit = from->hop_limit;
	to->grh.traffic_class = from->traffic_class;
	to->is_global = from->is_global;
	to->dlid = from->dlid;
	to->sl = from->sl;
	to->src_path_bits = from->src_path_bits;
	to->static_rate = from->static_rate;
	to->port_num = from->port_num;
}

/*
 * An address handle needs a GRH on Ethernet, and librdmacm's datagram sockets (udpong) make one
 * without, of the port's LID, to send to themselves. Adapters refuse it, and such sockets do not
 * work on RoCE. For that caller alone the handle leads to the port's first GID.
 */
static void complete_own_address(struct ibv_context *ibctx, struct uhcav_here here,
				 struct uhca_abi_ah_attr *attr)
{
	struct uhca_cmd_handle request = {.handle = attr->port_num};
	struct uhca_cmd_gid_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_QUERY_GID, &request, &reply);

	if (attr->is_global || attr->dlid ||
	    !uhcav_stack_is_of(uhcav_stack_take(here), "librdmacm") ||
	    uhcav_context_call(uhcav_context_of(ibctx), &call))
		return;
	memcpy(attr->dgid, reply.gid, sizeof(attr->dgid));
	attr->sgid_index = 0;
	attr->is_global = 1;
}

struct ibv_ah *uhcav_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct uhca_cmd_create_ah request = {.pd = pd->handle};
	struct uhca_cmd_handle_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_CREATE_AH, &request, &reply);
	struct ibv_ah *ah = calloc(1, UHCAV_OBJECT_ROOM / 4);
	int err;

	if (!ah)
		return NULL;
	uhcav_ah_attr_to_abi(attr, &request.attr);
	complete_own_address(pd->context, UHCAV_HERE, &request.attr);
	err = uhcav_context_call(uhcav_context_of(pd->context), &call);
	if (err)
		return uhcav_no_object(ah, err);
	ah->context = pd->context;
	ah->handle = reply.handle;
	return ah;
}

int uhcav_destroy_ah(struct ibv_ah *ah)
{
	return uhcav_context_drop_object(uhcav_context_of(ah->context), UHCA_CMD_DESTROY_AH,
					 ah->handle, ah);
}
