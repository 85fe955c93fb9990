/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab rnr: the receiver has four receives and gets twelve messages, and three times it is not ready
 * although it should be. Nobody gives up.
 */
#include "lab.h"

#include <string.h>

#define MESSAGES 12
#define RECEIVES 4
#define SLOT     64

/*
 * Task 1: how patient this requester is with a receiver that is not ready: rnr_retry is how often
 * it tries again after an RNR NAK before the request fails with RNR_RETRY_EXC_ERR.
 */
static const struct lab_knobs knobs = {
	/* Task 1: your code. Until then: .rnr_retry = 0, */
	.rnr_retry = 7,
	/* End of task 1. */
	.timeout = 14,
	.retry_cnt = 7,
	.min_rnr_timer = 1,
};

/*
 * Task 2: a message has arrived; wc is its completion. The receive is used up. Posts the same one
 * again: the same wr_id, and its slot of SLOT bytes at wr_id * SLOT (lab_recv).
 */
static void on_arrival(struct lab_end *there, const struct ibv_wc *wc)
{
	/* Task 2: your code. Until then: (void)there; (void)wc; */
	lab_recv(there, wc->wr_id, (uint32_t)wc->wr_id * SLOT, SLOT);
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static bool send_one(struct lab_end *here, struct lab_end *there, unsigned i)
{
	unsigned task = i < RECEIVES ? 1 : 2;
	const char *status;
	struct ibv_wc wc;

	memset(here->memory, (int)i, SLOT);
	lab_send(here, i, 0, SLOT);
	status = lab_status(here, &wc);
	if (!lab_check(wc.status == IBV_WC_SUCCESS,
		       "task %u: message %u was taken (completion: %s)", task, i + 1, status))
		return false;
	if (!lab_wait(there, &wc) || wc.status != IBV_WC_SUCCESS)
		return lab_check(false, "message %u did not arrive", i + 1);
	if (!lab_check(wc.wr_id == i % RECEIVES,
		       "task 2: message %u took the receive whose turn it is, wr_id %u (%llu)",
		       i + 1, i % RECEIVES, (unsigned long long)wc.wr_id))
		return false;
	if (!lab_check(memcmp(there->memory + wc.wr_id * SLOT, here->memory, SLOT) == 0,
		       "task 2: message %u is in the slot of its receive", i + 1))
		return false;
	on_arrival(there, &wc);
	return true;
}

/* A message that is too long for a receive ends the connection, and the other receives with it. */
static void judge_receives(struct lab_end *here, struct lab_end *there)
{
	const char *status;
	unsigned left = 0;
	struct ibv_wc wc;

	lab_send(here, MESSAGES, 0, SLOT + 1);
	status = lab_status(here, &wc);
	if (!lab_check(wc.status == IBV_WC_REM_INV_REQ_ERR,
		       "task 2: a receive has room for %u bytes and not one more (completion of %u "
		       "bytes: %s)",
		       SLOT, SLOT + 1, status))
		return;
	while (left < RECEIVES && lab_wait(there, &wc))
		left++;
	lab_check(left == RECEIVES && lab_is_quiet(there),
		  "task 2: %u receives are left, one for each that there was", RECEIVES);
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;
	unsigned sent = 0;

	if (!lab_check(knobs.rnr_retry < 8, "task 1: rnr_retry is 7 at most (%u)", knobs.rnr_retry))
		return lab_result();
	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE);
	lab_connect(&lab, &here, &there, &knobs);
	for (unsigned i = 0; i < RECEIVES; i++)
		lab_recv(&there, i, i * SLOT, SLOT);
	while (sent < MESSAGES && send_one(&here, &there, sent))
		sent++;
	if (sent == MESSAGES)
		judge_receives(&here, &there);
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
