/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device keeps for its communication manager; see cm.h. */
#ifndef CORE_CM_MANAGER_H
#define CORE_CM_MANAGER_H

#include "emu/core/base/base.h"

#include <stdbool.h>

struct core_cm_ops;

#define CM_BUCKETS         1024u
#define CM_ACCOUNT_BUCKETS 64u
#define CM_MAX_IDS         (1u << 17)

struct cm_manager {
	const struct core_cm_ops *ops; /* NULL: nobody manages connections */
	void *user;
	struct table ids; /* local communication id -> struct cm */
	struct timer_heap timers;
	uint32_t salt;                            /* of the buckets */
	struct list passive[CM_BUCKETS];          /* by the peer's communication id */
	struct list by_qpn[CM_BUCKETS];           /* the same, by the peer's QP */
	struct list accounts[CM_ACCOUNT_BUCKETS]; /* of owners (cm_account.c) */
};

void cm_manager_construct(struct cm_manager *m, uint32_t salt);
/* Frees all ends; tells nobody. */
void cm_manager_destruct(struct cm_manager *m);

#endif
