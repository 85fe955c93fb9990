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
	/* Task 1: your code. Until then: .retry_cnt = 0, */
	.retry_cnt = 7,
	/* End of task 1. */
	.timeout = 14,
	.rnr_retry = 7,
	.min_rnr_timer = 1,
};

/*
 * Task 2: takes the completions of the receiving end, one for each message that it was given, and
 * counts in times[N] how often message N came. The message's number is the first byte that the
 * receive with this wr_id got: there->memory[wr_id * 64]. ibv_poll_cq returns 0 when there are no
 * more.
 */
static void count_deliveries(struct lab_end *there, unsigned times[MESSAGES])
{
	/* Task 2: your code. Until then: (void)there; (void)times; */
	struct ibv_wc wc;

	while (ibv_poll_cq(there->cq, 1, &wc) > 0)
		if (wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV)
			times[there->memory[wc.wr_id * 64]]++;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

/* Sends these messages, one after the other; the first byte of each is its number. */
static bool send_all(struct lab_end *here, const uint8_t *number, unsigned n)
{
	const char *status;
	struct ibv_wc wc;

	for (unsigned i = 0; i < n; i++) {
		here->memory[0] = number[i];
		lab_send(here, i, 0, 1);
		status = lab_status(here, &wc);
		if (!lab_check(wc.status == IBV_WC_SUCCESS,
			       "task 1: message %u is acknowledged (completion: %s)", i + 1,
			       status))
			return false;
	}
	return true;
}

static void judge(struct lab_end *there, const unsigned want[MESSAGES], const char *when)
{
	unsigned times[MESSAGES + 1] = {0};

	count_deliveries(there, times);
	for (unsigned i = 0; i < MESSAGES; i++)
		lab_check(times[i] == want[i], "task 2: message %u was counted %s%s (%u)", i + 1,
			  want[i] == 0   ? "never"
			  : want[i] == 1 ? "once"
					 : "twice",
			  when, times[i]);
	lab_check(lab_is_quiet(there), "task 2: all completions were taken");
}

/* Receives that end because the queue pair is in ERR are no messages. */
static void judge_flushed(struct lab_end *there)
{
	static const unsigned none[MESSAGES];
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_wc wc;

	lab_check(ibv_modify_qp(there->qp, &attr, IBV_QP_STATE) == 0 && lab_wait(there, &wc) &&
			  wc.status == IBV_WC_WR_FLUSH_ERR,
		  "a receive that is left is flushed");
	judge(there, none, " among those that were flushed");
}

static bool are_possible(void)
{
	return lab_check(knobs.timeout != 0,
			 "task 1: the requester does not wait for ever (timeout %u)",
			 knobs.timeout) &&
	       lab_check(knobs.timeout < 32, "task 1: a timeout has five bits (timeout %u)",
			 knobs.timeout) &&
	       lab_check(knobs.retry_cnt < 8,
			 "task 1: the requester tries again at most 7 times (retry_cnt %u)",
			 knobs.retry_cnt);
}

int main(void)
{
	static const uint8_t all[MESSAGES] = {0, 1, 2, 3, 4}, some[] = {3, 1, 3};
	static const unsigned once[MESSAGES] = {1, 1, 1, 1, 1}, of_some[MESSAGES] = {0, 1, 0, 2, 0};
	struct lab lab;
	struct lab_end here, there;

	if (!are_possible())
		return lab_result();
	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE);
	lab_connect(&lab, &here, &there, &knobs);
	for (unsigned i = 0; i < 2 * MESSAGES; i++)
		lab_recv(&there, i, i * 64, 64);
	if (send_all(&here, all, MESSAGES)) {
		judge(&there, once, "");
		if (send_all(&here, some, sizeof(some)))
			judge(&there, of_some, " of 4, 2, 4");
		judge_flushed(&there);
	}
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
