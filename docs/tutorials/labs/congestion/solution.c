/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab congestion: a sender that sends in rounds, hears that a switch on the way marks its packets,
 * and paces itself: fewer packets in the next round, and one more each when all is well.
 */
#include "lab.h"

#include <stdio.h>

#define ROUNDS 16
#define FIRST  8  /* packets of the first round */
#define MOST   32 /* of any round */
#define LENGTH 1024u

/*
 * Task 1: how many congestion notification packets (CNP) came back since the start: the counter
 * "cnps_received" of uhcactl counters (lab_counter).
 */
static uint64_t notifications(void)
{
	/* Task 1: your code. Until then: return 0; */
	return lab_counter("cnps_received");
	/* End of task 1. */
}

/*
 * Task 2: how many packets the next round has, after a round of window packets for which cnps
 * notifications came: half as many after any notification, but at least 1; else one more, but at
 * most MOST.
 */
static unsigned next_window(unsigned window, uint64_t cnps)
{
	/* Task 2: your code. Until then: (void)cnps; return window; */
	if (cnps > 0)
		return window > 1 ? window / 2 : 1;
	return window < MOST ? window + 1 : MOST;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static bool send_round(struct lab_end *here, struct lab_end *there, unsigned window)
{
	struct ibv_sge sge = lab_part(here, 0, LENGTH);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)there->memory, there->mr->rkey}};
	struct ibv_wc wc;

	for (unsigned i = 0; i < window; i++)
		lab_post(here, &wr);
	for (unsigned i = 0; i < window; i++)
		if (!lab_wait(here, &wc) || wc.status != IBV_WC_SUCCESS)
			return lab_check(false, "a WRITE is done");
	return true;
}

static bool is_paced(unsigned window, uint64_t cnps, unsigned next)
{
	if (next < 1 || next > MOST)
		return false;
	if (cnps > 0)
		return next == window / 2 || (window == 1 && next == 1);
	return next == window + 1 || (window == MOST && next == MOST);
}

/* After rounds of every size, quiet ones and others. */
static void judge_pace(void)
{
	static const uint64_t cnps[] = {0, 1, 2, MOST, 1000};

	for (unsigned window = 1; window <= MOST; window++)
		for (size_t i = 0; i < sizeof(cnps) / sizeof(cnps[0]); i++) {
			unsigned next = next_window(window, cnps[i]);

			if (!is_paced(window, cnps[i], next)) {
				lab_check(false,
					  "task 2: the sender paced itself (after %u packets and "
					  "%llu notifications: %u packets)",
					  window, (unsigned long long)cnps[i], next);
				return;
			}
		}
	lab_check(true, "task 2: the sender paced itself");
}

/* Returns whether the program's count is the device's. */
static bool is_counted(unsigned round, uint64_t counted)
{
	uint64_t there_were = lab_counter("cnps_received");

	return counted == there_were ||
	       lab_check(
		       false,
		       "task 1: all notifications were counted: %llu and not %llu, after round %u",
		       (unsigned long long)counted, (unsigned long long)there_were, round);
}

int main(void)
{
	struct lab left, right;
	struct lab_end here, there;
	unsigned window = FIRST, round = 1;
	uint64_t counted = 0;

	lab_open_device(&left, 0);
	lab_open_device(&right, 1);
	lab_end_open(&left, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&right, &there, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	lab_connect_apart(&left, &here, &right, &there, 0, 0);
	for (; round <= ROUNDS && send_round(&here, &there, window); round++) {
		uint64_t all = notifications(), cnps = all - counted;
		unsigned next = next_window(window, cnps);

		printf("round %2u: %2u packets, %llu notifications\n", round, window,
		       (unsigned long long)cnps);
		counted = all;
		if (!is_counted(round, counted))
			break;
		if (next >= 1 && next <= MOST)
			window = next;
	}
	if (round > ROUNDS)
		lab_check(counted > 0, "task 1: all notifications were counted (%llu)",
			  (unsigned long long)counted);
	judge_pace();
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&left);
	lab_close(&right);
	return lab_result();
}
