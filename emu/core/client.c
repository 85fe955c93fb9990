/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's life: the orderly end of everything it owned when it closes its context or dies
 * (DESIGN D12). Users go before what they use: rules, windows, QPs, SRQs, XRC domains, CQs, address
 * handles, memory regions, protection domains.
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

#include <stdlib.h>

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
