/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose the ends of connections are. They outlive what the owner has of them: a second in
 * time-wait, 15 seconds where an answer is kept. Whoever makes and drops them as fast as he can is
 * not to keep all others of the device from connections for so long.
 */
#include "cm.h"

#include <errno.h>
#include <stdlib.h>

struct cm_account {
	struct list link;
	uint32_t owner;
	uint32_t n; /* ends; with the last the account goes */
};

static struct list *bucket(struct cm_manager *m, uint32_t owner)
{
	return &m->accounts[owner % CM_ACCOUNT_BUCKETS];
}

static struct cm_account *account_find(struct cm_manager *m, uint32_t owner)
{
	struct list *all = bucket(m, owner);
	for (struct list *l = all->next; l != all; l = l->next)
		if (((struct cm_account *)l)->owner == owner)
			return (struct cm_account *)l;
	return NULL;
}

static struct cm_account *open_account(struct cm_manager *m, uint32_t owner)
{
	struct cm_account *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->owner = owner;
	list_append(bucket(m, owner), &a->link);
	return a;
}

int core_cm_charge(struct cm *cm, uint32_t owner)
{
	struct cm_manager *m = cm->dev->cm;
	struct cm_account *a = account_find(m, owner);
	if (cm->account)
		return 0;
	if (a && a->n >= CM_MAX_IDS - m->ids.used)
		return -ENOMEM;
	if (!a)
		a = open_account(m, owner);
	if (!a)
		return -ENOMEM;
	a->n++;
	cm->account = a;
	return 0;
}

void cm_discharge(struct cm *cm)
{
	struct cm_account *a = cm->account;
	cm->account = NULL;
	if (!a || --a->n > 0)
		return;
	list_remove(&a->link);
	free(a);
}
