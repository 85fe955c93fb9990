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
struct io_idle_timeout;
struct ucma_file;
struct ucma_id;
struct ucma_owner;
struct ucma_port;

#define UCMA_PORT_BUCKETS  4096
#define UCMA_OWNER_BUCKETS 256

/* The usual range of ports that are chosen (ip_local_port_range). */
#define UCMA_FIRST_PORT 32768u
#define UCMA_PORTS      (61000u - UCMA_FIRST_PORT)
#define UCMA_PORT_WORDS ((UCMA_PORTS + 63) / 64)
#define UCMA_SPACES     4 /* RDMA_PS_* */

TAILQ_HEAD(ucma_files, ucma_file);
LIST_HEAD(ucma_port_list, ucma_port);
LIST_HEAD(ucma_owner_list, ucma_owner);

/* Which ports of the range somebody has, in one port space. */
struct ucma_range {
	uint64_t taken[UCMA_PORT_WORDS];
	uint32_t n;
};

/* The numbers of ids and joins: the smallest free one is given out. */
struct ucma_numbers {
	void **slot;    /* number -> struct ucma_id or struct ucma_mcast */
	uint32_t *free; /* a heap of those that came back, the smallest first */
	uint32_t size, used_once, n_free;
};

/* What the rdma_cm device needs of the daemon; all of it stays the daemon's. */
struct io_ucma_env {
	struct ev_loop *loop;
	struct io_watches *watches;
	struct io_idle_timeout *idle_timeout;
	const struct io_devices *devices;
	const struct io_fabric *fabric;
	const struct io_clients *clients;
	struct io_faults *faults;
};

struct io_ucma {
	struct io_ucma_env env; /* zero: closed */
	struct io_listener listener;
	struct ucma_files files;
	struct ucma_files ending; /* closed; what they had is freed in parts */
	struct ucma_file *grave;  /* has ids that end without their file */
	ev_idle end;              /* active while there is something to free */
	unsigned n_files;
	uint64_t heard;        /* messages that came, of whatever kind */
	struct ucma_id *asked; /* of the command that is served; NULL: none was found */
	struct ucma_numbers numbers;
	struct ucma_owner_list owners[UCMA_OWNER_BUCKETS]; /* by pid */
	struct ucma_port_list ports[UCMA_PORT_BUCKETS];    /* that somebody has */
	struct ucma_range range[UCMA_SPACES];
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
	pid_t pid;         /* of the process that opened its channel */
	const char *step;  /* of its connection (core_cm_step_name); "request_unread": nobody has
			      taken the request; NULL: it has none */
	uint32_t qpn;      /* that it connects; 0: none */
	unsigned unread;   /* events that nobody has read */
	const char *event; /* the first of them; NULL: there is none */
	uint32_t room;     /* for requests that wait, while it listens */
};

typedef void (*io_ucma_visitor)(void *arg, const struct io_ucma_view *v);

/*
 * Calls visit for each id, of all programs, that has one of the next numbers (*next: 0 at first);
 * what it is shown lives for the call. False: those were the last.
 */
bool io_ucma_visit(const struct io_ucma *u, uint32_t *next, uint32_t numbers, io_ucma_visitor visit,
		   void *arg);

struct io_stand_sink;

/* Ids that have events which their programs have not read: records "stands"
 * (emu/abi/packet_metadata.h). */
void io_ucma_stand(void *ucma, const struct io_stand_sink *sink);

/* The device fails: DEVICE_REMOVAL to each of its ids, which can only be ended from then on. */
void io_ucma_remove_device(struct io_ucma *u, const struct io_device *dev);

#endif
