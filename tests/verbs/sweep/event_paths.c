/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that can treat completions and events wrongly. It sends messages from one queue pair to
 * another. After an error it connects both anew and sends the message again; it ends with 1 when
 * that fails three times, or a completion queue does.
 *
 *	event_paths WAY,...
 *
 * right: as said
 * leak: after an error it opens all anew, and forgets what it had
 * hang: it arms its completion queue again when a message has come, and not after an error
 * keep: it does not acknowledge events
 *
 * Each is right as long as nothing fails.
 */
#include "tests/verbs/sanitize/pair.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES 3
#define TRIES    3
#define LENGTH   64

static const char *mode = "right";
static const struct pair_link usual = {0, 0, 10, 3, 6, 1};

static bool is(const char *way)
{
	return strstr(mode, way);
}

static void arm(const struct pair *p)
{
	pair_must(!ibv_req_notify_cq(p->b.cq, 0), "ibv_req_notify_cq");
}

static void open_all(struct pair *p)
{
	int flags;

	pair_open(p);
	flags = fcntl(p->context->async_fd, F_GETFL);
	fcntl(p->context->async_fd, F_SETFL, flags | O_NONBLOCK);
	arm(p);
}

static void drain(struct end *e)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(e->cq, 1, &wc) > 0)
		;
}

/* What was under way comes no more. */
static void recover(struct pair *p)
{
	if (is("leak")) {
		open_all(p);
		return;
	}
	pair_reconnect(p, &p->a, usual);
	pair_reconnect(p, &p->b, usual);
	drain(&p->a);
	drain(&p->b);
}

static bool is_fatal(enum ibv_event_type type)
{
	return type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_CQ_ERR;
}

static bool is_of_queue_pair(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR;
}

/* The worst that has happened; NULL: nothing that matters. */
static const char *read_events(const struct pair *p, bool *fatal)
{
	struct ibv_async_event event;
	const char *why = NULL;

	while (!ibv_get_async_event(p->context, &event)) {
		if (is_fatal(event.event_type) || is_of_queue_pair(event.event_type))
			why = ibv_event_type_str(event.event_type);
		*fatal |= is_fatal(event.event_type);
		if (!is("keep"))
			ibv_ack_async_event(&event);
	}
	return why;
}

/* The completion's, which may not come. NULL: all is well. */
static const char *take_event(struct end *e, bool *came)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(e->cq, 1, &wc);

	*came |= n != 0;
	return n < 0 ? "ibv_poll_cq failed" : n && wc.status ? ibv_wc_status_str(wc.status) : NULL;
}

static void read_channel(const struct pair *p)
{
	void *context;
	struct ibv_cq *cq;

	pair_must(!ibv_get_cq_event(p->channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	if (!is("hang"))
		arm(p);
}

/* Waits for the message and its completion. NULL: both came. */
static const char *await(struct pair *p, bool *fatal)
{
	struct pollfd at[] = {{.fd = p->channel->fd, .events = POLLIN},
			      {.fd = p->context->async_fd, .events = POLLIN}};
	bool sent = false, here = false;
	const char *why = NULL;

	while (!why && !here) {
		poll(at, 2, -1);
		why = read_events(p, fatal);
		if (at[0].revents)
			read_channel(p);
		why = why ? why : take_event(&p->b, &here);
	}
	while (!why && !sent)
		why = take_event(&p->a, &sent);
	return why;
}

static bool send_one(struct pair *p, unsigned number)
{
	bool fatal = false;

	for (unsigned i = 0; i < TRIES; i++) {
		const char *why;

		pair_recv(&p->b, number, LENGTH, LENGTH);
		pair_post(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, LENGTH);
		why = await(p, &fatal);
		if (!why && is("hang"))
			arm(p);
		if (!why)
			return true;
		fprintf(stderr, "event_paths: %s\n", why);
		if (fatal)
			return false;
		recover(p);
	}
	return false;
}

int main(int argc, char **argv)
{
	struct pair p;
	bool ok = true;

	if (argc > 1)
		mode = argv[1];
	open_all(&p);
	for (unsigned i = 0; ok && i < MESSAGES; i++)
		ok = send_one(&p, i);
	pair_close(&p);
	return ok ? 0 : 1;
}
