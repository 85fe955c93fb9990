/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rule is a header and a packed list of specifications of different sizes; here it becomes a
 * list of equal ones. What a specification means is the device's to know.
 */
#include "flow.h"

#include "provider/base/base.h"
#include "queue_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The two halves of a specification, value and mask, have the size of its filter structure. */
static size_t filter_size(uint32_t type)
{
	switch (type & ~(uint32_t)IBV_FLOW_SPEC_INNER) {
	case IBV_FLOW_SPEC_ETH:
		return sizeof(struct ibv_flow_eth_filter);
	case IBV_FLOW_SPEC_IPV4:
		return sizeof(struct ibv_flow_ipv4_filter);
	case IBV_FLOW_SPEC_IPV4_EXT:
		return sizeof(struct ibv_flow_ipv4_ext_filter);
	case IBV_FLOW_SPEC_IPV6:
		return sizeof(struct ibv_flow_ipv6_filter);
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP:
		return sizeof(struct ibv_flow_tcp_udp_filter);
	case IBV_FLOW_SPEC_VXLAN_TUNNEL:
		return sizeof(struct ibv_flow_tunnel_filter);
	case IBV_FLOW_SPEC_GRE:
		return sizeof(struct ibv_flow_gre_filter);
	}
	return 0;
}

_Static_assert(sizeof(struct ibv_flow_ipv6_filter) <= UHCA_ABI_FLOW_FIELDS, "the longest filter");

/* Where the value begins: behind type and size, at the alignment of the filter. */
static size_t value_offset(uint32_t type)
{
	switch (type & ~(uint32_t)IBV_FLOW_SPEC_INNER) {
	case IBV_FLOW_SPEC_ETH:
		return offsetof(struct ibv_flow_spec_eth, val);
	case IBV_FLOW_SPEC_TCP:
	case IBV_FLOW_SPEC_UDP:
		return offsetof(struct ibv_flow_spec_tcp_udp, val);
	}
	return offsetof(struct ibv_flow_spec_ipv6, val);
}

/* One specification of size bytes. 0 or an errno value. */
static int translate(const uint8_t *from, uint32_t type, size_t size, struct uhca_abi_flow_spec *to)
{
	size_t filter = filter_size(type);
	size_t at = value_offset(type);

	to->type = type;
	if (type == IBV_FLOW_SPEC_ACTION_DROP)
		return 0;
	if (type == IBV_FLOW_SPEC_ACTION_TAG) {
		if (size < sizeof(struct ibv_flow_spec_action_tag))
			return uhcav_because(EINVAL, "a specification of type 0x%x has %zu bytes",
					     type, size);
		memcpy(to->value, from + offsetof(struct ibv_flow_spec_action_tag, tag_id), 4);
		return 0;
	}
	if (!filter)
		return uhcav_because(EOPNOTSUPP, "a specification of type 0x%x is not supported",
				     type);
	if (size < at + 2 * filter)
		return uhcav_because(EINVAL, "a specification of type 0x%x has %zu bytes", type,
				     size);
	memcpy(to->value, from + at, filter);
	memcpy(to->mask, from + at + filter, filter);
	return 0;
}

/*
 * All specifications. Each says its own size; the size of the whole list is not looked at, because
 * programs leave it zero and drivers have always let them.
 */
static int translate_all(const uint8_t *at, struct uhca_cmd_create_flow *to)
{
	for (unsigned i = 0; i < to->n_specs; i++) {
		uint32_t type;
		uint16_t size;
		int err;

		memcpy(&type, at, sizeof(type));
		memcpy(&size, at + sizeof(type), sizeof(size));
		if (size < sizeof(type) + sizeof(size))
			return uhcav_because(EINVAL, "specification %u has %u bytes", i, size);
		err = translate(at, type, size, &to->spec[i]);
		if (err)
			return err;
		at += size;
	}
	return 0;
}

static int create_command(struct ibv_qp *qp, const struct ibv_flow_attr *attr, uint32_t *handle)
{
	struct uhca_cmd_create_flow request = {.qp = qp->handle,
					       .type = attr->type,
					       .flags = attr->flags,
					       .priority = attr->priority,
					       .port = attr->port,
					       .n_specs = attr->num_of_specs};
	struct uhca_cmd_handle_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_CREATE_FLOW, &request, &reply);
	int err;

	if (attr->comp_mask)
		return uhcav_refuse(uhcav_context_of(qp->context), "create_flow", EOPNOTSUPP,
				    "comp_mask 0x%x has unknown bits", attr->comp_mask);
	if (attr->num_of_specs > UHCA_ABI_FLOW_SPECS)
		return uhcav_refuse(uhcav_context_of(qp->context), "create_flow", EINVAL,
				    "num_of_specs %u exceeds %u", attr->num_of_specs,
				    UHCA_ABI_FLOW_SPECS);
	err = translate_all((const uint8_t *)(attr + 1), &request);
	if (err)
		return uhcav_refused(uhcav_context_of(qp->context), "create_flow", err);
	err = -uhcav_context_call(uhcav_context_of(qp->context), &call);
	*handle = reply.handle;
	return err;
}

struct ibv_flow *uhcav_create_flow(struct ibv_qp *ibqp, struct ibv_flow_attr *attr)
{
	struct ibv_flow *flow = calloc(1, sizeof(*flow));
	int err;

	if (!flow)
		return NULL;
	flow->context = ibqp->context;
	err = create_command(ibqp, attr, &flow->handle);
	if (err)
		return uhcav_no_object(flow, -err);
	return flow;
}

int uhcav_destroy_flow(struct ibv_flow *flow)
{
	return uhcav_context_drop_object(uhcav_context_of(flow->context), UHCA_CMD_DESTROY_FLOW,
					 flow->handle, flow);
}
