/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "connection": what the ends of a connection were told of each other (ibv_modify_qp), for
 * the sanitizer. Two ends can be held against each other where both are queue pairs of this process
 * on one device; of one alone it is known how long it waits.
 *
 * Who may call: the sanitizer. Below it: the module "finding". Any thread.
 */
#ifndef UHCAV_CONNECTION_H
#define UHCAV_CONNECTION_H

#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

/* A queue pair was modified; RC and UC only, others are left alone. */
void uhcav_connection_modified(struct uhcav_here here, struct ibv_qp *qp,
			       const struct ibv_qp_attr *attr, int attr_mask);

/* Does an address lead to the port itself that it is used on? */
bool uhcav_connection_loops(struct ibv_context *context, const struct ibv_ah_attr *ah);

/* It is about to be destroyed. */
void uhcav_connection_gone(const struct ibv_qp *qp);

/*
 * The first posts since it can send: does its peer fit? By then both ends ought to be connected;
 * one that is about to be connected again has the old values still. False: the peer is not there
 * yet.
 */
bool uhcav_connection_look(const struct ibv_qp *qp);

/* What a queue pair allows its peer: enum ibv_access_flags, and who has said so (NULL: nobody). */
struct uhcav_connection_peer {
	uint32_t qp_num;
	unsigned access;
	const struct uhcav_stack *allowed;
};

/* Of the one at the other end, where it is in this process and was told of this one. Or false. */
bool uhcav_connection_peer(const struct ibv_qp *qp, struct uhcav_connection_peer *peer);

/* The device of the one at the other end, where it is in this process; or NULL. */
const struct ibv_device *uhcav_connection_device(const struct ibv_qp *qp);

/* For fork: see finding/stack.h. */
void uhcav_connection_lock(void);
void uhcav_connection_unlock(void);

#endif
