/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bystander FILE: sends itself messages of every length up to 8 KiB, 200 a second, and
 * looks at what arrives, while others misbehave towards the daemon. FILE always says how many came,
 * how long the longest was under way (us), and how much of the longest such time the daemon caused
 * (us). A wrong byte, or a message that takes longer than BYSTANDER_LIMIT seconds, ends it with
 * status 1; SIGTERM ends it with 0.
 *
 * On a busy machine most of a pause is time in which daemon or bystander wait for a processor. The
 * daemon causes what it ran itself (/proc/PID/schedstat), less what the bystander waited meanwhile.
 * The bystander has the highest nice value where it may, so that it hardly waits. (With real-time
 * priority it would hold up the kernel's own workers, and the daemon with them.)
 */
#include "rig.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BYSTANDER_LIMIT 120
#define LONGEST         8192u

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

/* ---- whose time a pause was ---- */

struct processor {
	double ran, waited; /* seconds since the thread began */
};

struct moment {
	double at;
	struct processor daemon, me;
};

struct pause {
	double took, by_daemon; /* seconds */
};

static int daemon_stat = -1, my_stat = -1;

static void open_stats(void)
{
	const char *dir = getenv("UHCA_DIR");
	char path[4096], pid[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", dir ? dir : "");
	f = fopen(path, "re");
	if (f && fgets(pid, sizeof(pid), f)) {
		snprintf(path, sizeof(path), "/proc/%ld/schedstat", strtol(pid, NULL, 10));
		daemon_stat = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (f)
		fclose(f);
	my_stat = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* Zero without a daemon of this process namespace, or a Linux without CONFIG_SCHED_INFO. */
static struct processor look(int fd)
{
	unsigned long long ran = 0, waited = 0;
	char text[96];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n > 0) {
		text[n] = 0;
		sscanf(text, "%llu %llu", &ran, &waited);
	}
	return (struct processor){(double)ran * 1e-9, (double)waited * 1e-9};
}

static struct moment now(void)
{
	return (struct moment){rig_seconds(), look(daemon_stat), look(my_stat)};
}

static struct pause since(const struct moment *then)
{
	const struct moment m = now();
	struct pause p = {.took = m.at - then->at};

	p.by_daemon = m.daemon.ran - then->daemon.ran - (m.me.waited - then->me.waited);
	return p;
}

static bool keep_longest(struct pause *longest, struct pause p)
{
	const bool is_longer = p.took > longest->took || p.by_daemon > longest->by_daemon;

	if (p.took > longest->took)
		longest->took = p.took;
	if (p.by_daemon > longest->by_daemon)
		longest->by_daemon = p.by_daemon;
	return is_longer;
}

/* ---- messages ---- */

static uint8_t byte_of(unsigned round, uint32_t i)
{
	return (uint8_t)(round * 31 + i * 7 + (i >> 8));
}

/* One message from one half of the memory to the other. */
static struct pause pass(struct rig *rig, struct ibv_qp *const qp[2], unsigned round)
{
	const uint32_t length = 1 + round * 37 % LONGEST;
	struct moment begin;
	struct pause took;

	for (uint32_t i = 0; i < length; i++)
		rig->buf[i] = byte_of(round, i);
	memset(rig->buf + LONGEST, 0x55, LONGEST);
	begin = now();
	if (!rig_post_recv(rig, qp[1], LONGEST, LONGEST) || !rig_post_send(rig, qp[0], 0, length))
		rig_die("message %u cannot be posted", round);
	rig_expect(rig, 2, BYSTANDER_LIMIT);
	took = since(&begin);
	for (uint32_t i = 0; i < LONGEST; i++)
		if (rig->buf[LONGEST + i] != (i < length ? byte_of(round, i) : 0x55))
			rig_die("message %u: byte %u of %u is wrong", round, i, length);
	return took;
}

static void print_pause(FILE *out, unsigned n, const struct pause *longest)
{
	rewind(out);
	fprintf(out, "%10u %12.0f %12.0f\n", n, longest->took * 1e6, longest->by_daemon * 1e6);
	fflush(out);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = end};
	FILE *out = argc == 2 ? fopen(argv[1], "w") : NULL;
	struct pause longest = {.took = 0};
	double told = 0;
	struct ibv_qp *qp[2];
	struct rig rig;
	unsigned n = 0;

	if (!out)
		rig_die("usage: bystander FILE");
	sigaction(SIGTERM, &action, NULL);
	setpriority(PRIO_PROCESS, 0, -20);
	open_stats();
	rig_open(&rig, 16, 2 * LONGEST);
	for (unsigned i = 0; i < 2; i++)
		qp[i] = rig_qp(&rig, NULL, NULL);
	if (!qp[0] || !qp[1])
		rig_die("no queue pair");
	rig_connect(&rig, qp[0], qp[1]->qp_num);
	rig_connect(&rig, qp[1], qp[0]->qp_num);
	while (!ended) {
		if (keep_longest(&longest, pass(&rig, qp, n++)) || rig_seconds() > told + 0.1) {
			told = rig_seconds();
			print_pause(out, n, &longest);
		}
		usleep(5000);
	}
	print_pause(out, n, &longest);
	ibv_destroy_qp(qp[0]);
	ibv_destroy_qp(qp[1]);
	rig_close(&rig);
	return fclose(out) != 0;
}
