/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the programs of tests/verbs share: a device opened through libibverbs, RC queue pairs of
 * one process connected in pairs, and a look at the daemon's process. Whatever fails ends the
 * program with a message and status 1: these programs are tests, and scripts read their words.
 */
#ifndef RIG_H
#define RIG_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RIG_DEPTH 16 /* work requests of each queue */

struct rig {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq; /* of all queue pairs; without a channel unless asked for */
	struct ibv_mr *mr;
	uint8_t *buf; /* of the MR */
	size_t size;
	union ibv_gid gid;
};

__attribute__((noreturn, format(printf, 1, 2))) void rig_die(const char *format, ...);

/* Opens the first device with a CQ of cqe entries and size bytes of registered memory. */
void rig_open(struct rig *r, int cqe, size_t size);
void rig_close(struct rig *r);

/* A channel, and a CQ on it, of which the caller is the owner. */
struct ibv_cq *rig_cq_with_events(struct rig *r, int cqe);

/* NULL with errno when the device refuses. srq and cq may be NULL: none, and the rig's. */
struct ibv_qp *rig_qp(struct rig *r, struct ibv_cq *cq, struct ibv_srq *srq);

/* Takes the QP from RESET, or whatever state it is in, to RTS with that QP of this device. */
void rig_connect(struct rig *r, struct ibv_qp *qp, uint32_t dest);
void rig_reset(struct ibv_qp *qp);

/* Posts; false when the provider refuses. offset and length are within the rig's memory. */
bool rig_post_recv(struct rig *r, struct ibv_qp *qp, uint32_t offset, uint32_t length);
bool rig_post_send(struct rig *r, struct ibv_qp *qp, uint32_t offset, uint32_t length);

/* Takes n completions, all of them successes, within the seconds. */
void rig_expect(struct rig *r, unsigned n, unsigned seconds);

/* ---- the daemon's process, by $UHCA_DIR/pid ---- */

struct rig_daemon {
	pid_t pid;
	long anonymous_kb;         /* resident memory of its own */
	long shared_kb;            /* resident memory that it shares with clients (memfd) */
	long ticks;                /* processor time, user and system */
	unsigned long long run_ns; /* the same, finer; 0 where the kernel does not count it */
	long fds;
	long regions; /* mappings that it shares with clients */
};

void rig_daemon(struct rig_daemon *out);

/*
 * How many KiB the daemon may have grown when it should not: kb, or what $UHCA_SLACK_KB says, for
 * daemons whose allocator keeps freed memory for long (sanitizers; they look for leaks themselves).
 */
long rig_slack_kb(long kb);

double rig_seconds(void);

/* Waits until the condition holds; false when the seconds are over. */
bool rig_until(bool (*condition)(void *), void *arg, double seconds);

#endif
