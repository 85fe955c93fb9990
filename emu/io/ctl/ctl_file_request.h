/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests with files (design D27): a thread opens, reads or writes them, and the reply is sent
 * when it is back, or when a deadline has passed. The first member of what such a request needs.
 */
#ifndef IO_CTL_FILE_REQUEST_H
#define IO_CTL_FILE_REQUEST_H

#include "ctl_handler.h"
#include "emu/io/local/local.h"

#include <ev.h>

struct ctl_file_request {
	struct io_task task;
	const struct io_services *services;
	/* By the thread; touches nothing of the daemon's. */
	void (*work)(struct ctl_file_request *e);
	/* By the loop, when it is back: the result, or NULL with the reason. */
	json_t *(*finish)(struct ctl_file_request *e, struct ctl_outcome *o);
	/* By the loop, when the deadline has passed: the same. finish is not called then. */
	json_t *(*late)(struct ctl_file_request *e, struct ctl_outcome *o);
	/* By the loop, at the end: frees what it has, and the file_request. */
	void (*drop)(struct ctl_file_request *e);
	unsigned ms; /* the deadline */
	char *line;  /* of "length", made by the thread: then finish is not called */
	size_t length;
	/* Gets the reply's line, which it takes over; set by who sends it. NULL: nobody. */
	void (*answer)(void *user, char *line, size_t length);
	void *user;
	ev_timer deadline;
	bool is_late;
};

/*
 * Starts it and says so in the outcome; its functions and its deadline are set. NULL: as a handler
 * returns it. Without tasks (io_services) it is done at once, and this is its result.
 */
json_t *io_ctl_file_request_start(const struct io_services *h, struct ctl_file_request *e,
				  struct ctl_outcome *o);

/*
 * The same of one that was named in the outcome before, and whose services is set: somebody waits
 * for the reply, and gets it in any case.
 */
void io_ctl_file_request_go(struct ctl_file_request *e);

/* Who waited for the reply has gone. The file_request goes on. */
void io_ctl_file_request_leave(struct ctl_file_request *e);

#endif
