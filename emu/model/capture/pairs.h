/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is who in a capture, and which two packets are one: the ends of all connections, and the
 * arrows between them. Part of model.h.
 *
 * A packet between two devices of the daemon is in its captures twice. The copies find each other
 * by addresses, opcode, QP, PSN and AETH: an arrival belongs to the oldest packet sent that has
 * none yet; when there is none, it is a copy of the last that arrived.
 *
 * RC packets do not say which QP sent them. Where the comment does not either, an answer tells:
 * it has the PSN of a request, and so its destination is the QP that the request came from.
 */
#ifndef MODEL_PAIRS_H
#define MODEL_PAIRS_H

#include "model.h"

/* Makes hosts, QPs and arrows from packets, and finds the QPs of records. 0 or -ENOMEM. */
int model_pair(struct model *s);

#endif
