/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab lost-ack: five messages, and the acknowledgement of the third is lost. The requester sends
 * that message again; the receiver gets it once.
 */
#include "lab.h"

#define MESSAGES 5

/*
 * Task 1: how long and how often this requester tries. 4.096 us * 2^timeout is the time after which
 * it sends again when no answer came; retry_cnt is how often it does before it gives up.
 */
static const struct lab_knobs knobs = {
	.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};

/*
 * Task 2: takes the completions of the receiving end, one for each message that it was given, and
 * counts in times[N] how often message N came. The message's number is the first byte that the
 * receive with this wr_id got: there->memory[wr_id * 64]. ibv_poll_cq returns 0 when there are no
 * more.
 */
static void count_deliveries(struct lab_end *there, unsigned times[MESSAGES])
{
	struct ibv_wc wc;

	while (ibv_poll_cq(there->cq, 1, &wc) > 0)
		if (wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV)
			times[there->memory[wc.wr_id * 64]]++;
}

/* ---- the rest is complete ---- */

static bool send_all(struct lab_end *here)
{
	const char *status;
	struct ibv_wc wc;

	for (unsigned i = 0; i < MESSAGES; i++) {
		here->memory[i] = (uint8_t)i;
		lab_send(here, i, i, 1);
		status = lab_status(here, &wc);
		if (!lab_check(wc.status == IBV_WC_SUCCESS,
			       "task 1: message %u is acknowledged (completion: %s)", i + 1,
			       status))
			return false;
	}
	return true;
}

static void judge(struct lab_end *there)
{
	unsigned times[MESSAGES] = {0};

	count_deliveries(there, times);
	for (unsigned i = 0; i < MESSAGES; i++)
		lab_check(times[i] == 1, "task 2: message %u was counted once (%u)", i + 1,
			  times[i]);
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;

	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE);
	lab_connect(&lab, &here, &there, &knobs);
	for (unsigned i = 0; i < 2 * MESSAGES; i++)
		lab_recv(&there, i, i * 64, 64);
	if (send_all(&here))
		judge(&there);
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
