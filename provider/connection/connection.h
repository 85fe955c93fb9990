/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "connection": both ends of a connection, for the sanitizer. What the peer has and why it
 * has refused something the daemon says (ask.h), of whatever process it is; which call of the peer
 * has made it so the collector knows (left.h).
 *
 *   connection   what each end is told (ibv_modify_qp), and what is to be said of it alone
 *   match        do both fit?
 *   failed       why a request failed
 *   datagram     does a datagram arrive?
 *
 * Who may call: the sanitizer. Any thread.
 */
#ifndef UHCAV_CONNECTION_H
#define UHCAV_CONNECTION_H

#include "ask.h"
#include "datagram.h"
#include "failed.h"
#include "left.h"
#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>

/* A queue pair was modified. */
void uhcav_connection_modified(struct uhcav_here here, struct ibv_qp *qp,
			       const struct ibv_qp_attr *attr, int attr_mask);

/* Does an address lead to the port itself that it is used on? */
bool uhcav_connection_loops(struct ibv_context *context, const struct ibv_ah_attr *ah);

/* It is about to be destroyed. */
void uhcav_connection_gone(struct uhcav_here here, const struct ibv_qp *qp);

/*
 * A post since it can send: does its peer fit? By then both ends ought to be connected; one that is
 * about to be connected again has the old values still. False: the peer is not there yet.
 */
bool uhcav_connection_look(const struct ibv_qp *qp);

/* Held across a fork. */
extern pthread_mutex_t uhcav_connection_lock;

#endif
