/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs of rdma_cm share (their names begin with cm-): ids that listen and call, each with
 * an event channel of its own. What cannot be done ends the program with status 2.
 */
#ifndef MEET_H
#define MEET_H

#include <rdma/rdma_cma.h>
#include <stdint.h>

/* At 127.0.0.1, at a free port. */
struct rdma_cm_id *meet_listen(int backlog);
uint16_t meet_port(struct rdma_cm_id *listener);

/* Resolved to that port. */
struct rdma_cm_id *meet_call(uint16_t port);

/* Makes its queue pair, with completion queues that rdma_create_qp makes. */
void meet_qp(struct rdma_cm_id *id);

/* Makes it, and sends the request, or answers it. */
void meet_connect(struct rdma_cm_id *id);
void meet_accept(struct rdma_cm_id *id);

/* Reads and acknowledges the next event, which is to be this one; the id that it names. */
struct rdma_cm_id *meet_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* Posts a receive for a message without a byte, or sends one. */
void meet_recv(struct rdma_cm_id *id);
void meet_send(struct rdma_cm_id *id);

/* Destroys it, its queue pair and, when it has made that, its channel. NULL is left alone. */
void meet_end(struct rdma_cm_id *id);

/*
 * Forks, before anything of verbs is done. The child is the server: it listens, tells the port, and
 * gets its listener; the parent gets NULL, and the port.
 */
struct rdma_cm_id *meet_fork(int backlog, uint16_t *port);

/* The child does not come back; the parent waits for it. */
void meet_part(const struct rdma_cm_id *listener);

#endif
