/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doorbells: the numbers by which a client tells that it has posted something, and what is done
 * when one rings (core_doorbell).
 */
#ifndef CORE_DOORBELL_H
#define CORE_DOORBELL_H

#include "emu/core/base/base.h"

/*
 * Gives the QP the smallest free doorbell number. 0, or -ENOMEM (also when the doorbell region
 * has no bit left).
 */
int client_add_doorbell(struct client *c, struct qp *qp, uint32_t *doorbell);
void client_remove_doorbell(struct client *c, uint32_t doorbell);

#endif
