/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the handlers of uhcactl's requests share, and those that stand in files of their own;
 * ctl_request.c has the table. A handler returns its result, or NULL with the reason in the
 * outcome.
 */
#ifndef IO_CTL_HANDLER_H
#define IO_CTL_HANDLER_H

#include "ctl_server.h"
#include "emu/io/capture/captures.h"
#include "emu/io/device/devices.h"
#include "emu/io/fault/fault.h"

#include <jansson.h>

struct ctl_outcome {
	char error[256];
	unsigned line, column; /* where in a text it is wrong, from 1; 0: nowhere */
};

/* Formats the reason; returns NULL. */
__attribute__((format(printf, 2, 3))) json_t *io_ctl_refuse(struct ctl_outcome *o,
							    const char *format, ...);

typedef json_t *ctl_handler(const struct io_house *h, const json_t *request, struct ctl_outcome *o);

/* ctl_capture.c */
ctl_handler io_ctl_capture;

/* ctl_port.c */
ctl_handler io_ctl_port, io_ctl_device, io_ctl_limit, io_ctl_event;

/* The device a request names, or the only one; NULL with the reason. */
struct io_device *io_ctl_device_of(const struct io_house *h, const json_t *request,
				   struct ctl_outcome *o);

/* ctl_fault.c, ctl_step.c */
ctl_handler io_ctl_fault, io_ctl_step;

/* ctl_walk.c */
ctl_handler io_ctl_walk;

#endif
