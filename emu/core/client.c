/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's life: its doorbells, and the orderly end of everything it owned when it closes its
 * context or dies (DESIGN D12). Users go before what they use: rules, windows, QPs, SRQs, XRC
 * domains, CQs, address handles, memory regions, protection domains.
 */
#include "emu/core/base/client.h"
#include "emu/core/keys/mr.h"
#include "emu/core/keys/mw.h"
#include "emu/core/memory/dm.h"
#include "emu/core/memory/pd.h"
#include "emu/core/packets/flow.h"
#include "emu/core/qp/ah.h"
#include "emu/core/qp/qp.h"
#include "emu/core/qp/qp_share.h"
#include "emu/core/queues/cq.h"
#include "emu/core/queues/srq.h"
#include "emu/core/queues/wq.h"
#include "group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DOORBELLS 16u

struct client *core_client_create(struct device *dev, void *cookie)
{
	struct client *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->dev = dev;
	c->cookie = cookie;
	list_append(&dev->clients, &c->link);
	return c;
}

static void destroy_ind_table(void *object)
{
	ind_table_destruct(object);
}

static void destroy_wq(void *object)
{
	wq_destroy(object);
}

static void destroy_flow(void *object)
{
	flow_destroy(object);
}

static void destroy_qp(void *object)
{
	qp_destroy(object);
}

static void destroy_qp_share(void *object)
{
	qp_share_destroy(object);
}

static void destroy_xrcd(void *object)
{
	xrcd_destroy(object);
}

static void destroy_srq(void *object)
{
	srq_destroy(object);
}

static void destroy_cq(void *object)
{
	cq_destroy(object);
}

static void destroy_ah(void *object)
{
	ah_destroy(object);
}

static void destroy_mr(void *object)
{
	mr_destroy(object);
}

static void destroy_dm(void *object)
{
	dm_destroy(object);
}

/* Regions and windows share a table. */
static void destroy_if_window(void *object)
{
	const struct object *o = object;
	if (o->kind == KEY_MW)
		mw_destroy(object);
}

static void destroy_pd(void *object)
{
	pd_destroy(object);
}

static void destroy_all(const struct client *c, struct table *t, void (*destroy)(void *))
{
	uint32_t cursor = 0;
	for (struct object *o; (o = table_next(t, &cursor));)
		if (o->client == c)
			destroy(o);
}

void core_client_destroy(struct client *c)
{
	if (!c)
		return;
	struct device *dev = c->dev;
	destroy_all(c, &dev->flows, destroy_flow);
	destroy_all(c, &dev->qp_shares, destroy_qp_share);
	destroy_all(c, &dev->mrs, destroy_if_window);
	destroy_all(c, &dev->qps, destroy_qp);
	destroy_all(c, &dev->ind_tables, destroy_ind_table);
	destroy_all(c, &dev->wqs, destroy_wq);
	destroy_all(c, &dev->srqs, destroy_srq);
	destroy_all(c, &dev->xrcds, destroy_xrcd);
	destroy_all(c, &dev->cqs, destroy_cq);
	destroy_all(c, &dev->ahs, destroy_ah);
	group_leave(c);
	destroy_all(c, &dev->mrs, destroy_mr);
	destroy_all(c, &dev->dms, destroy_dm);
	destroy_all(c, &dev->pds, destroy_pd);
	list_remove(&c->link);
	free(c->doorbell);
	free(c);
}

static int grow_doorbells(struct client *c)
{
	uint32_t n = c->n_doorbells ? c->n_doorbells * 2 : FIRST_DOORBELLS;
	if (n > UHCA_ABI_DOORBELL_MAX)
		return -ENOMEM;
	struct qp **doorbell = realloc(c->doorbell, n * sizeof(struct qp *));
	if (!doorbell)
		return -ENOMEM;
	for (uint32_t i = c->n_doorbells; i < n; i++)
		doorbell[i] = NULL;
	c->doorbell = doorbell;
	c->n_doorbells = n;
	return 0;
}

int client_add_doorbell(struct client *c, struct qp *qp, uint32_t *doorbell)
{
	uint32_t i = c->free_doorbell;
	while (i < c->n_doorbells && c->doorbell[i])
		i++;
	c->free_doorbell = i;
	if (i == c->n_doorbells) {
		int err = grow_doorbells(c);
		if (err)
			return err;
	}
	c->doorbell[i] = qp;
	c->free_doorbell = i + 1;
	*doorbell = i;
	return 0;
}

void client_remove_doorbell(struct client *c, uint32_t doorbell)
{
	c->doorbell[doorbell] = NULL;
	if (doorbell < c->free_doorbell)
		c->free_doorbell = doorbell;
}

void core_doorbell(struct client *c, uint32_t doorbell, uint64_t now)
{
	struct device *dev = c->dev;
	device_set_time(dev, now);
	struct qp *qp = doorbell < c->n_doorbells ? c->doorbell[doorbell] : NULL;
	if (!qp)
		return;
	if (qp->state == QPS_ERR || qp->state == QPS_SQE)
		qp_flush(qp); /* what is posted now completes at once (10.3.1.6 and 7) */
	else
		qp_kick(qp);
}

int client_find_shared(struct client *c, const struct table *t, uint32_t handle, void *object_out)
{
	struct object *o = table_find(t, handle);
	if (!o || !group_shares(c, o->client))
		return -ENOENT;
	memcpy(object_out, &o, sizeof(o));
	return 0;
}

int client_find(struct client *c, const struct table *t, uint32_t handle, void *object_out)
{
	struct object *o = table_find(t, handle);
	if (!o || o->client != c)
		return -ENOENT;
	memcpy(object_out, &o, sizeof(o)); /* a pointer to whatever begins with the object */
	return 0;
}
