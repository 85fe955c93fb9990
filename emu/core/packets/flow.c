/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering rules (ibv_create_flow(3)). A frame goes to every sniffer; then to the rules that match
 * at the first priority at which one does (DONT_TRAP rules get it and let the search go on); then,
 * when no rule took it, to the default rules. A QP gets a frame once. What is left is dropped.
 *
 * Rules are for raw packet QPs: RoCE packets go to the QP they name and pass no rule.
 */
#include "flow.h"
#include "raw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORK_OF_COPY 16u /* as much as so many rules that are compared */

/* enum ibv_flow_flags */
#define FLAG_DONT_TRAP (1u << 1)
#define FLAG_EGRESS    (1u << 2)

/* enum ibv_flow_spec_type */
#define SPEC_INNER      0x100u
#define SPEC_ACTION_TAG 0x1000u
#define SPEC_DROP       0x1001u

static const struct {
	uint32_t type;
	enum roce_frame_layer layer;
} spec_layer[] = {
	{0x20, ROCE_FRAME_ETH},      {0x30, ROCE_FRAME_IPV4}, {0x31, ROCE_FRAME_IPV6},
	{0x32, ROCE_FRAME_IPV4_EXT}, {0x40, ROCE_FRAME_TCP},  {0x41, ROCE_FRAME_UDP},
	{0x50, ROCE_FRAME_VXLAN},    {0x51, ROCE_FRAME_GRE},
};

/* ---- rules ---- */

static int add_match(struct device *dev, struct flow *flow, const struct uhca_abi_flow_spec *in)
{
	for (size_t i = 0; i < sizeof(spec_layer) / sizeof(spec_layer[0]); i++) {
		struct flow_spec *to = &flow->spec[flow->n_specs];
		if (spec_layer[i].type != in->type)
			continue;
		to->layer = spec_layer[i].layer;
		memcpy(to->value, in->value, sizeof(to->value));
		memcpy(to->mask, in->mask, sizeof(to->mask));
		flow->n_specs++;
		return 0;
	}
	/* MPLS, ESP, inner headers, other actions */
	return device_refuse(dev, -EOPNOTSUPP, "specifications of type 0x%x are not supported",
			     in->type);
}

static int add_spec(struct device *dev, struct flow *flow, const struct uhca_abi_flow_spec *in)
{
	if (in->reserved)
		return -EINVAL; /* no library of ours */
	if (in->type == SPEC_DROP) {
		flow->drop = true;
		return 0;
	}
	if (in->type == SPEC_ACTION_TAG) {
		memcpy(&flow->tag, in->value, sizeof(flow->tag));
		return 0;
	}
	return add_match(dev, flow, in);
}

static int check_request(struct device *dev, const struct uhca_cmd_create_flow *in)
{
	int err = device_check_port(dev, "port", in->port);
	if (err)
		return err;
	if (in->type >= FLOW_TYPES)
		return device_refuse(dev, -EINVAL, "type %u is not a flow type", in->type);
	if (in->n_specs > UHCA_ABI_FLOW_SPECS)
		return device_refuse(dev, -EINVAL, "num_of_specs %u exceeds %u", in->n_specs,
				     UHCA_ABI_FLOW_SPECS);
	if (in->flags & ~(FLAG_DONT_TRAP | FLAG_EGRESS))
		return device_refuse(dev, -EINVAL, "flags 0x%x has unknown bits", in->flags);
	if (in->flags & FLAG_EGRESS)
		return device_refuse(dev, -EOPNOTSUPP,
				     "IBV_FLOW_ATTR_FLAGS_EGRESS is not supported");
	/* Note 4 of the man page; the other types say themselves what they match. */
	if (in->type != FLOW_NORMAL && (in->n_specs || (in->flags & FLAG_DONT_TRAP)))
		return device_refuse(dev, -EINVAL,
				     "type %u takes no specifications (%u given) and no DONT_TRAP",
				     in->type, in->n_specs);
	return 0;
}

static int fill(struct device *dev, struct flow *flow, const struct uhca_cmd_create_flow *in)
{
	flow->type = (enum flow_type)in->type;
	flow->priority = in->priority;
	flow->dont_trap = (in->flags & FLAG_DONT_TRAP) != 0;
	for (unsigned i = 0; i < in->n_specs; i++) {
		int err = add_spec(dev, flow, &in->spec[i]);
		if (err)
			return err;
	}
	if (flow->drop && flow->dont_trap)
		return device_refuse(dev, -EINVAL, "a drop rule cannot have DONT_TRAP");
	return 0;
}

/* Behind the rules of the same and of smaller numbers. */
static void insert(struct device *dev, struct flow *flow)
{
	struct list *at = dev->flow_rules.prev;
	while (at != &dev->flow_rules &&
	       list_entry(at, struct flow, link)->priority > flow->priority)
		at = at->prev;
	list_append(at->next, &flow->link);
}

static int find_qp(struct client *c, uint32_t handle, struct qp **out)
{
	int err = client_find(c, &c->dev->qps, handle, out);
	if (err)
		return err;
	/* The man page has UD QPs here too; RoCE packets pass no rule (see above). */
	if ((*out)->type == QPT_RAW_PACKET)
		return 0;
	return device_refuse(c->dev, (*out)->type == QPT_UD ? -EOPNOTSUPP : -EINVAL,
			     "flow rules need a RAW_PACKET QP, not %s", qp_type_name((*out)->type));
}

int core_create_flow(struct client *c, const struct uhca_cmd_create_flow *in, uint32_t *handle)
{
	struct device *dev = c->dev;
	struct flow *flow;
	struct qp *qp;
	int err;
	if (!(dev->cfg.features & UHCA_ABI_HAS_RAW_PACKET))
		return device_refuse(dev, -EOPNOTSUPP, "the device's profile has no flow rules");
	err = check_request(dev, in);
	if (!err)
		err = find_qp(c, in->qp, &qp);
	if (err)
		return err;
	flow = calloc(1, sizeof(*flow));
	if (!flow)
		return -ENOMEM;
	flow->obj.client = c;
	flow->qp = qp;
	err = fill(dev, flow, in);
	if (!err)
		err = device_add(dev, &dev->flows, flow, &flow->obj.handle);
	if (err) {
		free(flow);
		return err;
	}
	qp->obj.refs++;
	insert(dev, flow);
	*handle = flow->obj.handle;
	return 0;
}

static void flow_destroy(void *object)
{
	struct flow *flow = object;

	table_remove(&flow->obj.client->dev->flows, flow->obj.handle);
	list_remove(&flow->link);
	flow->qp->obj.refs--;
	free(flow);
}

int core_destroy_flow(struct client *c, uint32_t handle)
{
	return client_destroy(c, &object_flow, handle, NULL);
}

/* ---- steering ---- */

static bool spec_matches(const struct flow_spec *s, const struct roce_frame *f)
{
	uint8_t field[ROCE_FRAME_FIELDS];
	uint8_t differs = 0;
	if (!roce_frame_fields(f, s->layer, field))
		return false;
	for (unsigned i = 0; i < ROCE_FRAME_FIELDS; i++)
		differs |= (uint8_t)((field[i] ^ s->value[i]) & s->mask[i]);
	return differs == 0;
}

static bool matches(const struct flow *flow, const struct roce_frame *f)
{
	for (unsigned i = 0; i < flow->n_specs; i++)
		if (!spec_matches(&flow->spec[i], f))
			return false;
	return true;
}

static void deliver(struct flow *flow, const struct core_frame *frame, const struct roce_frame *f)
{
	struct device *dev = flow->obj.client->dev;
	if (flow->qp->frame_serial == dev->frame_serial)
		return;
	flow->qp->frame_serial = dev->frame_serial;
	dev->frame_copies++;
	raw_receive(flow->qp, frame, f, flow->tag);
}

/* All rules of a type without specifications. True when there is one. */
static bool deliver_to_all(struct device *dev, enum flow_type type, const struct core_frame *frame,
			   const struct roce_frame *f)
{
	bool any = false;
	for (struct list *at = dev->flow_rules.next; at != &dev->flow_rules; at = at->next) {
		struct flow *flow = list_entry(at, struct flow, link);
		if (flow->type != type)
			continue;
		deliver(flow, frame, f);
		any = true;
	}
	return any;
}

/* True when a rule took the frame, or dropped it. */
static bool deliver_by_rule(struct device *dev, const struct core_frame *frame,
			    const struct roce_frame *f)
{
	uint16_t priority = 0;
	bool taken = false;
	for (struct list *at = dev->flow_rules.next; at != &dev->flow_rules; at = at->next) {
		struct flow *flow = list_entry(at, struct flow, link);
		if (taken && flow->priority != priority)
			break;
		if (flow->type != FLOW_NORMAL || !matches(flow, f))
			continue;
		if (flow->drop)
			return true;
		deliver(flow, frame, f);
		if (!flow->dont_trap) {
			taken = true;
			priority = flow->priority;
		}
	}
	return taken;
}

static void steer(struct device *dev, const struct core_frame *frame, const struct roce_frame *f)
{
	deliver_to_all(dev, FLOW_SNIFFER, frame, f);
	if (deliver_by_rule(dev, frame, f))
		return;
	if (roce_frame_is_multicast(f) && deliver_to_all(dev, FLOW_MC_DEFAULT, frame, f))
		return;
	if (!deliver_to_all(dev, FLOW_ALL_DEFAULT, frame, f))
		device_drop_one(dev, 0, 0, CORE_DROP_NO_QP);
}

unsigned core_rx_frame(struct device *dev, uint64_t now, const struct core_frame *frame)
{
	struct roce_frame f;
	device_set_time(dev, now);
	dev->frame_serial++;
	dev->frame_copies = 0;
	dev->counters.rx_packets++;
	dev->counters.rx_bytes += frame->length;
	if (frame->length > ROCE_FRAME_MAX || !roce_frame_parse(frame->bytes, frame->length, &f)) {
		device_drop_one(dev, 0, 0, CORE_DROP_LENGTH);
		return 0;
	}
	steer(dev, frame, &f);
	return dev->flows.used + WORK_OF_COPY * dev->frame_copies;
}

static void describe_flow(const void *object, struct facts *f)
{
	static const char *const type[FLOW_TYPES] = {[FLOW_NORMAL] = "normal",
						     [FLOW_ALL_DEFAULT] = "all default",
						     [FLOW_MC_DEFAULT] = "multicast default",
						     [FLOW_SNIFFER] = "sniffer"};
	const struct flow *flow = object;
	facts_hex(f, "qpn", flow->qp->qpn);
	facts_text(f, "type", type[flow->type]);
	facts_number(f, "priority", flow->priority);
	facts_number(f, "specs", flow->n_specs);
	facts_text(f, "action", flow->drop ? "drop" : flow->dont_trap ? "copy" : "take");
	facts_number(f, "tag", flow->tag);
}

const struct object_type object_flow = {
	.type = CORE_OBJECT_FLOW,
	.name = "flow",
	.table = offsetof(struct device, flows),
	.destroy = flow_destroy,
	.describe = describe_flow,
};
