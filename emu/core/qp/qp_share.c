/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Handles of shared receiving QPs: see qp_share.h. Memory of the QP itself is the device's, not a
 * client's, so that no client's end can take it away.
 */
#include "qp_share.h"

#include "emu/core/memory/memory.h"

#include <errno.h>
#include <stdlib.h>

struct qp_share *qp_share_find(struct client *c, uint32_t handle)
{
	struct qp_share *s;
	if (!(handle & QP_SHARE_BIT))
		return NULL;
	return client_find(c, &c->dev->qp_shares, handle & ~QP_SHARE_BIT, &s) ? NULL : s;
}

int qp_find(struct client *c, uint32_t handle, struct qp **out)
{
	if (handle & QP_SHARE_BIT) {
		struct qp_share *s = qp_share_find(c, handle);
		if (!s)
			return -ENOENT; /* client_find has said it */
		*out = s->qp;
		return 0;
	}
	int err = client_find(c, &c->dev->qps, handle, out);
	/* A shared QP goes by its shares' names only, to its owner of the moment too. */
	if (err || (*out)->type != QPT_XRC_RECV)
		return err;
	return device_refuse(c->dev, -ENOENT, "handle 0x%x is not a QP of this context", handle);
}

int qp_share_create(struct xrcd *x, struct qp *qp, uint64_t cookie, struct core_ring *ring,
		    uint32_t *out)
{
	struct client *c = x->obj.client;
	struct qp_share *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->obj.client = c;
	s->qp = qp;
	s->xrcd = x;
	s->cookie = cookie;
	int err = device_add(c->dev, &c->dev->qp_shares, s, &s->obj.handle);
	if (err)
		goto free_share;
	err = queue_region_create(c, UHCA_ABI_REGION_QP, QUEUE_REGION_PAGE, &s->ring);
	if (err)
		goto remove_share;
	s->page = s->ring.base;
	*ring = s->ring;
	list_append(&qp->shares, &s->link);
	x->obj.refs++;
	*out = s->obj.handle | QP_SHARE_BIT;
	return 0;

remove_share:
	table_remove(&c->dev->qp_shares, s->obj.handle);
free_share:
	free(s);
	return err;
}

void qp_share_destroy(struct qp_share *s)
{
	struct client *c = s->obj.client;
	struct qp *qp = s->qp;
	list_remove(&s->link);
	table_remove(&c->dev->qp_shares, s->obj.handle);
	s->xrcd->obj.refs--;
	queue_region_destroy(c, &s->ring);
	free(s);
	if (list_empty(&qp->shares)) {
		qp_destroy(qp);
		return;
	}
	/* Whoever is left stands for the QP where one client is shown as its owner. */
	qp->obj.client = list_entry(qp->shares.next, struct qp_share, link)->obj.client;
}

/* The QP of this number in the domain, or NULL. */
static struct qp *find_in_domain(const struct device *dev, const struct xrc_domain *d, uint32_t qpn)
{
	struct qp *qp = device_find_qp(dev, qpn);
	return qp && qp->type == QPT_XRC_RECV && qp->domain == d ? qp : NULL;
}

int core_open_qp(struct client *c, const struct uhca_cmd_open_qp *in,
		 struct uhca_cmd_open_qp_reply *out, struct core_ring *ring)
{
	struct xrcd *x;
	if (!(c->dev->cfg.features & UHCA_ABI_HAS_XRC))
		return device_refuse(c->dev, -EOPNOTSUPP, "the device's profile has no XRC");
	int err = client_find(c, &c->dev->xrcds, in->xrcd, &x);
	if (err)
		return err;
	if (in->qp_type != QPT_XRC_RECV)
		return device_refuse(c->dev, -EINVAL, "qp_type %u is not IBV_QPT_XRC_RECV",
				     in->qp_type);
	struct qp *qp = find_in_domain(c->dev, x->domain, in->qpn);
	if (!qp)
		return device_refuse(c->dev, -EINVAL,
				     "qp_num 0x%06x is not an XRC_RECV QP of the XRC domain",
				     in->qpn);
	err = qp_share_create(x, qp, in->cookie, ring, &out->handle);
	if (err)
		return err;
	out->qp_state = qp->state;
	out->region_size = queue_region_size(ring);
	return 0;
}
