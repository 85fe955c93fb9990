/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a request failed, as the daemon knows it from both ends. */
#ifndef UHCAV_FAILED_H
#define UHCAV_FAILED_H

#include "ask.h"
#include "provider/diagnostic/diagnostic.h"

#include <infiniband/verbs.h>

/* A request that has completed with an error. */
struct uhcav_failed {
	struct uhcav_asker who;
	struct uhcav_request_name name;
	bool is_recv;
	uint32_t rkey; /* 0: none */
	uint64_t remote_addr, remote_length;
	enum ibv_wc_status status;
	const struct uhcav_stack *posted;
	const char *polled; /* what "here" has done; NULL: it has polled the completion */
};

/* "here" has polled the completion, or has not (polled). */
void uhcav_failed_explain(struct uhcav_here here, const struct uhcav_failed *f);

#endif
