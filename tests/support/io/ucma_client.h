/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program's open of the rdma_cm device, without the preload library: speaks ucma_call.h to a
 * daemon in this process, whose loop runs while a reply is awaited.
 */
#ifndef TESTS_SUPPORT_UCMA_CLIENT_H
#define TESTS_SUPPORT_UCMA_CLIENT_H

#include "emu/abi/ucma_call.h"
#include "io_fixture.h"

#include <rdma/rdma_user_cm.h>

struct ucma_client {
	struct io_daemon *daemon;
	int sock;
	struct {
		struct uhca_ucma_reply h;
		uint8_t response[UHCA_UCMA_MAX];
	} reply; /* the last one */
};

/* Connects, and says hello. */
void ucma_client_open(struct ucma_client *c, struct io_daemon *d);
void ucma_client_close(struct ucma_client *c);
/* Until the daemon has noticed all that was closed. */
void ucma_client_settle(struct io_daemon *d);

/*
 * A command with len bytes of its structure, and perhaps a second descriptor (else -1). Returns
 * its status, or -ECONNRESET when the daemon hung up instead.
 */
int ucma_client_call(struct ucma_client *c, uint32_t cmd, const void *in, size_t len, int fd);

/* Any bytes as a message, with that many descriptors (0 to 2). Status as above. */
int ucma_client_send(struct ucma_client *c, const void *msg, size_t len, unsigned n_fds);

/* GET_EVENT until there is one; its type, or -EAGAIN when the daemon has nothing to say. */
int ucma_client_event(struct ucma_client *c, struct rdma_ucm_event_resp *out);

/* The next event, which must be of this type and for whom the program calls so. */
struct rdma_ucm_event_resp ucma_client_expect(struct ucma_client *c, uint32_t type, uint64_t uid);

/* A new id, which must succeed. Returns its number. */
uint32_t ucma_client_create(struct ucma_client *c, uint16_t ps, uint64_t uid);

/* An option of an id: len bytes, 128 at the most. Status as above. */
int ucma_client_option(struct ucma_client *c, uint32_t id, uint32_t level, uint32_t name,
		       const void *value, uint32_t len);

/* The first address of a device of the daemon, which is one of IPv4, as librdmacm passes it. */
struct sockaddr_in6 ucma_client_address(const struct io_daemon *d, unsigned device, uint16_t port);

#endif
