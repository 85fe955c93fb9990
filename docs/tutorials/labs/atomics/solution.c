/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab atomics: two clients count in one word of a server's memory at the same time, while requests
 * come twice and answers get lost. Each increment counts exactly once. Then both want one lock.
 */
#include "lab.h"

#include <string.h>

#define CLIENTS 2
#define EACH    12 /* increments of each client */
#define COUNTER 0  /* offsets in the server's memory */
#define LOCK    64
#define NOTHING 0x5e5e5e5e5e5e5e5e /* where an answer is to come */

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

	/* Task 1: your code. Until then: (void)server; (void)wr; return false; */
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = (uintptr_t)server->memory + COUNTER;
	wr.wr.atomic.rkey = server->mr->rkey;
	wr.wr.atomic.compare_add = 1;
	lab_post(client, &wr);
	return true;
	/* End of task 1. */
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

	/* Task 2: your code. Until then: (void)server; (void)number; (void)wr; return false; */
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.remote_addr = (uintptr_t)server->memory + LOCK;
	wr.wr.atomic.rkey = server->mr->rkey;
	wr.wr.atomic.compare_add = 0;
	wr.wr.atomic.swap = number;
	lab_post(client, &wr);
	return true;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static uint64_t word_of(const struct lab_end *e, unsigned offset)
{
	return *(const volatile uint64_t *)(e->memory + offset);
}

/* Waits for a client's answer, which is what the word was before. */
static bool answer(struct lab_end *client, unsigned number, unsigned task, uint64_t *old)
{
	struct ibv_wc wc;
	const char *status = lab_status(client, &wc);

	if (wc.status != IBV_WC_SUCCESS)
		return lab_check(false, "task %u: an answer to client %u (%s)", task, number,
				 status);
	if (wc.wr_id != task)
		return lab_check(false, "task %u: the completion's wr_id is %u (%llu)", task, task,
				 (unsigned long long)wc.wr_id);
	if (!lab_is_quiet(client))
		return lab_check(false, "task %u: one request was posted, and no other", task);
	*old = word_of(client, 0);
	if (*old == NOTHING)
		return lab_check(
			false, "task %u: the value before is in the client's first 8 bytes", task);
	return true;
}

static bool count(struct lab_end client[CLIENTS], struct lab_end server[CLIENTS])
{
	unsigned seen[CLIENTS * EACH] = {0}, once = 0;
	uint64_t old;

	for (unsigned i = 0; i < EACH; i++) {
		for (unsigned c = 0; c < CLIENTS; c++) {
			memset(client[c].memory, 0x5e, 8);
			if (!post_increment(&client[c], &server[0]))
				return lab_check(false, "task 1: the increment is posted");
		}
		for (unsigned c = 0; c < CLIENTS; c++) {
			if (!answer(&client[c], c + 1, 1, &old))
				return false;
			if (old < CLIENTS * EACH)
				seen[old]++;
		}
	}
	for (unsigned i = 0; i < CLIENTS * EACH; i++)
		once += seen[i] == 1;
	lab_check(once == CLIENTS * EACH, "task 1: each value from 0 to %u was given once",
		  CLIENTS * EACH - 1);
	return lab_check(word_of(&server[0], COUNTER) == CLIENTS * EACH,
			 "task 1: the counter was incremented %u times (it is %llu)",
			 CLIENTS * EACH, (unsigned long long)word_of(&server[0], COUNTER));
}

/* The client of this number asks for the lock, of which it should learn that it is old's. */
static bool ask(struct lab_end *client, const struct lab_end *server, unsigned number,
		uint64_t owner)
{
	uint64_t old, want = owner ? owner : number;

	memset(client->memory, 0x5e, 8);
	if (!post_lock(client, server, number))
		return lab_check(false, "task 2: the lock is asked for");
	if (!answer(client, number, 2, &old))
		return false;
	return lab_check(old == owner, "task 2: client %u learns whose the lock was, %llu (%llu)",
			 number, (unsigned long long)owner, (unsigned long long)old) &&
	       lab_check(word_of(server, LOCK) == want, "task 2: then it is that of %llu (%llu)",
			 (unsigned long long)want, (unsigned long long)word_of(server, LOCK));
}

/* Client 2 asks first, then client 1; then both again, the other way round. */
static void lock(struct lab_end client[CLIENTS], struct lab_end server[CLIENTS])
{
	for (unsigned first = CLIENTS; first > 0; first--) {
		*(volatile uint64_t *)(server[0].memory + LOCK) = 0;
		if (!ask(&client[first - 1], &server[0], first, 0) ||
		    !ask(&client[CLIENTS - first], &server[0], CLIENTS + 1 - first, first))
			return;
	}
	lab_check(word_of(&server[0], COUNTER) == CLIENTS * EACH,
		  "task 2: the counter is left alone");
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
