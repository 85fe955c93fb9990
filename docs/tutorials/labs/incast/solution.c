/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lab incast: four hosts write to one at once, through a switch that marks packets when a queue
 * gets long. The receiver answers marks with CNPs, and each sender finds its rate: DCQCN, in
 * rounds.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SENDERS 4u
#define PORTS   16u
#define ROUNDS  10u
#define TRIES   8u    /* of the first round, until packets are marked */
#define WRITES  4u    /* of each sender in a round */
#define LENGTH  4096u /* of a WRITE */
#define PACKETS (SENDERS * WRITES * LENGTH / 1024)

#define LINE  1000.0       /* Mb/s of each link, the largest rate */
#define LEAST 50.0         /* Mb/s, the smallest rate */
#define G     (1.0 / 16.0) /* so fast alpha follows */
#define FAST  3u           /* quiet rounds in a row that only go back to the target */
#define MORE  20.0         /* Mb/s for each one behind them */

/* A port of the network, and what it has counted since the network began. */
struct port {
	char name[32]; /* "switch/port1" */
	unsigned long long queue;
	unsigned long long marks; /* packets that left it with "congestion experienced" */
};

/* A sender. */
struct flow {
	double rate;    /* Mb/s */
	double target;  /* Mb/s: where the rate goes back to */
	double alpha;   /* 0 to 1: how congested it has been lately */
	unsigned quiet; /* rounds in a row without a CNP */
};

/*
 * Task 1: the number of the port at which most packets were marked between two looks, before and
 * now; n when none was. Both looks have the same n ports in the same order.
 */
static unsigned congested(const struct port *before, const struct port *now, unsigned n)
{
	/* Task 1: your code. Until then: (void)before; (void)now; return n; */
	unsigned at = n;
	unsigned long long most = 0;

	for (unsigned i = 0; i < n; i++)
		if (now[i].marks - before[i].marks > most) {
			most = now[i].marks - before[i].marks;
			at = i;
		}
	return at;
	/* End of task 1. */
}

/*
 * Task 2: a round with CNPs. The rate becomes the target; the rate is cut by half of alpha (alpha
 * 1: to the half), but not below LEAST; then alpha goes up: G of the way to 1. The quiet rounds
 * count anew, from 0.
 */
static void on_cnp(struct flow *f)
{
	/* Task 2: your code. Until then: (void)f; */
	f->target = f->rate;
	f->rate *= 1 - f->alpha / 2;
	if (f->rate < LEAST)
		f->rate = LEAST;
	f->alpha += G * (1 - f->alpha);
	f->quiet = 0;
	/* End of task 2. */
}

/*
 * Task 3: a round without CNPs. It is one more quiet round. alpha goes down: G of the way to 0.
 * Behind FAST quiet rounds in a row the target goes up by MORE, but not above LINE. Then the rate
 * goes half of the way to the target.
 */
static void on_quiet(struct flow *f)
{
	/* Task 3: your code. Until then: (void)f; */
	f->quiet++;
	f->alpha *= 1 - G;
	if (f->quiet > FAST)
		f->target = f->target + MORE < LINE ? f->target + MORE : LINE;
	f->rate = (f->rate + f->target) / 2;
	/* End of task 3. */
}

/* ---- the rest is complete ---- */

static struct lab host[SENDERS + 1]; /* h0, which receives, and h1 to h4 */
static struct lab_end from[SENDERS], to[SENDERS];
static struct flow flow[SENDERS];

/* The network at one moment. */
struct sight {
	struct port port[PORTS];
	unsigned ports;
	double us; /* the network's time */
	uint64_t cnps[SENDERS + 1];
};

/* A round as it was. */
struct round {
	struct sight before, middle, after;
	bool done;
};

/* What "uhcactl show fabric" and "uhcactl counters" say. */
static void look(struct sight *s)
{
	FILE *f = popen("uhcactl show fabric", "r");
	char line[512];
	double ms;

	memset(s, 0, sizeof(*s));
	while (f && s->ports < PORTS && fgets(line, sizeof(line), f)) {
		struct port *p = &s->port[s->ports];

		if (sscanf(line, "time %lf ms", &ms) == 1)
			s->us = ms * 1000;
		if (sscanf(line, "%31s %*s %*s %*u %*u %*u %llu %*u %llu", p->name, &p->queue,
			   &p->marks) == 3)
			s->ports++;
	}
	if (f)
		pclose(f);
	lab_counters("cnps_received", s->cnps, SENDERS + 1);
}

/* The port of the switch that leads to h0, by which all packets go. */
static const struct port *last_hop(const struct sight *s)
{
	for (unsigned i = 0; i < s->ports; i++)
		if (strcmp(s->port[i].name, "switch/port1") == 0)
			return &s->port[i];
	lab_check(false, "there is a port switch/port1");
	exit(2);
}

static unsigned long long marks_of(const struct round *r)
{
	return last_hop(&r->after)->marks - last_hop(&r->before)->marks;
}

static void set_rates(void)
{
	for (unsigned i = 0; i < SENDERS; i++) {
		struct ibv_qp_rate_limit_attr attr = {
			.rate_limit = (uint32_t)(flow[i].rate * 1000)}; /* kbit/s */

		if (ibv_modify_qp_rate_limit(from[i].qp, &attr) != 0) {
			lab_check(false, "h%u can have a rate of %g Mb/s", i + 1, flow[i].rate);
			exit(2);
		}
	}
}

static void post_all(void)
{
	for (unsigned n = 0; n < WRITES * SENDERS; n++) {
		const unsigned i = n % SENDERS;
		struct ibv_sge sge = lab_part(&from[i], 0, LENGTH);
		struct ibv_send_wr wr = {.sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED,
					 .wr.rdma = {(uintptr_t)to[i].memory, to[i].mr->rkey}};

		lab_post(&from[i], &wr);
	}
}

static bool wait_for(unsigned i, unsigned n)
{
	struct ibv_wc wc;

	while (n && lab_wait(&from[i], &wc) && wc.status == IBV_WC_SUCCESS)
		n--;
	return n == 0 || lab_check(false, "the WRITEs of h%u are done", i + 1);
}

/* All send at their rates. The look in the middle is behind the first WRITE of h1. */
static void send_round(struct round *r, unsigned number)
{
	set_rates();
	look(&r->before);
	post_all();
	r->done = wait_for(0, 1);
	look(&r->middle);
	for (unsigned i = 0; i < SENDERS; i++)
		r->done = r->done && wait_for(i, i ? WRITES : WRITES - 1);
	look(&r->after);
	printf("round %2u:", number);
	for (unsigned i = 0; i < SENDERS; i++)
		printf(" %4.0f", flow[i].rate);
	printf(" Mb/s, %3.0f us; queue %5llu bytes, %2llu marks; CNPs", r->after.us - r->before.us,
	       last_hop(&r->middle)->queue, marks_of(r));
	for (unsigned i = 1; i <= SENDERS; i++)
		printf(" %llu", (unsigned long long)(r->after.cnps[i] - r->before.cnps[i]));
	putchar('\n');
}

/* ---- judgement of the tasks ---- */

static bool is_found(const char *where, const struct port *before, const struct port *now,
		     unsigned n, unsigned right)
{
	const unsigned at = congested(before, now, n);

	return at == right || lab_check(false, "task 1: %s most marks are of %s, and not of %s",
					where, at < n ? now[at].name : "no port",
					right < n ? now[right].name : "no port");
}

static bool judge_congested(const struct round *r)
{
	static const struct port before[] = {
		{"a/port1", 0, 900}, {"a/port2", 9000, 10}, {"b/port1", 0, 0}, {"b/port2", 0, 5}};
	static const struct port now[] = {{"a/port1", 0, 903},
					  {"a/port2", 0, 50},
					  {"b/port1", 8000, 60},
					  {"b/port2", 9000, 6}};

	return is_found("in round 1", r->before.port, r->after.port, r->after.ports,
			(unsigned)(last_hop(&r->after) - r->after.port)) &&
	       is_found("between two other looks", before, now, 4, 2) &&
	       is_found("where nothing is marked", now, now, 4, 4) &&
	       lab_check(true, "task 1: most marks of round 1 are of switch/port1");
}

/* A flow, and what it is behind the round. */
struct step {
	struct flow flow, behind;
};

static bool is_right(unsigned task, const char *round, const struct step *s,
		     void (*on)(struct flow *))
{
	static const char *const name[] = {"rate", "target", "alpha", "number of quiet rounds"};
	struct flow f = s->flow;

	on(&f);

	const double is[] = {f.rate, f.target, f.alpha, f.quiet};
	const double right[] = {s->behind.rate, s->behind.target, s->behind.alpha, s->behind.quiet};

	for (unsigned i = 0; i < 4; i++)
		if (!(is[i] - right[i] < 1e-6 && right[i] - is[i] < 1e-6))
			return lab_check(false,
					 "task %u: %s at %g Mb/s (target %g, alpha %g, %u quiet): "
					 "the %s is %g, and not %g",
					 task, round, s->flow.rate, s->flow.target, s->flow.alpha,
					 s->flow.quiet, name[i], is[i], right[i]);
	return true;
}

static bool judge_flows(void)
{
	static const struct step cnp[] = {{{1000, 1000, 1, 0}, {500, 1000, 1, 0}},
					  {{800, 900, 0.5, 4}, {600, 800, 0.53125, 0}},
					  {{60, 400, 1, 1}, {50, 60, 1, 0}}};
	static const struct step quiet[] = {{{500, 1000, 1, 0}, {750, 1000, 0.9375, 1}},
					    {{600, 800, 0.5, 2}, {700, 800, 0.46875, 3}},
					    {{700, 800, 0.5, 3}, {760, 820, 0.46875, 4}},
					    {{980, 990, 0, 7}, {990, 1000, 0, 8}}};
	bool ok = true;

	for (unsigned i = 0; ok && i < 3; i++)
		ok = is_right(2, "CNPs", &cnp[i], on_cnp);
	ok = ok && lab_check(true, "task 2: CNPs cut the rate");
	for (unsigned i = 0; ok && i < 4; i++)
		ok = is_right(3, "no CNP", &quiet[i], on_quiet);
	return ok && lab_check(true, "task 3: quiet rounds bring it back");
}

/* ---- all ---- */

static void react(const struct round *r)
{
	for (unsigned i = 0; i < SENDERS; i++)
		if (r->after.cnps[i + 1] > r->before.cnps[i + 1])
			on_cnp(&flow[i]);
		else
			on_quiet(&flow[i]);
}

/* At line rate. On a machine that is busy senders may begin too far apart for any mark. */
static bool first_round(struct round *r)
{
	for (unsigned i = 0; i < TRIES; i++) {
		send_round(r, 1);
		if (!r->done)
			return false;
		if (marks_of(r) > 0)
			return true;
	}
	return lab_check(false, "packets are marked in round 1");
}

/* The others. In the last half few packets may be marked. */
static void find_rates(struct round *r)
{
	unsigned long long marks = 0;

	for (unsigned n = 2; n <= ROUNDS && r->done; n++) {
		react(r);
		send_round(r, n);
		marks += n > ROUNDS / 2 ? marks_of(r) : 0;
	}
	if (r->done)
		lab_check(marks < PACKETS * (ROUNDS / 2) / 4,
			  "the senders have found their rates: %llu of %u packets are marked",
			  marks, PACKETS * (ROUNDS / 2));
}

int main(void)
{
	static struct round round;

	for (unsigned i = 0; i <= SENDERS; i++)
		lab_open_device(&host[i], i);
	for (unsigned i = 0; i < SENDERS; i++) {
		lab_end_open(&host[i + 1], &from[i], IBV_ACCESS_LOCAL_WRITE);
		lab_end_open(&host[0], &to[i], IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		lab_connect_apart(&host[i + 1], &from[i], &host[0], &to[i], 0, 0);
		flow[i] = (struct flow){LINE, LINE, 1, 0};
	}
	if (first_round(&round) && judge_congested(&round) && judge_flows())
		find_rates(&round);
	for (unsigned i = 0; i < SENDERS; i++) {
		lab_end_close(&from[i]);
		lab_end_close(&to[i]);
	}
	for (unsigned i = 0; i <= SENDERS; i++)
		lab_close(&host[i]);
	return lab_result();
}
