/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fault rules say of a call: of a control message, of an rdma_cm command, and of what
 * programs do without asking anybody (cmd_fault.h). Called only while such rules are there.
 */
#ifndef IO_FAULT_CALL_H
#define IO_FAULT_CALL_H

#include "emu/io/local/local.h"

struct fault_subject;
struct io_clients_ops;
struct io_device;
struct io_faults;

/* Shows a call to the rules. dev: on which it is. */
struct io_call_fault io_fault_call(struct io_faults *f, struct io_device *dev,
				   const struct fault_subject *s);

/* What rules have to say of what clients do; user: struct io_faults. */
extern const struct io_clients_ops io_fault_clients_ops;

/* To be called after each change of the rules: whether programs must ask (region.h). */
void io_fault_call_changed(struct io_faults *f);

#endif
