/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address handles and address vectors (IBTA vol. 1, chapter 11; annex A17). A RoCEv2 address is a
 * GRH: the GIDs are the IP addresses. A LID has no place on this wire.
 */
#include "ah.h"
#include "emu/core/base/base.h"
#include "wire/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_LABEL_MASK   0xfffffu
#define DEFAULT_HOP_LIMIT 64

static const char *family(const uint8_t gid[16])
{
	return roce_addr_is_v4(gid) ? "IPv4" : "IPv6";
}

static bool to_group(const struct uhca_abi_ah_attr *attr)
{
	return attr->is_global && roce_addr_is_group(attr->dgid);
}

static bool goes_by_lid(const struct core_port_look *look, const struct uhca_abi_ah_attr *attr)
{
	return look->link_layer == CORE_LINK_INFINIBAND && !to_group(attr);
}

static int check_grh(struct device *dev, const struct core_port_look *look,
		     const struct uhca_abi_ah_attr *attr)
{
	const uint8_t *sgid;
	if (attr->sgid_index >= look->gid_entries)
		return device_refuse(dev, -EINVAL, "sgid_index %u is not below gid_tbl_len, %u",
				     attr->sgid_index, look->gid_entries);
	sgid = core_config_gid(&dev->cfg, attr->port_num, attr->sgid_index);
	if (roce_addr_is_zero(sgid))
		return device_refuse(dev, -EINVAL, "sgid_index %u is empty", attr->sgid_index);
	if (roce_addr_is_zero(attr->dgid))
		return device_refuse(dev, -EINVAL, "grh.dgid is zero");
	/* IPv4 reaches IPv4 only; the group GIDs of both families look alike. */
	if (!roce_addr_is_group(attr->dgid) && roce_addr_is_v4(sgid) != roce_addr_is_v4(attr->dgid))
		return device_refuse(dev, -EINVAL, "grh.dgid is %s and sgid_index %u is %s",
				     family(attr->dgid), attr->sgid_index, family(sgid));
	return 0;
}

int ah_attr_check(struct device *dev, const struct uhca_abi_ah_attr *attr)
{
	const struct core_port_look *look;
	int err = device_check_port(dev, "ah_attr.port_num", attr->port_num);
	if (err)
		return err;
	look = &dev->cfg.look.port[attr->port_num - 1];
	if (goes_by_lid(look, attr) && !attr->dlid)
		return device_refuse(dev, -EINVAL,
				     "ah_attr.dlid is 0: an InfiniBand port sends to a LID");
	if (look->link_layer == CORE_LINK_INFINIBAND && !attr->is_global)
		return 0;
	if (!attr->is_global)
		return device_refuse(dev, -EINVAL,
				     "ah_attr.is_global is 0: an Ethernet port needs a GRH");
	return check_grh(dev, look, attr);
}

/* A LID stands for the address of the port's network that ends with it. */
static void lid_address(const struct core_port_look *look, uint16_t lid, uint8_t out[16])
{
	memcpy(out, look->address, 16);
	out[14] = (uint8_t)(lid >> 8);
	out[15] = (uint8_t)lid;
}

void ah_attr_flow(const struct device *dev, const struct uhca_abi_ah_attr *attr,
		  struct roce_flow *flow)
{
	const struct core_port_look *look = &dev->cfg.look.port[attr->port_num - 1];

	memcpy(flow->dst, attr->dgid, sizeof(flow->dst));
	if (look->link_layer == CORE_LINK_INFINIBAND)
		memcpy(flow->src, look->address, sizeof(flow->src));
	else
		memcpy(flow->src,
		       dev->cfg.gid[(attr->port_num - 1u) * CORE_GID_MOST + attr->sgid_index],
		       sizeof(flow->src));
	if (goes_by_lid(look, attr))
		lid_address(look, attr->dlid, flow->dst);
	else if (roce_addr_is_group(attr->dgid))
		mcast_canonical(attr->dgid, flow->dst);
	flow->tclass = attr->traffic_class;
	/*
	 * Programs say 0 or 1 where they mean "the usual": kernel drivers take the limit of the
	 * route instead, and so do we, or nothing would ever get past a router.
	 */
	flow->hop_limit = attr->hop_limit <= 1 ? DEFAULT_HOP_LIMIT : attr->hop_limit;
	flow->flow_label = attr->flow_label & FLOW_LABEL_MASK;
}

void core_path_address(const struct device *dev, const uint8_t local[16], const uint8_t remote[16],
		       struct uhca_abi_ah_attr *out)
{
	const struct core_port_look *look;
	unsigned port;
	int index = device_find_gid_of(dev, local, &port);

	look = &dev->cfg.look.port[port - 1];
	out->sgid_index = index < 0 ? 0 : (uint8_t)index;
	out->port_num = (uint8_t)port;
	out->is_global = 1;
	memcpy(out->dgid, remote, sizeof(out->dgid));
	if (!goes_by_lid(look, out))
		return;
	out->is_global = 0;
	out->dlid = (uint16_t)core_lid_of(remote);
}

void core_path_ends(const struct device *dev, const struct uhca_abi_ah_attr *attr,
		    uint8_t local[16], uint8_t remote[16])
{
	struct roce_flow flow = {0};

	if (attr->port_num >= 1 && attr->port_num <= dev->cfg.look.n_ports)
		ah_attr_flow(dev, attr, &flow);
	memcpy(local, flow.src, 16);
	memcpy(remote, flow.dst, 16);
}

static int ah_create(struct client *c, struct pd *pd, const struct uhca_abi_ah_attr *attr,
		     uint32_t *handle)
{
	struct ah *ah = calloc(1, sizeof(*ah));
	if (!ah)
		return -ENOMEM;
	ah->obj.client = c;
	ah->pd = pd;
	ah->attr = *attr;
	int err = device_add(c->dev, &c->dev->ahs, ah, &ah->obj.handle);
	if (err) {
		free(ah);
		return err;
	}
	pd->obj.refs++;
	*handle = ah->obj.handle;
	return 0;
}

int core_create_ah(struct client *c, const struct uhca_cmd_create_ah *in, uint32_t *handle)
{
	struct pd *pd;
	int err = client_find_shared(c, &c->dev->pds, in->pd, &pd);

	if (!err)
		err = ah_attr_check(c->dev, &in->attr);
	return err ? err : ah_create(c, pd, &in->attr, handle);
}

static void ah_destroy(void *object)
{
	struct ah *ah = object;

	table_remove(&ah->obj.client->dev->ahs, ah->obj.handle);
	ah->pd->obj.refs--;
	free(ah);
}

bool core_ah_address(struct client *c, uint32_t handle, uint8_t address[16])
{
	uint8_t local[16];
	const struct ah *ah;

	if (client_find(c, &c->dev->ahs, handle, &ah))
		return false;
	core_path_ends(c->dev, &ah->attr, local, address);
	return true;
}

int core_destroy_ah(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_ah, handle, NULL);
}

static void describe_ah(const void *object, struct facts *f)
{
	const struct ah *ah = object;
	facts_number(f, "pd", ah->pd->obj.handle);
	facts_number(f, "sgid_index", ah->attr.sgid_index);
	facts_hex(f, "dgid_prefix", roce_load_be64(ah->attr.dgid));
	facts_hex(f, "dgid_interface", roce_load_be64(ah->attr.dgid + 8));
	facts_number(f, "traffic_class", ah->attr.traffic_class);
	facts_number(f, "priority", ah->attr.traffic_class >> 5);
	facts_number(f, "hop_limit", ah->attr.hop_limit);
	facts_number(f, "flow_label", ah->attr.flow_label);
}

const struct object_type object_ah = {
	.type = CORE_OBJECT_AH,
	.name = "ah",
	.table = offsetof(struct device, ahs),
	.destroy = ah_destroy,
	.describe = describe_ah,
};
