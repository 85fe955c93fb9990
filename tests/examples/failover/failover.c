/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages over two rails: the first as long as it works, the second while it does not.
 *
 *	failover - PORT DEVICE DEVICE COUNT            receives
 *	failover ADDRESS PORT DEVICE DEVICE COUNT      sends
 *
 * A completion that says success means that the message has reached the other adapter, not that
 * the receiver has seen it: whoever loses a rail asks over a TCP connection what has come, and
 * sends the rest by the other. Some arrive twice: the receiver knows them by their numbers. Both
 * ends of a rail are made anew, again and again until that works. Exit status 3: no rail came back
 * in time.
 */
#include "rail.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RAILS          2
#define PAUSE          1          /* ms between messages */
#define AGAIN          20         /* ms between attempts to bring a rail back */
#define DEADEND        2000       /* ms without a rail */
#define LISTEN_TIMEOUT 120000     /* ms until the receiver listens */
#define ASK            UINT32_MAX /* as a rail: what has come? */

static struct rail rail[RAILS];
static uint64_t count;
static int peer; /* TCP */

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void say_lost(unsigned i, const char *why)
{
	printf("rail %u lost: %s\n", i, why);
}

static void send_end(const struct rail_end *end)
{
	if (write(peer, end, sizeof(*end)) != sizeof(*end))
		exit(4);
}

static bool hear(struct rail_end *end)
{
	return recv(peer, end, sizeof(*end), MSG_WAITALL) == sizeof(*end);
}

/* ---- the sender ---- */

struct sender {
	uint64_t acked, posted; /* messages, from 0 */
	int active;             /* rail; -1: none */
	uint64_t tried[RAILS];  /* ms */
	uint64_t lost_at;       /* when the last rail was lost */
};

static uint64_t ask(void)
{
	struct rail_end end = {.rail = ASK};

	send_end(&end);
	if (!hear(&end))
		exit(4);
	return end.qpn;
}

/* The first that works; a better one only when nothing is under way. */
static void choose(struct sender *s)
{
	int best = rail[0].qp ? 0 : rail[1].qp ? 1 : -1;

	if (best < 0 || best == s->active || (s->active >= 0 && s->posted != s->acked))
		return;
	s->active = best;
	printf("rail %d carries\n", best);
}

/* The other one carries at once: the lost one may be back before the next look at them. */
static void lose(struct sender *s, unsigned i, const char *why)
{
	say_lost(i, why);
	rail_drop(&rail[i], false);
	s->tried[i] = now_ms();
	if (s->active != (int)i)
		return;
	s->active = -1;
	s->posted = s->acked = ask();
	s->lost_at = now_ms();
	choose(s);
}

/* Both ends anew. */
static void bring_back(struct sender *s, unsigned i)
{
	struct rail_end own = {.rail = i}, its;

	s->tried[i] = now_ms();
	if (!rail_prepare(&rail[i], &own))
		return;
	send_end(&own);
	if (!hear(&its))
		exit(4);
	if (its.qpn && rail_connect(&rail[i], &its))
		printf("rail %u up, GID index %d\n", i, rail[i].gid_index);
	else
		rail_drop(&rail[i], false);
}

static void look_at_rails(struct sender *s)
{
	for (unsigned i = 0; i < RAILS; i++) {
		const char *why = rail_news(&rail[i]);

		if (why)
			lose(s, i, why);
		if (!rail[i].qp && now_ms() - s->tried[i] >= AGAIN)
			bring_back(s, i);
	}
}

/* RC completes in order: what comes is the next one. */
static void take_completions(struct sender *s)
{
	struct ibv_wc wc;

	while (s->active >= 0 && ibv_poll_cq(rail[s->active].cq, 1, &wc) > 0) {
		if (wc.status == IBV_WC_SUCCESS)
			s->acked++;
		else
			lose(s, (unsigned)s->active, ibv_wc_status_str(wc.status));
	}
}

static void post(struct sender *s)
{
	bool room = s->posted < count && s->posted - s->acked < RAIL_WINDOW;

	if (s->active < 0 || !room)
		return;
	if (rail_post_send(&rail[s->active], s->posted))
		s->posted++;
	else
		lose(s, (unsigned)s->active, "ibv_post_send failed");
}

static int send_all(void)
{
	struct sender s = {.active = -1, .lost_at = now_ms()};

	/* At the end the receiver has the last word. */
	while (s.acked < count || (s.acked = s.posted = ask()) < count) {
		look_at_rails(&s);
		choose(&s);
		post(&s);
		poll(NULL, 0, PAUSE);
		take_completions(&s);
		if (s.active < 0 && now_ms() - s.lost_at > DEADEND) {
			puts("no rail is left");
			return 3;
		}
	}
	return 0;
}

/* ---- the receiver ---- */

#define AHEAD 64 /* more than both rails have under way */

struct receiver {
	uint64_t next; /* the first that has not come */
	bool here[AHEAD];
};

static void take_message(struct receiver *r, unsigned i, const struct ibv_wc *wc)
{
	uint64_t number = rail[i].memory[wc->wr_id].number;

	/*
	 * The sender's completion says that the message is here, not that its completion is: the
	 * other rail's next message may be seen first.
	 */
	if (number >= r->next + AHEAD) {
		printf("message %llu came before %llu\n", (unsigned long long)number,
		       (unsigned long long)r->next);
		exit(6);
	}
	if (number >= r->next)
		r->here[number % AHEAD] = true;
	for (; r->here[r->next % AHEAD]; r->next++)
		r->here[r->next % AHEAD] = false;
	if (!rail_post_recv(&rail[i], (unsigned)wc->wr_id))
		rail_drop(&rail[i], false);
}

static void take_messages(struct receiver *r, unsigned i)
{
	struct ibv_wc wc;

	while (rail[i].qp && ibv_poll_cq(rail[i].cq, 1, &wc) > 0) {
		if (wc.status == IBV_WC_SUCCESS) {
			take_message(r, i, &wc);
			continue;
		}
		say_lost(i, ibv_wc_status_str(wc.status));
		rail_drop(&rail[i], false);
	}
}

/* What has arrived already is taken before its queue pair goes. */
static void answer(struct receiver *r, const struct rail_end *its)
{
	struct rail_end own = {.rail = its->rail};
	struct rail *mine = &rail[its->rail % RAILS];
	bool ok;

	take_messages(r, its->rail % RAILS);
	ok = rail_prepare(mine, &own) && rail_connect(mine, its);
	for (unsigned i = 0; ok && i < RAIL_WINDOW; i++)
		ok = rail_post_recv(mine, i);
	if (!ok)
		own.qpn = 0;
	send_end(&own);
}

static void serve(struct receiver *r, const struct rail_end *its)
{
	if (its->rail == ASK)
		send_end(&(struct rail_end){.rail = ASK, .qpn = (uint32_t)r->next});
	else
		answer(r, its);
}

static int receive_all(void)
{
	struct receiver r = {.next = 0};
	struct rail_end its = {.rail = 0};
	struct pollfd p = {.fd = peer, .events = POLLIN};

	for (;;) {
		for (unsigned i = 0; i < RAILS; i++) {
			const char *why;

			take_messages(&r, i);
			why = rail_news(&rail[i]);
			if (why)
				say_lost(i, why);
		}
		if (poll(&p, 1, PAUSE) != 1)
			continue;
		if (!hear(&its))
			break;
		serve(&r, &its);
	}
	printf("%llu messages, each once\n", (unsigned long long)r.next);
	return r.next == count ? 0 : 3;
}

/* ---- */

/* The receiver may not listen yet. */
static int call(const struct sockaddr_in *a)
{
	for (uint64_t end = now_ms() + LISTEN_TIMEOUT; now_ms() < end; poll(NULL, 0, AGAIN)) {
		int s = socket(AF_INET, SOCK_STREAM, 0);

		if (s >= 0 && connect(s, (const struct sockaddr *)a, sizeof(*a)) == 0)
			return s;
		close(s);
	}
	return -1;
}

static int meet(const char *address, const char *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	int s, one = 1, c;

	if (strcmp(address, "-") != 0) {
		inet_pton(AF_INET, address, &a.sin_addr);
		return call(&a);
	}
	s = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 1) < 0)
		return -1;
	c = accept(s, NULL, NULL);
	close(s);
	return c;
}

int main(int argc, char **argv)
{
	int status;

	if (argc != 6) {
		fprintf(stderr, "failover -|ADDRESS PORT DEVICE DEVICE COUNT\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < RAILS; i++)
		rail[i].name = argv[3 + i];
	count = strtoull(argv[5], NULL, 10);
	peer = meet(argv[1], argv[2]);
	if (peer < 0) {
		perror("failover");
		return 4;
	}
	status = strcmp(argv[1], "-") == 0 ? receive_all() : send_all();
	for (unsigned i = 0; i < RAILS; i++)
		rail_drop(&rail[i], true);
	close(peer);
	return status;
}
