/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules about completions, behind core_ops.completion: they are changed, come late, or never.
 *
 * The order of one CQ is kept: while a completion of it is late, those behind it wait as well, as
 * in a device whose writes to the queue are slow. With order=queue only those of the same send or
 * receive queue wait, which is all the order that is promised. A completion that is withheld
 * leaves a gap.
 * What is late when its QP or CQ goes, or its QP is reset, goes too.
 */
#ifndef IO_FAULT_CQE_H
#define IO_FAULT_CQE_H

#include "emu/abi/cqe.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct io_device;
struct io_faults;

#define IO_FAULT_CQES_MAX 65536 /* that are late; one more comes at once */

TAILQ_HEAD(io_fault_cqes, io_fault_cqe);

/* core_ops.completion, of a device. */
bool io_fault_cqe(void *user, uint32_t cqn, struct uhca_abi_cqe *e);

/* The QP was reset: nothing of it completes any more. */
void io_fault_cqe_forget(struct io_faults *f, const struct io_device *dev, uint32_t qpn);

/* Those whose time has come enter their CQs. */
void io_fault_cqe_tick(struct io_faults *f, uint64_t now);
uint64_t io_fault_cqe_deadline(const struct io_faults *f);

void io_fault_cqe_destroy(struct io_faults *f);

#endif
