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

#define PORT              1
#define FLOW_LABEL_MASK   0xfffffu
#define DEFAULT_HOP_LIMIT 64

static bool gid_is_zero(const uint8_t gid[16])
{
	static const uint8_t none[16];
	return !memcmp(gid, none, sizeof(none));
}

static const char *family(const uint8_t gid[16])
{
	return roce_addr_is_v4(gid) ? "IPv4" : "IPv6";
}

int ah_attr_check(struct device *dev, const struct uhca_abi_ah_attr *attr)
{
	if (attr->port_num != PORT)
		return device_refuse(dev, -EINVAL,
				     "ah_attr.port_num %u is not 1: the device has one port",
				     attr->port_num);
	if (!attr->is_global)
		return device_refuse(dev, -EINVAL,
				     "ah_attr.is_global is 0: an Ethernet port needs a GRH");
	if (attr->sgid_index >= CORE_GID_TABLE)
		return device_refuse(dev, -EINVAL, "sgid_index %u is not below gid_tbl_len, %u",
				     attr->sgid_index, CORE_GID_TABLE);
	const uint8_t *sgid = dev->cfg.gid[attr->sgid_index];
	if (gid_is_zero(sgid))
		return device_refuse(dev, -EINVAL, "sgid_index %u is empty", attr->sgid_index);
	if (gid_is_zero(attr->dgid))
		return device_refuse(dev, -EINVAL, "grh.dgid is zero");
	/* IPv4 reaches IPv4 only; the group GIDs of both families look alike. */
	if (!mcast_gid(attr->dgid) && roce_addr_is_v4(sgid) != roce_addr_is_v4(attr->dgid))
		return device_refuse(dev, -EINVAL, "grh.dgid is %s and sgid_index %u is %s",
				     family(attr->dgid), attr->sgid_index, family(sgid));
	return 0;
}

void ah_attr_flow(const struct device *dev, const struct uhca_abi_ah_attr *attr,
		  struct roce_flow *flow)
{
	memcpy(flow->src, dev->cfg.gid[attr->sgid_index], sizeof(flow->src));
	memcpy(flow->dst, attr->dgid, sizeof(flow->dst));
	if (mcast_gid(attr->dgid))
		mcast_canonical(attr->dgid, flow->dst);
	flow->tclass = attr->traffic_class;
	/*
	 * Programs say 0 or 1 where they mean "the usual": kernel drivers take the limit of the
	 * route instead, and so do we, or nothing would ever get past a router.
	 */
	flow->hop_limit = attr->hop_limit <= 1 ? DEFAULT_HOP_LIMIT : attr->hop_limit;
	flow->flow_label = attr->flow_label & FLOW_LABEL_MASK;
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
	const struct ah *ah;

	if (client_find(c, &c->dev->ahs, handle, &ah))
		return false;
	memcpy(address, ah->attr.dgid, sizeof(ah->attr.dgid));
	return true;
}

int core_destroy_ah(struct client *c, uint32_t handle)
{
	struct ah *ah;
	int err = client_find(c, &c->dev->ahs, handle, &ah);
	if (err)
		return err;
	if (ah->obj.refs)
		return device_refuse_busy(c->dev, "address handle", ah->obj.refs);
	ah_destroy(ah);
	return 0;
}

static void describe_ah(const void *object, struct facts *f)
{
	const struct ah *ah = object;
	facts_number(f, "pd", ah->pd->obj.handle);
	facts_number(f, "sgid_index", ah->attr.sgid_index);
	facts_hex(f, "dgid_prefix", roce_load_be64(ah->attr.dgid));
	facts_hex(f, "dgid_interface", roce_load_be64(ah->attr.dgid + 8));
	facts_number(f, "traffic_class", ah->attr.traffic_class);
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
