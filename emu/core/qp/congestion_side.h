/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a QP keeps of congestion control, as reaction point and as notification point; all times are
 * the network's (device_network_now). Data only; the congestion module works with it.
 */
#ifndef CORE_CONGESTION_SIDE_H
#define CORE_CONGESTION_SIDE_H

#include "emu/core/base/base.h"
#include "emu/core/cc/cc.h"

#include <stdbool.h>
#include <stdint.h>

struct qp;

struct congestion {
	struct qp *qp;
	struct cc_flow flow;
	/* What has left and is not paid for, in 10^-9 bits; less than 0: may leave at once. */
	int64_t owed;
	uint64_t owed_at;   /* when that was so */
	bool waits;         /* for its rate */
	struct timer timer; /* of dev->rates: then it goes on */
	/* The packet whose round trip is measured. */
	bool timing;
	uint32_t timed_psn;
	uint64_t timed_at;
	uint64_t rtt; /* ns, of the last one; 0: none yet */
	uint64_t acked;
	bool echoed; /* the ACK at hand says that a packet was marked */
	uint64_t cnps_handled;
	/* The notification point. */
	uint64_t next_cnp; /* not before */
	bool cnp_due;
	bool echo_due; /* the next ACK says that a packet was marked */
};

#endif
