/* SPDX-License-Identifier: BSD-2-Clause */
/* Polling, watched: what completes leaves the shadows. */
#ifndef UHCAV_WATCH_POLL_H
#define UHCAV_WATCH_POLL_H

#include <infiniband/verbs.h>

/* In the place of uhcav_poll_cq. */
int uhcav_watch_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc);

#endif
