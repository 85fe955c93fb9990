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
 * "fault_made" of uhcactl counters, which counts packets that fault rules have made (lab_counter).
 */
static uint64_t notifications(void)
{
	/* Task 1: your code. */
	return 0;
}

/*
 * Task 2: how many packets the next round has, after a round of window packets for which cnps
 * notifications came: half as many after any notification, but at least 1; else one more, but at
 * most MOST.
 */
static unsigned next_window(unsigned window, uint64_t cnps)
{
	/* Task 2: your code. */
	(void)cnps;
	return window;
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
	if (cnps > 0)
		return next >= 1 && next <= window && (window == 1 || next == window / 2);
	return next > window ? next == window + 1 && next <= MOST : next == MOST;
}

static void judge(unsigned paced, uint64_t counted, uint64_t there_were)
{
	lab_check(there_were > 0, "the network was congested");
	lab_check(counted == there_were, "task 1: all notifications were counted (%llu of %llu)",
		  (unsigned long long)counted, (unsigned long long)there_were);
	lab_check(paced == ROUNDS, "task 2: the sender paced itself (in %u rounds of %u)", paced,
		  ROUNDS);
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;
	unsigned window = FIRST, paced = 0;
	uint64_t counted = 0;

	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	lab_connect(&lab, &here, &there, &lab_patient);
	for (unsigned i = 0; i < ROUNDS && send_round(&here, &there, window); i++) {
		uint64_t cnps = notifications() - counted;
		unsigned next = next_window(window, cnps);

		printf("round %2u: %2u packets, %llu notifications\n", i + 1, window,
		       (unsigned long long)cnps);
		counted += cnps;
		paced += is_paced(window, cnps, next);
		window = next < 1 ? 1 : next > MOST ? MOST : next;
	}
	judge(paced, counted, lab_counter("fault_made"));
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
