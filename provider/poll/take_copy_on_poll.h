/* SPDX-License-Identifier: BSD-2-Clause */
/* Payload that came with a completion (abi/copy_on_poll.h) goes to its place when it is taken. */
#ifndef UHCAV_TAKE_COPY_ON_POLL_H
#define UHCAV_TAKE_COPY_ON_POLL_H

#include "provider/queues/queues.h"

/* Under the CQ's lock, for a valid entry with a copy on poll; again: nothing happens. */
void uhcav_take_copy_on_poll(struct uhcav_cq *cq, const struct uhca_abi_cqe *e);

#endif
