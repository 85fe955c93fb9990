/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash N SEED: N clients, a few at a time, each of which opens the device, makes objects of all
 * kinds, lets messages flow and dies: of its own hand after a number of messages, or of a timer in
 * the middle of whatever it does. Meanwhile a bystander exchanges messages and must not notice.
 * Afterwards the daemon has as many descriptors and regions as before, and no more memory than a
 * little. To be run where the daemon has no wire: it keeps sockets of flows for later.
 */
#include "rig.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE  5
#define QPS      8
#define MESSAGE  4096
#define SLACK_KB 1024 /* what an allocator may keep */

static void make_more(struct rig *r)
{
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 8, .max_sge = 1}};
	struct ibv_ah_attr ah = {.is_global = 1, .port_num = 1, .grh = {.dgid = r->gid}};

	if (!ibv_create_srq(r->pd, &srq) || !ibv_create_ah(r->pd, &ah))
		rig_die("SRQ or AH");
	if (ibv_req_notify_cq(rig_cq_with_events(r, 16), 0))
		rig_die("ibv_req_notify_cq");
}

static void pump(struct rig *r, struct ibv_qp *const *qp)
{
	struct ibv_wc wc[8];

	for (unsigned i = 0; i < QPS; i++) {
		rig_post_recv(r, qp[i ^ 1], i * MESSAGE, MESSAGE);
		rig_post_send(r, qp[i], i * MESSAGE, MESSAGE);
	}
	if (ibv_poll_cq(r->cq, 8, wc) < 0)
		rig_die("ibv_poll_cq");
}

/* SIGALRM kills, too: wherever the program is just now, and this it does not choose itself. */
static void die_within(int us)
{
	struct itimerval t = {.it_value = {.tv_usec = 200 + rand() % us}};

	if (setitimer(ITIMER_REAL, &t, NULL))
		rig_die("setitimer");
}

__attribute__((noreturn)) static void live_and_die(unsigned seed)
{
	struct ibv_qp *qp[QPS];
	struct rig r;

	srand(seed);
	if (seed % 2)
		die_within(20000);
	rig_open(&r, 4096, QPS * MESSAGE);
	make_more(&r);
	for (unsigned i = 0; i < QPS; i++)
		if (!(qp[i] = rig_qp(&r, NULL, NULL)))
			rig_die("QP");
	for (unsigned i = 0; i < QPS; i++)
		rig_connect(&r, qp[i], qp[i ^ 1]->qp_num);
	for (int n = rand() % 200; n >= 0 || seed % 2; n--)
		pump(&r, qp);
	raise(SIGKILL);
	rig_die("still alive");
}

/* True when one ended as it should. */
static bool reap(void)
{
	int status;

	if (wait(&status) < 0)
		rig_die("wait");
	return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGALRM);
}

static void crash(unsigned n, unsigned seed, int bystander)
{
	unsigned running = 0, bad = 0;

	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			rig_die("fork");
		if (pid == 0) {
			close(bystander);
			live_and_die(seed + i);
		}
		if (++running == AT_ONCE) {
			bad += !reap();
			running--;
		}
	}
	for (; running > 0; running--)
		bad += !reap();
	if (bad)
		rig_die("%u of %u clients did not come as far as their death", bad, n);
}

/* ---- the bystander ---- */

static void exchange(struct rig *r, struct ibv_qp *const *qp, unsigned round)
{
	memset(r->buf, (int)(round & 0x7f), MESSAGE);
	memset(r->buf + MESSAGE, 0xff, MESSAGE);
	if (!rig_post_recv(r, qp[1], MESSAGE, MESSAGE) || !rig_post_send(r, qp[0], 0, MESSAGE))
		rig_die("the bystander cannot post in round %u", round);
	rig_expect(r, 2, 120);
	if (memcmp(r->buf, r->buf + MESSAGE, MESSAGE) != 0)
		rig_die("the bystander received something else in round %u", round);
}

/* Says that it begins, and works until the pipe is closed. */
__attribute__((noreturn)) static void stand_by(int pipe_in, int pipe_out)
{
	struct pollfd closed = {.fd = pipe_in};
	unsigned round = 0;
	struct ibv_qp *qp[2];
	struct rig r;

	rig_open(&r, 16, 2 * MESSAGE);
	for (unsigned i = 0; i < 2; i++)
		if (!(qp[i] = rig_qp(&r, NULL, NULL)))
			rig_die("QP");
	for (unsigned i = 0; i < 2; i++)
		rig_connect(&r, qp[i], qp[1 - i]->qp_num);
	do {
		exchange(&r, qp, round);
		if (round++ == 0 && write(pipe_out, "", 1) != 1)
			rig_die("pipe");
	} while (poll(&closed, 1, 0) == 0);
	printf("bystander: %u rounds\n", round);
	if (ibv_destroy_qp(qp[0]) || ibv_destroy_qp(qp[1]))
		rig_die("ibv_destroy_qp");
	rig_close(&r);
	exit(0);
}

/* Returns when it works; what it is ended by comes back in *end. */
static pid_t begin_bystander(int *end)
{
	int stop[2], begun[2];
	pid_t pid;
	char c;

	if (pipe(stop) || pipe(begun))
		rig_die("pipe");
	pid = fork();
	if (pid == 0) {
		close(stop[1]);
		close(begun[0]);
		stand_by(stop[0], begun[1]);
	}
	close(stop[0]);
	close(begun[1]);
	if (pid < 0 || read(begun[0], &c, 1) != 1)
		rig_die("the bystander does not begin");
	close(begun[0]);
	*end = stop[1];
	return pid;
}

static void end_bystander(pid_t pid, int end)
{
	int status;

	close(end);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		rig_die("the bystander's status is 0x%x", (unsigned)status);
}

/* ---- */

static bool has_cleaned_up(void *arg)
{
	const struct rig_daemon *before = arg;
	struct rig_daemon now;

	rig_daemon(&now);
	return now.fds <= before->fds && now.regions <= before->regions;
}

static void compare(const struct rig_daemon *before, bool clean, unsigned n)
{
	struct rig_daemon after;

	rig_daemon(&after);
	printf("before: %ld descriptors, %ld regions, %ld + %ld KiB\n", before->fds,
	       before->regions, before->anonymous_kb, before->shared_kb);
	printf("after %u crashes: %ld descriptors, %ld regions, %ld + %ld KiB\n", n, after.fds,
	       after.regions, after.anonymous_kb, after.shared_kb);
	if (!clean || after.anonymous_kb > before->anonymous_kb + rig_slack_kb(SLACK_KB) ||
	    after.shared_kb > before->shared_kb + SLACK_KB)
		rig_die("the daemon leaks");
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	struct rig_daemon before;
	pid_t bystander;
	int end;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (n == 0) {
		fprintf(stderr, "usage: crash N SEED\n");
		return 2;
	}
	printf("seed %u\n", seed);
	bystander = begin_bystander(&end);
	rig_daemon(&before);
	crash(AT_ONCE, seed, end);
	if (!rig_until(has_cleaned_up, &before, 120))
		rig_die("the first crashes leave something behind");
	rig_daemon(&before); /* what the first ones leave in memory (caches) is not a leak */
	crash(n, seed + AT_ONCE, end);
	compare(&before, rig_until(has_cleaned_up, &before, 120), n);
	end_bystander(bystander, end);
	return 0;
}
