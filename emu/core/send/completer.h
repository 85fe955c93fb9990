/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the answers to a QP's requests and retires them in order: ACKs, NAKs, READ responses,
 * atomic acknowledges (IBTA vol. 1, 9.7.6, 9.7.7; completion order 10.8.3.1). Only this file and
 * qp_error.c write completions of the send queue.
 */
#ifndef CORE_COMPLETER_H
#define CORE_COMPLETER_H

#include "requester.h"

#include <stdbool.h>
#include <stdint.h>

struct qp;
struct core_burst;

/* A burst of responses for this QP. */
void completer_receive(struct qp *qp, const struct core_burst *t);

/* UC and UD: the request's last packet was handed out, which completes it. */
void completer_sent(struct qp *qp);

/* The local operation at the cursor is done: it completes when all before it have. */
void completer_executed(struct qp *qp);

/* SQD is reached when nothing is under way any more (10.3.1.5): raises the event if asked for. */
void completer_check_drained(struct qp *qp);

/*
 * Request w (at the cursor) failed locally. When all before it are complete it completes with its
 * status, and the QP goes to ERR (SQE for UC and UD: 10.3.1.6). False: not its turn yet.
 */
bool completer_local_error(struct qp *qp, struct send_wr *w);

/* The oldest request completes with this error status and the QP goes to ERR. */
void completer_fail(struct qp *qp, uint8_t status);

/* One completion of the send queue; flush and errors are reported even when unsignalled. */
void completer_push(struct qp *qp, const struct send_wr *w, uint8_t status);

#endif
