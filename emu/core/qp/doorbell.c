/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doorbells: the numbers by which a client tells that it has posted something, and what is done
 * when one rings.
 */
#include "qp.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_DOORBELLS 16u

static int grow_doorbells(struct client *c)
{
	uint32_t n = c->n_doorbells ? c->n_doorbells * 2 : FIRST_DOORBELLS;
	if (n > UHCA_ABI_DOORBELL_MAX)
		return device_refuse(c->dev, -ENOMEM, "a context has at most %u QPs",
				     UHCA_ABI_DOORBELL_MAX);
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
