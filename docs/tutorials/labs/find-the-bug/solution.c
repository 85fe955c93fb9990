/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab find-the-bug: five small programs, each with one mistake that a quiet device forgives. With
 * an argument, such as 3, only that program runs.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD         8u    /* bytes of a message */
#define NEWS         512u  /* where a message lies that says: there is something new */
#define FIRST_RECV   100u  /* wr_id of the first receive; those of sends are smaller */
#define NUMBER       42u   /* what the peer has */
#define OTHER_NUMBER 7u    /* what is in the memory before */
#define PAGE         4096u /* bytes of a READ */

/* Puts a word into an end's memory. */
static void put(struct lab_end *e, uint32_t offset, const char *word)
{
	strncpy((char *)e->memory + offset, word, WORD);
}

/* Posts an RDMA WRITE of one word, wr_id 1. */
static void post_write(struct lab_end *here, const struct lab_end *there, uint32_t rkey);

/* Posts an RDMA READ of the peer's first page, in which its number is, wr_id 1. */
static void post_read(struct lab_end *here, const struct lab_end *there);

/* Program 1: the key that the peer's memory has for others. */
static uint32_t key_of(const struct lab_end *there)
{
	/* Task 1: your code. Until then: return there->mr->lkey; */
	return there->mr->rkey;
	/* End of task 1. */
}

/* Program 2: two messages, "first" and "second", one behind the other. */
static void send_words(struct lab_end *here)
{
	put(here, 0, "first");
	lab_send(here, 1, 0, WORD);
	/* Task 2: your code. Until then: put(here, 0, "second"); lab_send(here, 2, 0, WORD); */
	put(here, WORD, "second");
	lab_send(here, 2, WORD, WORD);
	/* End of task 2. */
}

/* Program 3: a word is written over one connection; the news of it goes over another. */
static void write_and_notify(struct lab_end *data, struct lab_end *there, struct lab_end *news)
{
	post_write(data, there, there->mr->rkey);
	/* Task 3: your code. Until then: lab_send(news, 2, NEWS, WORD); */
	struct ibv_wc wc;

	if (lab_wait(data, &wc))
		lab_send(news, 2, NEWS, WORD);
	/* End of task 3. */
}

/* Program 4: a queue pair failed, and its requests come back. Is this one a receive? */
static bool is_receive(const struct ibv_wc *wc)
{
	/* Task 4: your code. Until then: return wc->opcode == IBV_WC_RECV; */
	return wc->wr_id >= FIRST_RECV;
	/* End of task 4. */
}

/* Program 5: the peer's number, fetched by an RDMA READ. */
static uint64_t fetch(struct lab_end *here, const struct lab_end *there)
{
	uint64_t *number = (uint64_t *)here->memory;

	post_read(here, there);
	/* Task 5: your code. Until then: return *number; */
	struct ibv_wc wc;

	lab_wait(here, &wc);
	return *number;
	/* End of task 5. */
}

/* ---- the rest is complete ---- */

#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

struct pair {
	struct lab_end here, there;
};

static void post_write(struct lab_end *here, const struct lab_end *there, uint32_t rkey)
{
	struct ibv_sge sge = lab_part(here, 0, WORD);
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};

	wr.wr.rdma.remote_addr = (uintptr_t)there->memory;
	wr.wr.rdma.rkey = rkey;
	lab_post(here, &wr);
}

static void post_read(struct lab_end *here, const struct lab_end *there)
{
	struct ibv_sge sge = lab_part(here, 0, PAGE);
	struct ibv_send_wr wr = {.wr_id = 1,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_READ,
				 .send_flags = IBV_SEND_SIGNALED};

	wr.wr.rdma.remote_addr = (uintptr_t)there->memory;
	wr.wr.rdma.rkey = there->mr->rkey;
	lab_post(here, &wr);
}

static void open_pair(struct lab *l, struct pair *p)
{
	lab_end_open(l, &p->here, RIGHTS);
	lab_end_open(l, &p->there, RIGHTS);
	lab_connect(l, &p->here, &p->there, &lab_patient);
}

static void close_pair(struct pair *p)
{
	lab_end_close(&p->here);
	lab_end_close(&p->there);
}

static bool has(const struct lab_end *e, uint32_t offset, const char *word)
{
	return strncmp((const char *)e->memory + offset, word, WORD) == 0;
}

static void program1(struct lab *l)
{
	const char *status;
	struct ibv_wc wc;
	struct pair p;

	open_pair(l, &p);
	put(&p.here, 0, "hello");
	post_write(&p.here, &p.there, key_of(&p.there));
	status = lab_status(&p.here, &wc);
	lab_check(wc.status == IBV_WC_SUCCESS && has(&p.there, 0, "hello"),
		  "program 1: the word is in the peer's memory (completion: %s)", status);
	close_pair(&p);
}

static void program2(struct lab *l)
{
	static const char *const words[] = {"first", "second"};
	struct ibv_wc wc;
	struct pair p;
	unsigned left = 0;
	uint32_t at;
	bool kept;

	open_pair(l, &p);
	for (uint32_t i = 0; i < 3; i++)
		lab_recv(&p.there, FIRST_RECV + i, i * WORD, WORD);
	send_words(&p.here);
	kept = has(&p.here, 0, "first");
	for (uint32_t i = 0; i < 2; i++) {
		const char *status = lab_status(&p.there, &wc);

		at = i * WORD;
		if (!lab_check(wc.status == IBV_WC_SUCCESS && has(&p.there, at, words[i]),
			       "program 2: message %u is \"%s\" (completion: %s, \"%.8s\")", i + 1,
			       words[i], status, p.there.memory + at))
			break;
	}
	lab_check(lab_is_quiet(&p.there), "program 2: there is no third message");
	while (!lab_is_quiet(&p.here))
		left++;
	lab_check(kept || left < 2, "program 2: a buffer stays as it is until its completion");
	close_pair(&p);
}

static void program3(struct lab *l)
{
	struct pair data, news;
	const char *status;
	struct ibv_wc wc;

	open_pair(l, &data);
	open_pair(l, &news);
	lab_recv(&news.there, FIRST_RECV, 0, WORD);
	put(&data.here, 0, "data");
	write_and_notify(&data.here, &data.there, &news.here);
	status = lab_status(&news.there, &wc);
	if (lab_check(wc.status == IBV_WC_SUCCESS, "program 3: the news came (completion: %s)",
		      status))
		lab_check(has(&data.there, 0, "data"),
			  "program 3: the word was there when the news came");
	close_pair(&news);
	close_pair(&data);
}

static void program4(struct lab *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	unsigned known = 0, all = 0;
	struct ibv_wc wc;
	struct pair p;

	open_pair(l, &p);
	for (uint32_t i = 0; i < 8; i++)
		lab_recv(&p.here, FIRST_RECV + i, 0, WORD);
	lab_check(ibv_modify_qp(p.here.qp, &attr, IBV_QP_STATE) == 0, "the queue pair fails");
	for (uint32_t i = 0; i < 8; i++)
		lab_send(&p.here, i, 0, WORD);
	for (; all < 16 && lab_wait(&p.here, &wc); all++)
		known += is_receive(&wc) == (wc.wr_id >= FIRST_RECV);
	lab_check(all == 16, "all requests come back (%u of 16)", all);
	lab_check(known == 16, "program 4: receives and sends are told apart (%u of 16)", known);
	close_pair(&p);
}

static void program5(struct lab *l)
{
	struct pair p;
	uint64_t number;

	open_pair(l, &p);
	*(uint64_t *)p.there.memory = NUMBER;
	*(uint64_t *)p.here.memory = OTHER_NUMBER;
	number = fetch(&p.here, &p.there);
	lab_check(number == NUMBER, "program 5: the peer's number is %u (%llu)", NUMBER,
		  (unsigned long long)number);
	lab_is_quiet(&p.here);
	close_pair(&p);
}

int main(int argc, char **argv)
{
	static void (*const program[])(struct lab *) = {program1, program2, program3, program4,
							program5};
	unsigned only = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	struct lab lab;

	lab_open(&lab);
	for (unsigned i = 0; i < sizeof(program) / sizeof(program[0]); i++)
		if (only == 0 || only == i + 1)
			program[i](&lab);
	lab_close(&lab);
	return lab_result();
}
