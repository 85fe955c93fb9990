/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serves the control messages of one client (cmd.h): a table from command to expected size,
 * number of descriptors and handler. Handlers call the core's verbs and nothing else.
 */
#ifndef IO_CMD_SERVER_H
#define IO_CMD_SERVER_H

#include "client.h"
#include "emu/io/local/local.h"

#include <stddef.h>

/*
 * Receives one message and answers it. 0; -EAGAIN when none is there; any other error means that
 * the client is to be disconnected: it closed, sent something shorter than a header, or does not
 * read its replies.
 */
int io_cmd_receive(struct io_client *c);

/*
 * Answers one message of len bytes. whole: neither it nor its descriptors were cut on the way.
 * Descriptors that no handler keeps are closed. 0 or -errno as above.
 */
int io_cmd_handle(struct io_client *c, const void *msg, size_t len, struct io_fds *fds, bool whole);

#endif
