/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab keys: a key opens one region, for what its owner allowed, as long as it is there. Three
 * WRITEs: one that is allowed, one with the key of another region, one with a key that was taken
 * away in the meantime. And where is a byte of the region?
 */
#include "lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OFFSET 5000u /* of the byte that is looked for, in the region */
#define PAGE   4096u /* bytes of a page */

/*
 * Task 1: the rights of a region that the peer may write to, and neither read nor use for atomics:
 * a combination of IBV_ACCESS_*. Who lets others write must be allowed to write as well.
 */
static int public_rights(void)
{
	/* Task 1: your code. Until then: return IBV_ACCESS_LOCAL_WRITE; */
	return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	/* End of task 1. */
}

/* Task 2: the status of a WRITE to a region with another region's key. */
static enum ibv_wc_status expected_status(void)
{
	/* Task 2: your code. Until then: return IBV_WC_SUCCESS; */
	return IBV_WC_REM_ACCESS_ERR;
	/* End of task 2. */
}

/*
 * Task 3: the device keeps an array of the region's pages. Which page of a region that begins with
 * a page is the byte at this offset in, and where in that page? The first page is 0.
 */
static void find_byte(uint64_t offset, uint64_t *page, uint64_t *within)
{
	/* Task 3: your code. Until then: (void)offset; *page = 0; *within = 0; */
	*page = offset / PAGE;
	*within = offset % PAGE;
	/* End of task 3. */
}

/* ---- the rest is complete ---- */

static enum ibv_wc_status write_with(struct lab_end *here, struct lab_end *there, uint32_t key)
{
	struct ibv_sge sge = lab_part(here, 0, 8);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)there->memory + OFFSET, key}};
	struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};

	lab_post(here, &wr);
	if (!lab_wait(here, &wc))
		lab_check(false, "a completion came");
	return wc.status;
}

/* Nothing but what a peer needs that writes. Whether it can write, the device says. */
static bool are_smallest(int rights)
{
	static const struct {
		int right;
		const char *name;
	} more[] = {{IBV_ACCESS_REMOTE_READ, "with IBV_ACCESS_REMOTE_READ the peer may read"},
		    {IBV_ACCESS_REMOTE_ATOMIC, "IBV_ACCESS_REMOTE_ATOMIC lets the peer read, too"},
		    {IBV_ACCESS_MW_BIND, "IBV_ACCESS_MW_BIND is for memory windows"},
		    {IBV_ACCESS_ZERO_BASED, "IBV_ACCESS_ZERO_BASED changes addresses, no rights"},
		    {IBV_ACCESS_ON_DEMAND, "IBV_ACCESS_ON_DEMAND changes paging, no rights"}};
	int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		known |= more[i].right;
		if (rights & more[i].right)
			return lab_check(false, "task 1: the smallest rights: %s", more[i].name);
	}
	if (rights & ~known)
		return lab_check(false, "task 1: the smallest rights: 0x%x is too much",
				 (unsigned)(rights & ~known));
	return lab_check(rights & IBV_ACCESS_LOCAL_WRITE,
			 "task 1: the owner may write (IBV_ACCESS_LOCAL_WRITE), or nobody may");
}

/*
 * Prints what "uhcactl show mr KEY --offset N" tells. Does it find the byte in this page, at this
 * place?
 */
static bool device_agrees(uint32_t key, unsigned offset, uint64_t page, uint64_t within)
{
	char command[100], line[512], entry[40], place[40];
	unsigned found = 0;
	FILE *f;

	snprintf(command, sizeof(command), "uhcactl show mr 0x%x --offset %u", key, offset);
	snprintf(entry, sizeof(entry), ">> 12 = %" PRIu64 "\n", page);
	snprintf(place, sizeof(place), "in page    0x%" PRIx64 "\n", within);
	printf("$ %s\n", command);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		printf("  %s", line);
		found += strstr(line, entry) || strstr(line, place);
	}
	return f && pclose(f) == 0 && found == 2;
}

static void walk(struct lab_end *there)
{
	static const unsigned offsets[] = {OFFSET, 0, PAGE - 1, PAGE, LAB_MEMORY - 1};
	bool agrees = true;

	for (size_t i = 0; agrees && i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint64_t page = 0, within = 0;

		find_byte(offsets[i], &page, &within);
		agrees = lab_check(device_agrees(there->mr->rkey, offsets[i], page, within),
				   "task 3: the byte at offset %u is byte 0x%" PRIx64
				   " of page %" PRIu64,
				   offsets[i], within, page);
	}
}

/* The key of other is that of memory which nobody else may use. */
static void lesson(struct lab *l, struct lab_end *here, struct lab_end *there,
		   struct lab_end *other)
{
	enum ibv_wc_status status;

	memset(here->memory, 7, 8);
	status = write_with(here, there, there->mr->rkey);
	if (!lab_check(status == IBV_WC_SUCCESS, "task 1: the peer may write (%s)",
		       ibv_wc_status_str(status)))
		return;
	status = write_with(here, there, other->mr->rkey);
	lab_check(status == expected_status(),
		  "task 2: the answer to the WRITE with another region's key is the expected one "
		  "(you expect: %s)",
		  ibv_wc_status_str(expected_status()));
	lab_check(there->memory[OFFSET + 8] == 0 && other->memory[OFFSET] == 0,
		  "no byte was written by it");
	lab_connect(l, here, there, &lab_patient); /* the error has ended the connection */
	walk(there);
	status = write_with(here, there, there->mr->rkey);
	lab_check(status == IBV_WC_REM_ACCESS_ERR, "the key was taken away: %s",
		  ibv_wc_status_str(status));
}

int main(void)
{
	struct lab lab;
	struct lab_end here, there, other;
	int rights = public_rights();

	if (!are_smallest(rights))
		return lab_result();
	lab_open(&lab);
	lab_end_open(&lab, &here, IBV_ACCESS_LOCAL_WRITE);
	lab_end_open(&lab, &there, rights);
	lab_end_open(&lab, &other, IBV_ACCESS_LOCAL_WRITE);
	lab_connect(&lab, &here, &there, &lab_patient);
	lesson(&lab, &here, &there, &other);
	lab_end_close(&here);
	lab_end_close(&there);
	lab_end_close(&other);
	lab_close(&lab);
	return lab_result();
}
