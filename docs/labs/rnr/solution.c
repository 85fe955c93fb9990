/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab rnr: the receiver has four receives and gets twelve messages, and three times it is not ready
 * although it should be. Nobody gives up.
 */
#include "lab.h"

#define MESSAGES 12
#define RECEIVES 4
#define SLOT     64

/*
 * Task 1: how patient this requester is with a receiver that is not ready: rnr_retry is how often
 * it tries again after an RNR NAK before the request fails with RNR_RETRY_EXC_ERR.
 */
static const struct lab_knobs knobs = {
	.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};

/*
 * Task 2: a message has arrived; wc is its completion. The receive is used up. Posts the same one
 * again: the same wr_id, and its slot of SLOT bytes at wr_id * SLOT (lab_recv).
 */
static void on_arrival(struct lab_end *there, const struct ibv_wc *wc)
{
	lab_recv(there, wc->wr_id, (uint32_t)wc->wr_id * SLOT, SLOT);
}

/* ---- the rest is complete ---- */

static bool send_one(struct lab_end *here, struct lab_end *there, unsigned i)
{
	unsigned task = i < RECEIVES ? 1 : 2;
	const char *status;
	struct ibv_wc wc;

	here->memory[0] = (uint8_t)i;
	lab_send(here, i, 0, SLOT);
	status = lab_status(here, &wc);
	if (!lab_check(wc.status == IBV_WC_SUCCESS,
		       "task %u: message %u was taken (completion: %s)", task, i + 1, status))
		return false;
	if (!lab_wait(there, &wc) || wc.status != IBV_WC_SUCCESS)
		return lab_check(false, "message %u did not arrive", i + 1);
	lab_check(there->memory[wc.wr_id * SLOT] == i, "message %u arrived in its turn", i + 1);
	on_arrival(there, &wc);
	return true;
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;

	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE);
	lab_connect(&lab, &here, &there, &knobs);
	for (unsigned i = 0; i < RECEIVES; i++)
		lab_recv(&there, i, i * SLOT, SLOT);
	for (unsigned i = 0; i < MESSAGES; i++)
		if (!send_one(&here, &there, i))
			break;
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
