/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution of requests: the last stage of responder.c. */
#ifndef CORE_EXECUTE_H
#define CORE_EXECUTE_H

#include "request.h"

/*
 * Executes the burst, all of it or nothing but the packets' place in the message: V_OK, or what
 * stands against it.
 */
enum verdict execute_request(struct qp *qp, const struct core_burst *t);

#endif
