/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab atomics: two clients count in one word of a server's memory at the same time, while requests
 * come twice and answers get lost. Each increment counts exactly once. Then both want one lock.
 */
#include "lab.h"

#define CLIENTS 2
#define EACH    12 /* increments of each client */
#define COUNTER 0  /* offsets in the server's memory */
#define LOCK    64

/*
 * Task 1: posts the increment of the server's counter by one, wr_id 1: an
 * IBV_WR_ATOMIC_FETCH_AND_ADD, with the address (of 8 bytes, aligned), the key and what to add in
 * wr.wr.atomic: remote_addr, rkey, compare_add. What the counter was before comes back into the
 * first 8 bytes of the client's memory.
 */
static bool post_increment(struct lab_end *client, const struct lab_end *server)
{
	struct ibv_sge sge = lab_part(client, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};

	/* Task 1: your code. */
	(void)server;
	(void)wr;
	return false;
}

/*
 * Task 2: posts, wr_id 2, an IBV_WR_ATOMIC_CMP_AND_SWP at LOCK: if there is 0 (compare_add), put
 * the number of the client there (swap). The old value comes back as above.
 */
static bool post_lock(struct lab_end *client, const struct lab_end *server, uint64_t number)
{
	struct ibv_sge sge = lab_part(client, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 2, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED};

	/* Task 2: your code. */
	(void)server;
	(void)number;
	(void)wr;
	return false;
}

/* ---- the rest is complete ---- */

static uint64_t word_of(const struct lab_end *e, unsigned offset)
{
	return *(const volatile uint64_t *)(e->memory + offset);
}

/* Waits for both clients' answers, which are what the word was before. */
static bool answers(struct lab_end client[CLIENTS], unsigned task, uint64_t old[CLIENTS])
{
	for (unsigned c = 0; c < CLIENTS; c++) {
		struct ibv_wc wc;
		const char *status = lab_status(&client[c], &wc);

		if (wc.status != IBV_WC_SUCCESS)
			return lab_check(false, "task %u: an answer to client %u (%s)", task, c + 1,
					 status);
		old[c] = word_of(&client[c], 0);
	}
	return true;
}

static bool count(struct lab_end client[CLIENTS], struct lab_end server[CLIENTS])
{
	unsigned seen[CLIENTS * EACH] = {0}, once = 0;
	uint64_t old[CLIENTS];

	for (unsigned i = 0; i < EACH; i++) {
		for (unsigned c = 0; c < CLIENTS; c++)
			if (!post_increment(&client[c], &server[0]))
				return lab_check(false, "task 1: the increment is posted");
		if (!answers(client, 1, old))
			return false;
		for (unsigned c = 0; c < CLIENTS; c++)
			if (old[c] < CLIENTS * EACH)
				seen[old[c]]++;
	}
	for (unsigned i = 0; i < CLIENTS * EACH; i++)
		once += seen[i] == 1;
	lab_check(once == CLIENTS * EACH, "task 1: each value from 0 to %u was given once",
		  CLIENTS * EACH - 1);
	return lab_check(word_of(&server[0], COUNTER) == CLIENTS * EACH,
			 "task 1: the counter was incremented %u times (it is %llu)",
			 CLIENTS * EACH, (unsigned long long)word_of(&server[0], COUNTER));
}

static void lock(struct lab_end client[CLIENTS], struct lab_end server[CLIENTS])
{
	uint64_t old[CLIENTS], owner;

	for (unsigned c = 0; c < CLIENTS; c++)
		if (!post_lock(&client[c], &server[0], c + 1)) {
			lab_check(false, "task 2: the lock is asked for");
			return;
		}
	if (!answers(client, 2, old))
		return;
	owner = word_of(&server[0], LOCK);
	lab_check(owner == 1 || owner == 2, "task 2: a client has the lock (%llu)",
		  (unsigned long long)owner);
	lab_check((old[0] == 0) != (old[1] == 0), "task 2: exactly one found it free");
}

int main(void)
{
	struct lab lab;
	struct lab_end client[CLIENTS], server[CLIENTS];

	lab_open(&lab);
	for (unsigned c = 0; c < CLIENTS; c++) {
		lab_end_open(&lab, &client[c], IBV_ACCESS_LOCAL_WRITE);
		lab_end_open(&lab, &server[c], IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
		lab_connect(&lab, &client[c], &server[c], &lab_patient);
	}
	if (count(client, server))
		lock(client, server);
	for (unsigned c = 0; c < CLIENTS; c++) {
		lab_end_close(&client[c]);
		lab_end_close(&server[c]);
	}
	lab_close(&lab);
	return lab_result();
}
