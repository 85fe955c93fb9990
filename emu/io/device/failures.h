/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a device refused or dropped packets and failed requests, kept for a while for those who ask
 * (cmd_peer.h): the newest of each device. It outlives queue pair and process, so whose they were
 * is kept as well.
 */
#ifndef IO_FAILURES_H
#define IO_FAILURES_H

#include "emu/core/core.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define IO_FAILURES 64u

struct io_failure {
	uint32_t qpn;
	uint32_t code; /* enum core_drop, enum core_judgement, or the status of the completion */
	enum core_trace_point point; /* RX_DROP, JUDGED or CQE */
	uid_t uid;
	struct uhca_abi_cause cause;
};

struct io_failures {
	uint32_t n; /* so many there were; the newest is at[(n - 1) % IO_FAILURES] */
	struct io_failure at[IO_FAILURES];
};

/* What the core must tell for it (core_hooks_set): nothing of that comes while all goes well. */
#define IO_FAILURES_HOOKS (1u << CORE_TRACE_RX_DROP | 1u << CORE_TRACE_JUDGED | CORE_HOOK_ERRORS)

/* Is it one, with a cause? */
bool io_failure_is(const struct core_trace *t);

/* Keeps it; the user is that of the queue pair. */
void io_failures_add(struct io_failures *all, const struct core_trace *t, uid_t uid);

/*
 * Why the QP of this user failed a request whose sender now has this status (UHCA_ABI_WC_*): what
 * was refused, or for RETRY_EXC_ERR dropped. NULL: not known.
 */
const struct io_failure *io_failures_of(const struct io_failures *all, uint32_t qpn, uid_t uid,
					uint8_t status);

/* Why it dropped a packet the last time. NULL: not known. */
const struct io_failure *io_failures_dropped(const struct io_failures *all, uint32_t qpn,
					     uid_t uid);

/* Why the QP's own request completed with this status. NULL: not known. */
const struct io_failure *io_failures_own(const struct io_failures *all, uint32_t qpn, uid_t uid,
					 uint8_t status);

#endif
