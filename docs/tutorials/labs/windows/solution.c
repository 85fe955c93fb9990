/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab windows: a memory window of type 2 opens a part of a region for a while. First there opens
 * one, here reads through it, there closes it. Then a queue pair that is connected to itself reads
 * through a window of its own and closes it right behind the READ, in the same send queue. The READ
 * takes its time: the invalidate must wait for it.
 */
#include "lab.h"

#include <string.h>

#define START  4096u /* the window's part of the region */
#define LENGTH 3000u
#define INTO   16384u /* where a READ puts what it gets */

/*
 * Task 1: posts the binding, wr_id 1: an IBV_WR_BIND_MW of the window mw, whose new key is key. In
 * wr.bind_mw: mw, rkey, and bind_info: mr, addr, length, mw_access_flags: LENGTH bytes at START of
 * e's memory may be read by the peer.
 */
static bool post_bind(struct lab_end *e, struct ibv_mw *mw, uint32_t key)
{
	struct ibv_send_wr wr = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED};

	/* Task 1: your code. Until then: (void)e; (void)mw; (void)key; (void)wr; return false; */
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = key;
	wr.bind_mw.bind_info.mr = e->mr;
	wr.bind_mw.bind_info.addr = (uintptr_t)e->memory + START;
	wr.bind_mw.bind_info.length = LENGTH;
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
	lab_post(e, &wr);
	return true;
	/* End of task 1. */
}

/*
 * Task 2: the flags of the IBV_WR_LOCAL_INV that closes the window. It must be signaled, and it
 * must not begin before the READ in front of it has its answer.
 */
static unsigned invalidate_flags(void)
{
	/* Task 2: your code. Until then: return IBV_SEND_SIGNALED; */
	return IBV_SEND_SIGNALED | IBV_SEND_FENCE;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static struct ibv_mw *open_window(struct lab *l, struct lab_end *e, uint32_t *key)
{
	struct ibv_mw *mw = ibv_alloc_mw(l->pd, IBV_MW_TYPE_2);
	const char *status;
	struct ibv_wc wc;

	if (!lab_check(mw != NULL, "there is a memory window"))
		return NULL;
	*key = ibv_inc_rkey(mw->rkey); /* the owner chooses the last byte */
	if (lab_check(post_bind(e, mw, *key), "task 1: the binding was posted")) {
		status = lab_status(e, &wc);
		if (lab_check(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_BIND_MW,
			      "task 1: the window was bound (completion: %s)", status) &&
		    lab_check(wc.wr_id == 1, "task 1: the completion's wr_id is 1 (%llu)",
			      (unsigned long long)wc.wr_id) &&
		    lab_check(lab_is_quiet(e), "task 1: it was bound once"))
			return mw;
	}
	ibv_dealloc_mw(mw);
	return NULL;
}

/* A request of the peer that goes to its memory at offset, in its window or beside it. */
static void post_request(struct lab_end *here, struct lab_end *there, struct ibv_send_wr *wr,
			 uint32_t offset, uint32_t length, uint32_t key)
{
	struct ibv_sge sge = lab_part(here, INTO, length);

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->wr.atomic.remote_addr = (uintptr_t)there->memory + offset;
		wr->wr.atomic.rkey = key;
	} else {
		wr->wr.rdma.remote_addr = (uintptr_t)there->memory + offset;
		wr->wr.rdma.rkey = key;
	}
	lab_post(here, wr);
}

static void post_read(struct lab_end *here, struct lab_end *there, uint64_t wr_id, uint32_t key)
{
	struct ibv_send_wr wr = {.wr_id = wr_id, .opcode = IBV_WR_RDMA_READ};

	memset(there->memory + START, (int)wr_id, LENGTH);
	post_request(here, there, &wr, START, LENGTH, key);
}

static void post_close(struct lab_end *e, uint64_t wr_id, uint32_t key)
{
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .opcode = IBV_WR_LOCAL_INV,
				 .send_flags = invalidate_flags(),
				 .invalidate_rkey = key};

	lab_post(e, &wr);
}

/* The completion of an invalidate. */
static void await_close(struct lab_end *e, const char *what)
{
	struct ibv_wc wc;
	const char *status = lab_status(e, &wc);

	lab_check(wc.status == IBV_WC_SUCCESS, "task 2: %s (completion: %s)", what, status);
}

static bool two_ends(struct lab *l, struct lab_end *here, struct lab_end *there)
{
	uint32_t key;
	struct ibv_mw *mw = open_window(l, there, &key);
	const char *status;
	struct ibv_wc wc;

	if (!mw)
		return false;
	post_read(here, there, 2, key);
	status = lab_status(here, &wc);
	if (!lab_check(wc.status == IBV_WC_SUCCESS,
		       "task 1: the peer can read %u bytes through the window (completion: %s)",
		       LENGTH, status)) {
		ibv_dealloc_mw(mw);
		return false;
	}
	lab_check(here->memory[INTO] == 2 && here->memory[INTO + LENGTH - 1] == 2,
		  "and gets what is behind it");
	post_close(there, 3, key);
	await_close(there, "the window was closed");
	post_read(here, there, 4, key);
	status = lab_status(here, &wc);
	lab_check(wc.status == IBV_WC_REM_ACCESS_ERR,
		  "a READ through the closed window is refused (completion: %s)", status);
	return ibv_dealloc_mw(mw) == 0;
}

/* What the window must not let through: each ends its connection. */
static bool no_more(struct lab *l, struct lab_end *here, struct lab_end *there)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t offset, length;
		const char *what;
	} beside[] = {{IBV_WR_RDMA_READ, START + LENGTH, 1, "a READ behind the window"},
		      {IBV_WR_RDMA_READ, START - 1, 1, "a READ before the window"},
		      {IBV_WR_RDMA_WRITE, START, 8, "a WRITE into the window"},
		      {IBV_WR_ATOMIC_FETCH_AND_ADD, START, 8, "an atomic in the window"}};
	bool refused = true;

	for (size_t i = 0; refused && i < sizeof(beside) / sizeof(beside[0]); i++) {
		struct ibv_send_wr wr = {.opcode = beside[i].opcode};
		const char *status;
		struct ibv_mw *mw;
		struct ibv_wc wc;
		uint32_t key;

		lab_connect(l, here, there, &lab_patient);
		mw = open_window(l, there, &key);
		if (!mw)
			return false;
		post_request(here, there, &wr, beside[i].offset, beside[i].length, key);
		status = lab_status(here, &wc);
		refused =
			lab_check(wc.status == IBV_WC_REM_ACCESS_ERR,
				  "task 1: %s is refused (completion: %s)", beside[i].what, status);
		refused &= ibv_dealloc_mw(mw) == 0;
	}
	return refused;
}

static void one_queue(struct lab *l, struct lab_end *e)
{
	uint32_t key;
	struct ibv_mw *mw = open_window(l, e, &key);
	const char *status;
	struct ibv_wc wc;

	if (!mw)
		return;
	post_read(e, e, 5, key);
	post_close(e, 6, key);
	status = lab_status(e, &wc);
	if (lab_check(wc.status == IBV_WC_SUCCESS && e->memory[INTO] == 5,
		      "task 2: the READ is done before the window is closed (completion: %s)",
		      status))
		await_close(e, "the window was closed behind it");
	ibv_dealloc_mw(mw);
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there;

	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	lab_end_open(&lab, &there, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	lab_connect(&lab, &here, &there, &lab_patient);
	if (two_ends(&lab, &here, &there) && no_more(&lab, &here, &there)) {
		lab_connect(&lab, &here, &here, &lab_patient);
		one_queue(&lab, &here);
	}
	lab_end_close(&here);
	lab_end_close(&there);
	lab_close(&lab);
	return lab_result();
}
