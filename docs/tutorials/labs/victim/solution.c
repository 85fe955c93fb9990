/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab victim: a host takes nothing, and pauses its switch. The switch fills up and pauses the next
 * one, and so on (priority flow control, PFC). A flow to another host stops, too: the victim. Who
 * began, and how does the victim get by?
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTS  32
#define NAME   32
#define WRITES 8
#define LENGTH 32768u

/* A port of the network: it belongs to a node, and its cable leads to another one. */
struct port {
	char node[NAME]; /* "leaf0", "h2" */
	char far[NAME];
	bool paused; /* the node at the far end has sent PFC: this port sends nothing of class 3 */
};

/*
 * Task 1: the node at which the pauses begin. At "node" something does not get on: one of its ports
 * is paused, by the node at the far end. That may be paused itself, and so on. The last one has no
 * port that is paused: return its name (of one of the ports).
 */
static const char *origin(const struct port *ports, unsigned n, const char *node)
{
	/* Task 1: your code. Until then: (void)ports; (void)n; return node; */
	for (unsigned i = 0; i < n; i++)
		if (ports[i].paused && strcmp(ports[i].node, node) == 0)
			return origin(ports, n, ports[i].far);
	return node;
	/* End of task 1. */
}

/*
 * Task 2: a traffic class for the second flow (grh.traffic_class of its queue pair) with which it
 * gets by. The class of a packet, which is what PFC pauses, is the upper three bits of the traffic
 * class; a program without one (0) is in class 3. The first flow has none.
 */
static uint8_t traffic_class(void)
{
	/* Task 2: your code. Until then: return 0; */
	return 4 << 5;
	/* End of task 2. */
}

/* ---- the rest is complete ---- */

static struct lab host[4];
static struct lab_end from[2], to[2]; /* flow 0: h0 to h2; flow 1: h1 to h3 */

static void take_node(char out[NAME], const char *port)
{
	snprintf(out, NAME, "%.*s", (int)strcspn(port, "/"), port);
}

/* The ports that "uhcactl show fabric" lists. */
static unsigned look(struct port ports[PORTS])
{
	char line[512], name[64], far[64], last[16];
	FILE *f = popen("uhcactl show fabric", "r");
	unsigned n = 0;

	while (f && n < PORTS && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%63s %63s %*s %*u %*u %*u %*u %*u %*u %*u %*u %*u %15s", name,
			   far, last) != 3)
			continue;
		take_node(ports[n].node, name);
		take_node(ports[n].far, far);
		ports[n++].paused = strcmp(last, "yes") == 0;
	}
	if (f)
		pclose(f);
	return n;
}

static bool fabric(const char *what)
{
	char command[64];

	snprintf(command, sizeof(command), "uhcactl fabric %s >/dev/null", what);
	return system(command) == 0 || lab_check(false, "uhcactl fabric %s", what);
}

static void write_flow(unsigned flow)
{
	struct ibv_sge sge = lab_part(&from[flow], 0, LENGTH);
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)to[flow].memory, to[flow].mr->rkey}};

	lab_post(&from[flow], &wr);
}

/* Until h0 is paused: from h2 by leaf1, spine0 and leaf0. It is the last one. */
static bool storm_is_there(struct port ports[PORTS], unsigned *n)
{
	for (unsigned tries = 0; tries < 200; tries++) {
		*n = look(ports);
		for (unsigned i = 0; i < *n; i++)
			if (ports[i].paused && strcmp(ports[i].node, "h0") == 0)
				return true;
	}
	return lab_check(false, "the pause of h2 has reached h0");
}

static void judge_origin(const struct port *ports, unsigned n)
{
	static const struct port others[] = {
		{"leaf1", "h3", false}, {"leaf0", "h1", true},     {"spine0", "leaf1", false},
		{"h1", "leaf0", false}, {"spine0", "leaf0", true}, {"leaf0", "spine0", false}};
	const char *here = origin(ports, n, "leaf0"), *there = origin(others, 6, "spine0");

	if (!here || strcmp(here, "h2") != 0)
		lab_check(false, "task 1: the pauses of leaf0 begin at %s",
			  here ? here : "nothing");
	else if (!there || strcmp(there, "h1") != 0)
		lab_check(false, "task 1: where h1 pauses, the pauses of spine0 begin at %s",
			  there ? there : "nothing");
	else
		lab_check(true, "task 1: the pauses of leaf0 begin at h2");
}

static bool done(unsigned flow, unsigned n)
{
	struct ibv_wc wc = {.status = IBV_WC_SUCCESS};

	while (n && lab_wait(&from[flow], &wc) && wc.status == IBV_WC_SUCCESS)
		n--;
	return n == 0;
}

static void judge_victim(unsigned tclass)
{
	const bool got_by = done(1, 1);

	lab_check(got_by, "task 2: the second flow gets by while h2 pauses (traffic class %u)",
		  tclass);
	if (!fabric("resume h2"))
		return;
	lab_check(done(0, WRITES), "the first flow is done, behind the pause");
	lab_check(got_by || done(1, 1), "the second flow is done");
}

int main(void)
{
	struct port ports[PORTS];
	const unsigned tclass = traffic_class();
	unsigned n;

	for (unsigned i = 0; i < 4; i++)
		lab_open_device(&host[i], i);
	for (unsigned i = 0; i < 2; i++) {
		lab_end_open(&host[i], &from[i], IBV_ACCESS_LOCAL_WRITE);
		lab_end_open(&host[i + 2], &to[i],
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		lab_connect_apart(&host[i], &from[i], &host[i + 2], &to[i], 0,
				  (uint8_t)(i ? tclass : 0));
	}
	if (!fabric("pause h2"))
		return lab_result();
	for (unsigned i = 0; i < WRITES; i++)
		write_flow(0);
	if (storm_is_there(ports, &n)) {
		for (unsigned i = 0; i < n; i++)
			if (ports[i].paused)
				printf("%s is paused by %s\n", ports[i].node, ports[i].far);
		judge_origin(ports, n);
		write_flow(1);
		judge_victim(tclass);
	}
	for (unsigned i = 0; i < 2; i++) {
		lab_end_close(&from[i]);
		lab_end_close(&to[i]);
	}
	for (unsigned i = 0; i < 4; i++)
		lab_close(&host[i]);
	return lab_result();
}
