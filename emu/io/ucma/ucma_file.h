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

/*
 * A process that opened the device: what all its ids take is counted here, whoever has them now
 * (a child, say). It is an account and gives no rights. Freed with the last file and id.
 */
struct ucma_owner {
	LIST_ENTRY(ucma_owner) link;
	struct io_ucma *ucma;
	pid_t pid;
	uint32_t refs;
	uint32_t numbers;            /* of ids and joins */
	uint32_t ports[UCMA_SPACES]; /* ids that hold a port of the range */
	uint64_t memory;             /* bytes (limits.client_memory) */
};

/* A port that ids hold, in one port space. */
struct ucma_port {
	LIST_ENTRY(ucma_port) link;
	uint16_t ps, port;
	uint32_t n;
	LIST_HEAD(, ucma_id) ids;
};

struct ucma_id {
	uint32_t slot;
	bool is_mcast; /* always false: what stands in a slot begins alike */
	uint64_t uid;  /* the program's name for it; 0: it does not know it yet */
	struct ucma_file *file;
	struct ucma_owner *owner;
	LIST_ENTRY(ucma_id) of_file;
	LIST_ENTRY(ucma_id) of_port;
	struct ucma_port *held;                        /* NULL: none */
	LIST_HEAD(, ucma_mcast) mcasts;                /* joins */
	TAILQ_HEAD(ucma_id_events, ucma_event) events; /* that wait, of its joins too */
	struct ucma_event *request; /* that waits, and names this id; NULL: none */
	uint32_t n_mcasts, n_events;
	uint16_t ps;
	uint16_t port_ps; /* of its port: ps, or what an AF_IB address says */
	uint8_t qp_type;
	enum ucma_state state;
	struct ucma_addr src, dst;
	struct io_device *dev;  /* NULL: any */
	uint8_t local_gid[16];  /* with dev: which of its addresses */
	uint8_t remote_gid[16]; /* of the peer; differs from dst where that is an alias */
	struct cm *cm;
	uint32_t backlog; /* requests that may still wait to be taken */
	bool reuse_address, family_only;
	bool family_set; /* family_only is the program's choice */
	uint8_t tos, ack_timeout;
	uint32_t events_reported;
};

struct ucma_mcast {
	uint32_t slot;
	bool is_mcast;
	uint64_t uid;
	struct ucma_id *id;
	LIST_ENTRY(ucma_mcast) of_id;
	LIST_HEAD(, ucma_event) events; /* that wait */
	struct ucma_addr group;
	uint32_t events_reported;
};

struct ucma_event {
	TAILQ_ENTRY(ucma_event) link; /* of the file */
	TAILQ_ENTRY(ucma_event) of_id;
	LIST_ENTRY(ucma_event) of_mcast;
	struct ucma_id *id;       /* to whom it is counted */
	struct ucma_mcast *mcast; /* and to whom besides, or NULL */
	struct ucma_id *request;  /* CONNECT_REQUEST: the new id */
	bool held;                /* DISCONNECTED: its reader has completions to read first */
	struct rdma_ucm_event_resp resp;
};

struct ucma_file {
	struct io_ucma *ucma;
	TAILQ_ENTRY(ucma_file) link;
	int sock;         /* owned */
	char program[33]; /* as its library calls it */
	uint64_t cookie;  /* of the client's end (SO_COOKIE); 0 before HELLO */
	struct io_watch readable;
	struct ucma_owner *owner; /* the process that opened it */
	bool has_part;            /* it may use those devices of the daemon only: */
	uint64_t part;            /* bits, by their index */
	bool ending;              /* it is closed: nobody hears of its ids any more */
	struct io_slow_calls slow;
	LIST_HEAD(, ucma_id) ids;
	TAILQ_HEAD(ucma_events, ucma_event) events;
	bool token_out;      /* the client has the token, or it is on its way */
	bool token_recalled; /* UHCA_UCMA_TAKE_TOKEN was said: it may come back unused */
	bool has_promise;
	struct rdma_ucm_event_resp promise; /* ucma_event_promise() */
};

#define UDP_QKEY 0x01234567 /* of datagrams, unless the program says another one */

#define UCMA_NUMBERS 65536u /* ids and joins: librdmacm has no room for larger numbers */
#define UCMA_JOINS   1024u  /* of one id */
#define UCMA_WAITING 4096u  /* events of one id, before it can cause no more */
#define UCMA_SHARING 1024u  /* ids that have the same port */

/* May what is done with this file use the device? */
static inline bool ucma_may_use(const struct ucma_file *f, const struct io_device *dev)
{
	return !f->has_part || f->part >> dev->id.index & 1;
}

/* ---- ucma_owner.c ---- */

/* The account of a process, which is made for its first. NULL when there is no memory. */
struct ucma_owner *ucma_owner_get(struct io_ucma *u, pid_t pid);
void ucma_owner_put(struct ucma_owner *o);

/*
 * Of a number of things that are there for all, a process may have as many as it leaves to the
 * others: may it have one more? have: its own; used: everybody's.
 */
static inline bool ucma_is_fair(uint32_t have, uint32_t used, uint32_t all)
{
	return used < all && have < all - used;
}

/* May it have so many bytes more? */
bool ucma_owner_has_room(const struct ucma_owner *o, uint64_t bytes);

/* ---- ucma_end.c ---- */

/* The file is closed, and its ids end: now, or later in parts. */
void ucma_file_end(struct ucma_file *f);

/* The id ends later: a request that nobody took, and that is not told to anybody any more. */
void ucma_id_end_later(struct ucma_id *id);

/* Frees all that is left. */
void ucma_end_all(struct io_ucma *u);

/* ---- ucma_number.c ---- */

/* A number for an id or a join of this process. 0; -ENOMEM: it has its share, or no memory. */
int ucma_number_take(struct ucma_owner *o, void *object, uint32_t *number);
void ucma_number_release(struct ucma_owner *o, uint32_t number);
/* What has this number, or NULL. */
void *ucma_number_find(const struct io_ucma *u, uint32_t number);

/* ---- ucma_backlog.c ---- */

/*
 * May a request of this GID wait at the listener? Where the backlog is full, a host that has at
 * least two more waiting than this one loses its newest, which is dropped.
 */
bool ucma_backlog_has_room(struct ucma_id *listener, const uint8_t gid[16]);

/* ---- ucma_event.c ---- */

/* A fresh event of the id; NULL when there is no memory: then it is lost, and logged. */
struct ucma_event *ucma_event_new(struct ucma_id *id, uint32_t event, int32_t status);
void ucma_event_post(struct ucma_event *e);
/* May it have one more, for what the program asks? */
bool ucma_event_has_room(const struct ucma_id *id);
/* -ENOMEM: it may not. */
int ucma_events_wait(void);
/* Both at once, for events that say nothing else. */
void ucma_event_simple(struct ucma_id *id, uint32_t event, int32_t status);

/*
 * Before the id ends: does somebody hold the token, who will ask for the oldest event, and is that
 * this id's? Then it gets it all the same, as if it had asked a moment sooner: what poll(2) has
 * said stays true, and a thread does not wait for ever. The id's end waits for the acknowledgement.
 */
void ucma_event_promise(struct ucma_id *id);

/* Drops what waits for this id (or group), and the ids whose requests were among it. */
void ucma_event_drop(struct ucma_id *id, struct ucma_mcast *mcast);

/* What waits for this id goes to the other file, too. */
void ucma_event_move(struct ucma_id *id, struct ucma_file *to);

/* An event of the id is not held any longer. */
void ucma_event_release(const struct ucma_id *id);

/* Is there something to take, or to get as it was promised? */
bool ucma_event_ready(const struct ucma_file *f);

/* Hands out the token if there is something to take. */
void ucma_token(struct ucma_file *f);

/* The ops of the core's communication manager. */
extern const struct core_cm_ops ucma_cm_ops;

/* ---- ucma_id.c ---- */

/* NULL when there is no memory, or the process has its share. */
struct ucma_id *ucma_id_create(struct ucma_file *f, uint16_t ps, uint8_t qp_type);
void ucma_id_destroy(struct ucma_id *id);
/*
 * The file's own id of this number, or NULL; a request has none before it is taken. The command
 * that is served is about it.
 */
struct ucma_id *ucma_id_find(const struct ucma_file *f, uint32_t slot);

/* -ENOENT: the file has no id of the number that was looked for. */
int ucma_no_id(void);
/* -EINVAL: what cannot be done in the id's state. */
int ucma_wrong_state(const struct ucma_id *id, const char *what);

void ucma_mcast_destroy(struct ucma_mcast *m);

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
 * Gives the id its port (0: a free one). 0; -EPROTONOSUPPORT: the service id of its AF_IB address
 * is of another port space; -EADDRINUSE: somebody has the same address there;
 * -EADDRNOTAVAIL: one of the two has all addresses, or no port is free, or the process has its
 * share of them; -ENOMEM.
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
	struct ucma_id *id;        /* that it is about; of those whose row in ucma.c says where */
	const void *in;            /* the command's structure, with zeroes behind */
	const uint8_t *name;       /* HELLO: the program's */
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

/* Something may have been given to a device to send, whatever was done (ucma.c). */
void ucma_wake_devices(const struct io_ucma *u);

/* ---- ucma_fault.c ---- */

/* As rules name a command (ucma.c); "" or NULL: not known to them. */
const char *ucma_rule_name(uint32_t cmd);

/* What rules say of a command. */
struct io_call_fault ucma_fault(struct ucma_file *f, uint32_t cmd);
/* The command does not fail with it: it works, and an event tells of it. */
bool ucma_fault_comes_later(uint32_t cmd, int error);

/* The file by an end of its connection that a client passed; NULL when it is none of ours. */
struct ucma_file *ucma_file_of(const struct io_ucma *u, int fd);

#endif
