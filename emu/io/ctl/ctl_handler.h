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
#include "emu/words/words.h"

#include <jansson.h>

struct ctl_file_request;

struct ctl_outcome {
	char error[1024];
	unsigned line, column; /* where in a text it is wrong, from 1; 0: nowhere */
	struct ctl_file_request
		*file_request; /* the result comes later: the handler has returned NULL */
};

/* Formats the reason; returns NULL. */
__attribute__((format(printf, 2, 3))) json_t *io_ctl_refuse(struct ctl_outcome *o,
							    const char *format, ...);

/* A text that a request has, or NULL. */
static inline const char *io_ctl_text(const json_t *request, const char *member)
{
	return json_string_value(json_object_get(request, member));
}

/*
 * The same as io_ctl_refuse of a word that is no WHAT, with the nearest and all that there are
 * (words_refuse).
 */
json_t *io_ctl_no_such(struct ctl_outcome *o, const char *what, const char *word, words_names names,
		       const void *table);

typedef json_t *ctl_handler(const struct io_services *h, const json_t *request,
			    struct ctl_outcome *o);

/* ctl_capture.c */
ctl_handler io_ctl_capture;

/* ctl_port.c */
ctl_handler io_ctl_port, io_ctl_device, io_ctl_limit, io_ctl_event;

/* The device a request names, or the only one; NULL with the reason. */
struct io_device *io_ctl_device_of(const struct io_services *h, const json_t *request,
				   struct ctl_outcome *o);

/* ctl_fault.c, ctl_step.c */
ctl_handler io_ctl_fault, io_ctl_step;

/* ctl_show.c */
ctl_handler io_ctl_show;

/* ctl_fabric.c */
ctl_handler io_ctl_fabric;

struct io_capture_wish;
/*
 * Does the word name a port of the modelled network? Then the capture that is about to start will
 * have its packets, and *interface is its number; false, and nothing has changed.
 */
bool io_ctl_fabric_capture(const struct io_services *h, const char *port, int *interface);

/* ctl_walk.c */
ctl_handler io_ctl_walk;
ctl_handler io_ctl_log;

#endif
