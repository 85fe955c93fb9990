/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab ecmp: four flows between two hosts, and four spines on the way. Which spine a flow takes
 * follows from its UDP source port, and that from the flow label of its queue pair.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS  4u
#define SPINES 4u
#define LABELS (1u << 20) /* a flow label has 20 bits; 0: the device chooses */
#define LENGTH 32768u

/* Connects flow number "flow" with this label, and says which spine its packets take. */
static unsigned spine_with(unsigned flow, uint32_t label);

/*
 * Task 1: the UDP source port of packets whose queue pair has this flow label. Its 14 lower bits
 * are the label's 14 lower bits, exclusive or with the label's 6 upper bits, moved down by 14. The
 * two upper bits of the port are ones.
 */
static uint16_t udp_port(uint32_t label)
{
	/* Task 1: your code. Until then: return (uint16_t)label; */
	return (uint16_t)(0xc000 | ((label & 0x3fff) ^ (label >> 14)));
	/* End of task 1. */
}

/*
 * Task 2: a flow label with which this flow takes a spine that no flow before it has taken.
 * taken[s]: one has taken spine s.
 */
static uint32_t find_label(unsigned flow, const bool taken[SPINES])
{
	/* Task 2: your code. Until then: (void)taken; return flow + 1; */
	for (uint32_t label = 1; label < LABELS; label++)
		if (!taken[spine_with(flow, label)])
			return label;
	return 0;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static struct lab here, there; /* hosts h0 and h1: devices uhca0 and uhca1 */
static struct lab_end from[FLOWS], to[FLOWS];

/* What "uhcactl show fabric" says of the way of a queue pair: its port and its spine. */
static void look(const struct lab_end *e, unsigned *port, unsigned *spine)
{
	char command[64], line[512] = "";
	const char *at;
	FILE *f;

	snprintf(command, sizeof(command), "uhcactl show fabric 0x%x", e->qp->qp_num);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f) && !strstr(line, "UDP source port"))
		;
	if (f)
		pclose(f);
	at = strstr(line, "UDP source port ");
	*port = at ? (unsigned)atoi(at + strlen("UDP source port ")) : 0;
	at = strstr(line, "spine");
	*spine = at ? (unsigned)atoi(at + strlen("spine")) : SPINES;
}

static unsigned spine_with(unsigned flow, uint32_t label)
{
	unsigned port, spine;

	if (flow >= FLOWS || label == 0 || label >= LABELS) {
		lab_check(false, "task 2: there is no flow %u with label 0x%x", flow, label);
		exit(1);
	}
	lab_connect_apart(&here, &from[flow], &there, &to[flow], label, 0);
	look(&from[flow], &port, &spine);
	return spine;
}

static void judge_ports(void)
{
	static const uint32_t labels[] = {0x1, 0x3fff, 0x4000, 0x12345, 0xfc001, 0xfffff};

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		unsigned port, spine, said = udp_port(labels[i]);

		spine = spine_with(0, labels[i]);
		look(&from[0], &port, &spine);
		if (said == port)
			continue;
		lab_check(false, "task 1: label 0x%05x: source port 0x%04x, and it is 0x%04x",
			  labels[i], said, port);
		return;
	}
	lab_check(true, "task 1: the source ports are those of the device");
}

static bool write_all(void)
{
	struct ibv_wc wc;

	for (unsigned i = 0; i < FLOWS; i++) {
		struct ibv_sge sge = lab_part(&from[i], 0, LENGTH);
		struct ibv_send_wr wr = {.sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {(uintptr_t)to[i].memory, to[i].mr->rkey}};

		lab_post(&from[i], &wr);
	}
	for (unsigned i = 0; i < FLOWS; i++)
		if (!lab_wait(&from[i], &wc) || wc.status != IBV_WC_SUCCESS)
			return lab_check(false, "a WRITE is done");
	return true;
}

/* How many WRITEs went up to the spine: bytes of the leaf's port, in whole ones. */
static unsigned writes_by(unsigned spine)
{
	char line[512], name[16], port[64], peer[64];
	unsigned long long rate, packets, bytes = 0;
	FILE *f = popen("uhcactl show fabric", "r");

	snprintf(name, sizeof(name), "spine%u/", spine);
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long n;

		if (sscanf(line, "%63s %63s %*s %llu %llu %llu", port, peer, &rate, &packets, &n) ==
			    5 &&
		    strncmp(port, "leaf0/", 6) == 0 && strncmp(peer, name, strlen(name)) == 0)
			bytes = n;
	}
	if (f)
		pclose(f);
	return (unsigned)(bytes / LENGTH);
}

static void judge_load(void)
{
	unsigned used = 0, most = 0;

	for (unsigned s = 0; s < SPINES; s++) {
		const unsigned writes = writes_by(s);

		printf("spine%u: %u of %u flows\n", s, writes, FLOWS);
		used += writes > 0;
		most = writes > most ? writes : most;
	}
	lab_check(used == SPINES && most == 1,
		  "task 2: each flow has a spine of its own (%u of %u are used, one by %u flows)",
		  used, SPINES, most);
}

int main(void)
{
	bool taken[SPINES + 1] = {false};

	lab_open_device(&here, 0);
	lab_open_device(&there, 1);
	for (unsigned i = 0; i < FLOWS; i++) {
		lab_end_open(&here, &from[i], IBV_ACCESS_LOCAL_WRITE);
		lab_end_open(&there, &to[i], IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	}
	judge_ports();
	for (unsigned i = 0; i < FLOWS; i++) {
		const uint32_t label = find_label(i, taken);
		const unsigned spine = spine_with(i, label);

		printf("flow %u: label 0x%05x, source port 0x%04x, spine%u\n", i, label,
		       udp_port(label), spine);
		taken[spine] = true;
	}
	if (write_all())
		judge_load();
	for (unsigned i = 0; i < FLOWS; i++) {
		lab_end_close(&from[i]);
		lab_end_close(&to[i]);
	}
	lab_close(&here);
	lab_close(&there);
	return lab_result();
}
