/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the rdma_cm device: a file is one open of it, an id (struct rdma_cm_id of
 * librdmacm) belongs to one file, and so do its events until they are taken. What the handlers of
 * commands share is at the end; the table of them is in ucma.c.
 */
#ifndef IO_UCMA_FILE_H
#define IO_UCMA_FILE_H

#include "emu/abi/ucma_call.h"
#include "emu/core/core_cm.h"
#include "emu/io/device/devices.h"
#include "emu/io/local/local.h"
#include "ucma.h"
#include "ucma_addr.h"

#include <ev.h>
#include <rdma/rdma_user_cm.h>

enum ucma_state {
	UCMA_IDLE,
	UCMA_BOUND,
	UCMA_ADDR_RESOLVED,
	UCMA_ROUTE_RESOLVED,
	UCMA_LISTENING,
	UCMA_CONNECTING, /* from connect, or from the peer's request, to the end */
	UCMA_REMOVED,    /* its device has failed */
};

struct ucma_id {
	uint32_t slot;
	bool is_mcast; /* always false: what stands in a slot begins alike */
	uint64_t uid;  /* the program's name for it; 0: it does not know it yet */
	struct ucma_file *file;
	LIST_ENTRY(ucma_id) of_file;
	LIST_ENTRY(ucma_id) of_port; /* while holds_port */
	bool holds_port;
	uint16_t ps;
	uint8_t qp_type;
	enum ucma_state state;
	struct ucma_addr src, dst;
	struct io_device *dev;  /* NULL: any */
	uint8_t local_gid[16];  /* with dev: which of its addresses */
	uint8_t remote_gid[16]; /* of the peer; differs from dst where that is an alias */
	struct cm *cm;
	uint32_t backlog; /* requests that may still wait to be taken */
	bool reuse_address, family_only;
	bool family_told; /* family_only is the program's choice */
	uint8_t tos, ack_timeout;
	uint32_t events_reported;
};

struct ucma_mcast {
	uint32_t slot;
	bool is_mcast;
	uint64_t uid;
	struct ucma_id *id;
	LIST_ENTRY(ucma_mcast) of_file;
	struct ucma_addr group;
	uint32_t events_reported;
};

struct ucma_event {
	TAILQ_ENTRY(ucma_event) link;
	struct ucma_id *id;       /* to whom it is counted */
	struct ucma_mcast *mcast; /* and to whom besides, or NULL */
	struct ucma_id *request;  /* CONNECT_REQUEST: the new id */
	struct rdma_ucm_event_resp resp;
};

struct ucma_file {
	struct io_ucma *ucma;
	TAILQ_ENTRY(ucma_file) link;
	int sock;       /* owned */
	uint64_t inode; /* of the client's end; 0 before HELLO */
	ev_io readable;
	pid_t pid; /* of the process that opened it */
	struct io_slow_calls slow;
	LIST_HEAD(, ucma_id) ids;
	LIST_HEAD(, ucma_mcast) mcasts;
	TAILQ_HEAD(ucma_events, ucma_event) events;
	bool token_out;      /* the client has the token, or it is on its way */
	bool token_recalled; /* UHCA_UCMA_TAKE_TOKEN was said: it may come back unused */
	bool has_promise;
	struct rdma_ucm_event_resp promise; /* ucma_event_promise() */
};

/* ---- ucma_backlog.c ---- */

/*
 * May a request of this GID wait at the listener? Where the backlog is full, a host that has at
 * least two more waiting than this one loses its newest, which is refused.
 */
bool ucma_backlog_has_room(struct ucma_id *listener, const uint8_t gid[16]);

/* ---- ucma_event.c ---- */

/* A fresh event of the id; NULL when there is no memory: then it is lost, and logged. */
struct ucma_event *ucma_event_new(struct ucma_id *id, uint32_t event, int32_t status);
void ucma_event_post(struct ucma_event *e);
/* Both at once, for events that say nothing else. */
void ucma_event_simple(struct ucma_id *id, uint32_t event, int32_t status);

/*
 * Before the id ends: does somebody hold the token, who will ask for the oldest event, and is that
 * this id's? Then it gets it all the same, as if it had asked a moment sooner: what poll(2) has
 * said stays true, and a thread does not wait for ever. The id's end waits for the acknowledgement.
 */
void ucma_event_promise(struct ucma_id *id);

/* Takes the oldest event; false when there is none. */
bool ucma_event_take(struct ucma_file *f, struct rdma_ucm_event_resp *out);

/* Drops what waits for this id (or group), and the ids whose requests were among it. */
void ucma_event_drop(const struct ucma_id *id, const struct ucma_mcast *mcast);

/* What waits for this id goes to the other file, too. */
void ucma_event_move(const struct ucma_id *id, struct ucma_file *to);

/* Hands out the token if there is something to take. */
void ucma_token(struct ucma_file *f);

/* The ops of the core's communication manager. */
extern const struct core_cm_ops ucma_cm_ops;

/* ---- ucma_id.c ---- */

/* NULL when there is no memory. */
struct ucma_id *ucma_id_create(struct ucma_file *f, uint16_t ps, uint8_t qp_type);
void ucma_id_destroy(struct ucma_id *id);
/* The file's own id of this number, or NULL. */
struct ucma_id *ucma_id_find(const struct ucma_file *f, uint32_t slot);

void ucma_mcast_destroy(struct ucma_mcast *m);

/* A place in the table of numbers. 0 or -ENOMEM. */
int ucma_slot_take(struct io_ucma *u, void *object, uint32_t *slot);
void ucma_slot_release(struct io_ucma *u, uint32_t slot);

/* The service id on which it listens, or connects to with the port of "to". */
uint64_t ucma_service_id(const struct ucma_id *id, const struct ucma_addr *to);

/* ---- ucma_resolve.c ---- */

/*
 * Where an id with a device and a destination calls: its remote_gid. No address at all means the
 * device itself. For localhost it depends on who listens now, so connect asks again.
 */
void ucma_find_peer(struct ucma_id *id);

/* ---- ucma_port.c ---- */

/*
 * Gives the id its port (0: a free one). 0; -EADDRINUSE: it has the same address there;
 * -EADDRNOTAVAIL: one of the two has all addresses, or no port is free.
 */
int ucma_port_bind(struct ucma_id *id);
/*
 * May it listen on the port it has? Who does shares it with nobody, whatever was said before, not
 * with one who is only bound either. 0 or as above.
 */
int ucma_port_listen(struct ucma_id *id);
void ucma_port_release(struct ucma_id *id);
/* Who listens for this service id at this address; the more particular one. NULL: nobody. */
struct ucma_id *ucma_port_find_listener(struct io_ucma *u, uint64_t service_id,
					const uint8_t gid[16], const struct io_device *dev);

/* ---- commands ---- */

/* Those of enum rdma_ucm_commands that only later kernels' headers have. */
enum { UCMA_RESOLVE_IB_SERVICE = RDMA_USER_CM_CMD_JOIN_MCAST + 1, UCMA_WRITE_CM_EVENT };

struct ucma_reply {
	struct uhca_ucma_reply h;
	uint8_t response[UHCA_UCMA_MAX];
};

struct ucma_command {
	struct ucma_file *file;
	struct ucma_file *emptied; /* loses events: file, or the one that an id leaves */
	const void *in;            /* the command's structure, with zeroes behind */
	const void *option;        /* SET_OPTION */
	uint32_t option_len;
	struct io_fds *fds;
	struct ucma_reply *rep;
	int late_error; /* errno value that resolving is to find out; 0: none */
};

/* Returns 0 or -errno. */
typedef int ucma_handler(struct ucma_command *c);

/* Puts the response into the reply. */
void ucma_respond(struct ucma_command *c, const void *response, size_t len);

ucma_handler ucma_create_id, ucma_destroy_id, ucma_migrate_id; /* ucma_id.c */
ucma_handler ucma_set_option;
ucma_handler ucma_bind_ip, ucma_bind, ucma_resolve_ip, ucma_resolve_addr; /* ucma_resolve.c */
ucma_handler ucma_resolve_route, ucma_resolve_ib_service;
ucma_handler ucma_query_route, ucma_query;                        /* ucma_query.c */
ucma_handler ucma_connect, ucma_listen, ucma_accept, ucma_reject; /* ucma_connect.c */
ucma_handler ucma_disconnect, ucma_notify, ucma_init_qp_attr;
ucma_handler ucma_get_event;                                        /* ucma_event.c */
ucma_handler ucma_write_event;                                      /* ucma_user_event.c */
ucma_handler ucma_join_ip_mcast, ucma_join_mcast, ucma_leave_mcast; /* ucma_mcast.c */

/* ---- ucma_fault.c ---- */

/* What rules say of a command. */
struct io_call_fault ucma_fault(struct ucma_file *f, uint32_t cmd);
/* The command does not fail with it: it works, and an event tells of it. */
bool ucma_fault_comes_later(uint32_t cmd, int error);

/* The file by an end of its connection that a client passed; NULL when it is none of ours. */
struct ucma_file *ucma_file_of(const struct io_ucma *u, int fd);

#endif
