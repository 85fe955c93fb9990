/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the fault rules say of a call: of a control message, of an rdma_cm command, and of what
 * programs do without asking anybody (cmd_fault.h). Called only while such rules are there.
 */
#ifndef IO_FAULT_CALL_H
#define IO_FAULT_CALL_H

#include "emu/io/local/slow_call.h"

struct fault_subject;
struct io_client;
struct io_daemon;
struct io_device;

/* Shows a call to the rules. dev: on which it is. */
struct io_call_fault io_fault_call(struct io_daemon *d, struct io_device *dev,
				   const struct fault_subject *s);

/*
 * The same for a control message of a client, of the right size, whose command has this name. One
 * that opens a device that is not there is none of the rules' business.
 */
struct io_call_fault io_fault_command(struct io_daemon *d, struct io_client *c, const char *name,
				      const void *msg);

/* To be called after each change of the rules: whether programs must ask (region.h). */
void io_fault_call_changed(struct io_daemon *d);

#endif
