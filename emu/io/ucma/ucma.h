/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rdma_cm device of a daemon: the kernel's rdma_cm uAPI (<rdma/rdma_user_cm.h>) served to
 * the preload libraries of the clients (ucma_call.h tells how). Here is what the rest of the
 * daemon sees of it; ucma_file.h has the parts.
 */
#ifndef IO_UCMA_H
#define IO_UCMA_H

#include "emu/io/local/local.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct io_clients;
struct io_device;
struct io_devices;
struct io_fabric;
struct io_faults;
struct io_linger;
struct ucma_file;
struct ucma_id;
struct ucma_mcast;

#define UCMA_PORT_BUCKETS 1024

TAILQ_HEAD(ucma_files, ucma_file);
LIST_HEAD(ucma_port_list, ucma_id);

/* What the rdma_cm device needs of the daemon; all of it stays the daemon's. */
struct io_ucma_env {
	struct ev_loop *loop;
	struct io_linger *linger;
	const struct io_devices *devices;
	const struct io_fabric *fabric;
	const struct io_clients *clients;
	struct io_faults *faults;
};

struct io_ucma {
	struct io_ucma_env env; /* zero: closed */
	struct io_listener listener;
	struct ucma_files files;
	unsigned n_files;
	uint64_t heard; /* messages that came, of whatever kind */
	void **slot;    /* id -> struct ucma_id or struct ucma_mcast */
	uint32_t n_slots, first_free;
	struct ucma_port_list ports[UCMA_PORT_BUCKETS]; /* ids that hold a port */
};

/* Listens in the instance's directory, and takes the requests of the daemon's devices. */
int io_ucma_open(struct io_ucma *u, const struct io_ucma_env *env, const char *path);
void io_ucma_close(struct io_ucma *u);

#define IO_UCMA_TEXT 80

/* An rdma_cm id. */
struct io_ucma_view {
	uint32_t id;
	const char *device; /* NULL: any */
	const char *space;  /* "tcp", "udp", "ipoib", "ib" */
	const char *state;
	uint16_t port; /* its own; 0: none */
	char src[IO_UCMA_TEXT], dst[IO_UCMA_TEXT];
};

typedef void (*io_ucma_visitor)(void *arg, const struct io_ucma_view *v);

/* Calls visit for each id of all programs; what it is shown lives for the call. */
void io_ucma_visit(const struct io_ucma *u, io_ucma_visitor visit, void *arg);

/* The device fails: DEVICE_REMOVAL to each of its ids, which can only be ended from then on. */
void io_ucma_remove_device(struct io_ucma *u, const struct io_device *dev);

#endif
