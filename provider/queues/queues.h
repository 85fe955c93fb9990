/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Module "queues": rings between the program and the device, and the objects that are a ring.
 * Completion queues, shared receive queues, work queues of raw packets; XRC domains, in which SRQs
 * stand. What is written into a ring and taken out of it is the business of post/ and poll/.
 *
 * Who may call: qp, poll, post, dv, the op table. It calls keys, context and base.
 * Where to begin: work_queue.h, then cq.h.
 */
#ifndef UHCAV_QUEUES_H
#define UHCAV_QUEUES_H

#include "comp_cntr.h"
#include "cq.h"
#include "srq.h"
#include "work_queue.h"
#include "wq.h"
#include "xrcd.h"

#endif
