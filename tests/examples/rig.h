/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every example needs and none is about: options, processes that find each other, a device
 * that is opened, queue pairs that are connected, completions that are waited for. An example is
 * one function that runs in each of its processes, an "end". Ends tell each other queue pair
 * numbers and addresses through a socket, as programs do by TCP before RDMA begins.
 *
 * Whatever fails ends the end with a message and status 1: an example has nothing to save.
 */
#ifndef EXAMPLES_RIG_H
#define EXAMPLES_RIG_H

#include <infiniband/uhcadv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RIG_ENDS    9u  /* processes of one example, at most */
#define RIG_WR      64u /* requests of each queue */
#define RIG_SGE     4u
#define RIG_ENTRIES 64u /* of the lists that are posted */

struct rig_options {
	const char *text;        /* for --help: what the example shows */
	const char *device;      /* of end 0; NULL: the first there is */
	const char *peer_device; /* of the others; NULL: the same */
	const char *peer_dir;    /* $UHCA_DIR of the others, on another daemon; NULL: the same */
	uint64_t rounds;
	uint64_t seed;
	uint64_t clients; /* 0: the example has no such option */
	/*
	 * What the rig tells itself when it starts the program anew for an end of another daemon.
	 */
	char **argv;
	uint64_t end, socket;
};

/* One process of the example. */
struct end {
	unsigned who; /* 0 is the one that was started */
	const struct rig_options *o;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq; /* of all its queue pairs */
	union ibv_gid gid;
	struct uhcadv_device_attr attr;
	int to[RIG_ENDS]; /* sockets: end 0 has one to each, each has one to end 0 */
};

__attribute__((noreturn, format(printf, 1, 2))) void rig_die(const char *format, ...);

/*
 * Reads the command line into o, which has the defaults, and prints the seed; --help and mistakes
 * end the program.
 */
void rig_options(struct rig_options *o, int argc, char **argv);

/*
 * Runs part in so many processes, with the device open. Returns the exit status: 0 when all ended
 * well. part destroys what it made; that nothing is left is checked.
 */
int rig_run(const struct rig_options *o, unsigned ends, void (*part)(struct end *));

/* Tells end "who" so many bytes, and is told as many. Also a way to wait for each other. */
void rig_swap(struct end *e, unsigned who, const void *mine, void *theirs, size_t size);
void rig_meet(struct end *e, unsigned who);

/* ---- objects ---- */

/* An RC queue pair in RESET; connected with one that end "who" connects with ours. */
struct ibv_qp *rig_qp(struct end *e);
void rig_connect(struct end *e, struct ibv_qp *qp, unsigned who);

/* With another queue pair of this process, or with itself. */
void rig_connect_here(struct end *e, struct ibv_qp *qp, uint32_t other);

struct ibv_mr *rig_reg(struct end *e, void *addr, size_t length, int access);
struct ibv_mr *rig_key(struct end *e, uint32_t max_entries);
void rig_free_mr(struct ibv_mr *mr);
void rig_free_qp(struct ibv_qp *qp);

/* Zeroed, of whole pages. */
void *rig_memory(size_t length);

/* ---- work ---- */

void rig_post(struct ibv_qp *qp, struct ibv_send_wr *wr);
void rig_post_dv(struct ibv_qp *qp, struct uhcadv_send_wr *wr);
void rig_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge sge);

/* The next completion, whatever it is; or a success; or n of them. */
struct ibv_wc rig_poll(struct end *e);
struct ibv_wc rig_success(struct end *e);
void rig_successes(struct end *e, unsigned n);

/* The next number of a sequence that begins with a seed. */
uint64_t rig_random(uint64_t *state);

#endif
