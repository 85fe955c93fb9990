/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the handlers of control messages share: the request at hand, the reply they fill, and the
 * list of them (cmd_server.c has the table). A handler returns 0 or -errno; the sizes of request
 * and descriptors have been checked, and the reserved field that the table names.
 */
#ifndef IO_CMD_HANDLER_H
#define IO_CMD_HANDLER_H

#include "client.h"
#include "emu/io/local/local.h"
#include "emu/io/mem/memory.h"

/* The longest reply, and what travels with it. */
struct cmd_reply {
	union {
		struct uhca_cmd_reply h;
		struct uhca_cmd_refusal refusal;
		struct uhca_cmd_hello_reply hello;
		struct uhca_cmd_handle_reply handle;
		struct uhca_cmd_device_attr device;
		struct uhca_cmd_port_attr port;
		struct uhca_cmd_gid_reply gid;
		struct uhca_cmd_reg_mr_reply reg_mr;
		struct uhca_cmd_alloc_mw_reply alloc_mw;
		struct uhca_cmd_alloc_dm_reply alloc_dm;
		struct uhca_cmd_create_cq_reply create_cq;
		struct uhca_cmd_create_comp_cntr_reply create_comp_cntr;
		struct uhca_cmd_create_qp_reply create_qp;
		struct uhca_cmd_query_qp_reply query_qp;
		struct uhca_cmd_open_qp_reply open_qp;
		struct uhca_cmd_create_srq_reply create_srq;
		struct uhca_cmd_query_srq_reply query_srq;
		struct uhca_cmd_export_reply export;
		struct uhca_cmd_import_reply import;
		struct uhca_cmd_fault_check_reply fault_check;
		struct uhca_cmd_query_peer_reply query_peer;
	};
	int fd[UHCA_ABI_MAX_FDS];
	unsigned n_fds;
	struct io_shm *ring; /* its descriptor goes with the reply and is not needed afterwards */
};

struct cmd {
	struct io_client *client;
	const void *msg;
	struct io_fds *fds;
	const struct io_call_fault *fault; /* what rules say of it */
};

/* The object that a command names which says nothing else. */
static inline uint32_t cmd_handle_of(const struct cmd *r)
{
	return ((const struct uhca_cmd_handle *)r->msg)->handle;
}

/* The descriptor of the region that a create verb made goes with the reply. */
void cmd_reply_ring(struct cmd_reply *rep, const struct core_ring *ring);

/* So does that of device memory, which others may ask for later, too. */
void cmd_reply_dm(struct cmd_reply *rep, const struct core_ring *ring);

typedef int cmd_handler(struct cmd *r, struct cmd_reply *rep);

/* cmd_context.c */
cmd_handler cmd_hello, cmd_query_device, cmd_query_port, cmd_query_gid;
cmd_handler cmd_create_channel, cmd_destroy_channel;
cmd_handler cmd_create_ah, cmd_destroy_ah;
cmd_handler cmd_fault_check;
cmd_handler cmd_refused;

/* cmd_memory.c */
cmd_handler cmd_alloc_pd, cmd_dealloc_pd;
cmd_handler cmd_reg_mr, cmd_dereg_mr, cmd_rereg_mr, cmd_alloc_null_mr, cmd_advise_mr;
cmd_handler cmd_alloc_mw, cmd_dealloc_mw;
cmd_handler cmd_alloc_dm, cmd_free_dm, cmd_reg_dm_mr, cmd_reg_shared_mr;
cmd_handler cmd_attach_arena, cmd_reg_pinned_mr;
cmd_handler cmd_alloc_key, cmd_describe_key;

/* cmd_import.c */
cmd_handler cmd_export, cmd_import;

/* cmd_queue.c */
cmd_handler cmd_create_cq, cmd_resize_cq, cmd_modify_cq, cmd_notify_cq, cmd_destroy_cq;
cmd_handler cmd_create_srq, cmd_modify_srq, cmd_resize_srq, cmd_query_srq, cmd_destroy_srq;
cmd_handler cmd_create_qp, cmd_modify_qp, cmd_query_qp, cmd_destroy_qp;
cmd_handler cmd_attach_mcast, cmd_detach_mcast;
cmd_handler cmd_open_xrcd, cmd_close_xrcd, cmd_open_qp;
cmd_handler cmd_create_comp_cntr, cmd_destroy_comp_cntr;
cmd_handler cmd_set_comp_cntr, cmd_inc_comp_cntr, cmd_attach_comp_cntr;
cmd_handler cmd_create_flow, cmd_destroy_flow;
cmd_handler cmd_create_wq, cmd_modify_wq, cmd_destroy_wq;
cmd_handler cmd_create_rwq_ind_table, cmd_destroy_rwq_ind_table;

/* cmd_peer.c */
cmd_handler cmd_query_peer;

/* Verbs that take a handle and nothing else, such as those that end an object's life. */
#define CMD_OF_HANDLE(name, verb)                                                                  \
	int name(struct cmd *r, struct cmd_reply *rep)                                             \
	{                                                                                          \
		(void)rep;                                                                         \
		return verb(r->client->core, cmd_handle_of(r));                                    \
	}

/* The same with a reply. */
#define CMD_QUERY(name, verb, reply)                                                               \
	int name(struct cmd *r, struct cmd_reply *rep)                                             \
	{                                                                                          \
		return verb(r->client->core, cmd_handle_of(r), &rep->reply);                       \
	}

/* Verbs that take the request as it is: without a reply, with one, with one and a region. */
#define CMD_OF_REQUEST(name, verb)                                                                 \
	int name(struct cmd *r, struct cmd_reply *rep)                                             \
	{                                                                                          \
		(void)rep;                                                                         \
		return verb(r->client->core, r->msg);                                              \
	}

#define CMD_WITH_REPLY(name, verb, reply)                                                          \
	int name(struct cmd *r, struct cmd_reply *rep)                                             \
	{                                                                                          \
		return verb(r->client->core, r->msg, &rep->reply);                                 \
	}

#define CMD_WITH_RING(name, verb, reply)                                                           \
	int name(struct cmd *r, struct cmd_reply *rep)                                             \
	{                                                                                          \
		struct core_ring ring;                                                             \
		int error = verb(r->client->core, r->msg, &rep->reply, &ring);                     \
                                                                                                   \
		if (error == 0)                                                                    \
			cmd_reply_ring(rep, &ring);                                                \
		return error;                                                                      \
	}

#endif
