/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast groups of a device. As the kernel's verbs have it: attaching twice is no error and
 * gives one copy still, one detach ends it, and a QP that is attached is not destroyed (EBUSY).
 */
#include "mcast.h"

#include "emu/core/base/base.h"
#include "emu/core/qp/queue_pair.h"
#include "emu/core/receive/receive.h"
#include "receive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct member {
	struct list link; /* on the group's members */
	struct qp *qp;
};

static struct mcast_group *find_group(const struct device *dev, const uint8_t gid[16])
{
	for (struct list *l = dev->groups.next; l != &dev->groups; l = l->next) {
		struct mcast_group *g = list_entry(l, struct mcast_group, link);
		if (!memcmp(g->gid, gid, sizeof(g->gid)))
			return g;
	}
	return NULL;
}

static struct member *find_member(const struct mcast_group *g, const struct qp *qp)
{
	for (struct list *l = g->members.next; l != &g->members; l = l->next) {
		struct member *m = list_entry(l, struct member, link);
		if (m->qp == qp)
			return m;
	}
	return NULL;
}

static int notify_shell(struct device *dev, const uint8_t gid[16], bool join)
{
	return dev->ops->mcast ? dev->ops->mcast(dev->user, gid, join) : 0;
}

static int group_create(struct device *dev, const uint8_t gid[16], struct mcast_group **out)
{
	if (dev->n_groups >= dev->cfg.limits.max_mcast_grp)
		return device_refuse(dev, -ENOMEM,
				     "the device already has max_mcast_grp, %u, groups",
				     dev->n_groups);
	struct mcast_group *g = calloc(1, sizeof(*g));
	if (!g)
		return -ENOMEM;
	int err = notify_shell(dev, gid, true);
	if (err) {
		device_refuse(dev, err, "the kernel refused to join the IP multicast group");
		free(g);
		return err;
	}
	memcpy(g->gid, gid, sizeof(g->gid));
	list_init(&g->members);
	list_append(&dev->groups, &g->link);
	dev->n_groups++;
	*out = g;
	return 0;
}

static void group_put(struct device *dev, struct mcast_group *g)
{
	if (g->n_members)
		return;
	notify_shell(dev, g->gid, false);
	list_remove(&g->link);
	dev->n_groups--;
	free(g);
}

static int add_member(struct mcast_group *g, struct qp *qp)
{
	if (g->n_members >= qp->dev->cfg.limits.max_mcast_qp_attach)
		return device_refuse(qp->dev, -ENOMEM,
				     "the group already has max_mcast_qp_attach, %u, QPs",
				     g->n_members);
	struct member *m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->qp = qp;
	list_append(&g->members, &m->link);
	g->n_members++;
	qp->obj.refs++;
	return 0;
}

static void remove_member(struct mcast_group *g, struct member *m)
{
	list_remove(&m->link);
	g->n_members--;
	m->qp->obj.refs--;
	free(m);
}

/* The QP and the group that a command names. */
static int check(struct client *c, const struct uhca_cmd_mcast *in, struct qp **qp, uint8_t gid[16])
{
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_MCAST))
		return device_refuse(c->dev, -EOPNOTSUPP, "the device's profile has no multicast");
	int err = qp_find(c, in->qp, qp);
	if (err)
		return err;
	if ((*qp)->type != QPT_UD)
		return device_refuse(c->dev, -EINVAL, "multicast groups need a UD QP, not %s",
				     qp_type_name((*qp)->type));
	if (!roce_addr_is_group(in->gid))
		return device_refuse(
			c->dev, -EINVAL,
			"gid begins with 0x%x: not a multicast group (ff00::/8, or an IPv4 group)",
			in->gid[0]);
	mcast_canonical(in->gid, gid);
	return 0;
}

int core_attach_mcast(struct client *c, const struct uhca_cmd_mcast *in)
{
	uint8_t gid[16];
	struct qp *qp;
	int err = check(c, in, &qp, gid);
	if (err)
		return err;
	struct mcast_group *g = find_group(c->dev, gid);
	if (g && find_member(g, qp))
		return 0;
	if (!g)
		err = group_create(c->dev, gid, &g);
	if (err)
		return err;
	err = add_member(g, qp);
	if (err)
		group_put(c->dev, g);
	return err;
}

int core_detach_mcast(struct client *c, const struct uhca_cmd_mcast *in)
{
	uint8_t gid[16];
	struct qp *qp;
	int err = check(c, in, &qp, gid);
	if (err)
		return err;
	struct mcast_group *g = find_group(c->dev, gid);
	struct member *m = g ? find_member(g, qp) : NULL;
	if (!m)
		return device_refuse(c->dev, -EINVAL, "the QP is not attached to this group");
	remove_member(g, m);
	group_put(c->dev, g);
	return 0;
}

uint32_t core_mcast_members(const struct device *dev, const uint8_t gid[16])
{
	const struct mcast_group *g = find_group(dev, gid);

	return g ? g->n_members : 0;
}

static void forget_qp(struct qp *qp)
{
	struct device *dev = qp->dev;
	for (struct list *l = dev->groups.next, *next; l != &dev->groups; l = next) {
		struct mcast_group *g = list_entry(l, struct mcast_group, link);
		struct member *m = find_member(g, qp);
		next = l->next;
		if (m)
			remove_member(g, m);
		group_put(dev, g);
	}
}

const struct qp_engine mcast_engine = {.destruct = forget_qp};

static bool blocked(const struct qp *qp, const struct core_burst *t)
{
	return qp->create_flags & QP_CREATE_BLOCK_SELF_MCAST_LB && t->head.deth.src_qp == qp->qpn &&
	       device_find_gid(qp->dev, t->flow.src) >= 0;
}

void mcast_receive(struct device *dev, const struct core_burst *t)
{
	const struct mcast_group *g = find_group(dev, t->flow.dst);
	if (!g || roce_opcode_info(t->head.bth.opcode)->service != ROCE_SVC_UD)
		return;
	for (struct list *l = g->members.next, *next; l != &g->members; l = next) {
		struct qp *qp = list_entry(l, struct member, link)->qp;
		next = l->next;
		if (!blocked(qp, t) && receive_admit(qp, t))
			responder_receive_ud(qp, t);
	}
}
