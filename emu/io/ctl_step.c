/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of step mode (ctl.h, "step"): a person stands at the wire of a device and lets packets
 * go one by one. See ctl_handler.h.
 */
#include "clock.h"
#include "ctl.h"
#include "ctl_handler.h"
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MAX 4096 /* of one device */
#define SHOWN_MAX   256  /* packets of one reply */

static struct io_port *port_of(struct io_daemon *d, const struct io_device *dev)
{
	return &d->ports[dev->id.index];
}

/* ---- what is told ---- */

static json_t *number_text(uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

static json_t *facts_of(const struct fault_waiting *w, uint64_t now)
{
	char text[ROCE_PRINT_LENGTH];
	struct roce_packet pkt;
	uint32_t offset;
	json_t *facts;

	core_train_packet(w->train, 0, &pkt, &offset);
	roce_print_packet(&pkt, text, sizeof(text));
	facts = json_pack("{s:I, s:s, s:s, s:o}", UHCA_CTL_NUMBER, (json_int_t)w->number,
			  UHCA_CTL_DIRECTION, w->direction == FAULT_TX ? "tx" : "rx",
			  UHCA_CTL_PACKET, text, UHCA_CTL_SINCE, number_text(now - w->since));
	if (facts && w->train->story.has_wr)
		json_object_set_new(facts, UHCA_CTL_WR, number_text(w->train->story.wr_id));
	return facts;
}

static json_t *state_of(struct io_port *p, uint64_t now)
{
	static struct fault_waiting waiting[WAITING_MAX];
	unsigned total = fault_net_waiting(p->fault.net, waiting, WAITING_MAX);
	json_t *list = json_array();

	for (unsigned i = 0; i < total && i < SHOWN_MAX; i++)
		json_array_append_new(list, facts_of(&waiting[i], now));
	return json_pack("{s:s, s:b, s:I, s:o}", UHCA_CTL_DEVICE, p->dev.id.name, UHCA_CTL_FROZEN,
			 fault_net_frozen(p->fault.net), UHCA_CTL_TOTAL, (json_int_t)total,
			 UHCA_CTL_WAITING, list);
}

/* ---- what is done: 0, or -errno ---- */

struct step {
	struct fault_net *net;
	const json_t *request;
	struct ctl_outcome *o;
	uint32_t number;
	uint64_t now;
};

static int freeze(const struct step *s)
{
	fault_net_freeze(s->net, true, s->now);
	return 0;
}

static int go(const struct step *s)
{
	fault_net_freeze(s->net, false, s->now);
	return 0;
}

static int list(const struct step *s)
{
	(void)s;
	return 0;
}

/* As many as there are now: what they set off waits behind them. */
static int next(const struct step *s)
{
	const json_t *count = json_object_get(s->request, UHCA_CTL_COUNT);
	json_int_t n = count ? json_integer_value(count) : 1;
	struct fault_waiting first;

	if (n < 1)
		return -EINVAL;
	for (; n > 0 && fault_net_waiting(s->net, &first, 1) > 0; n--)
		fault_net_release(s->net, first.number, s->now);
	return 0;
}

static int release(const struct step *s)
{
	return fault_net_release(s->net, s->number, s->now);
}

static int drop(const struct step *s)
{
	return fault_net_drop(s->net, s->number, s->now);
}

/* The same checks as of a rule: is there such a field, and can it be that? */
static int check_field(const char *field, uint64_t value, struct ctl_outcome *o)
{
	char text[FAULT_TEXT_MAX];
	struct fault_error error;
	struct fault_rule rule;

	if (snprintf(text, sizeof(text), "set=%s:%" PRIu64, field, value) < (int)sizeof(text) &&
	    strpbrk(field, " \t\n") == NULL && fault_rule_parse(text, &rule, &error) == 0)
		return 0;
	io_ctl_refuse(o, "no packet's field '%.64s' can be set to %" PRIu64, field, value);
	return -EPERM;
}

static int change(const struct step *s)
{
	const char *field = json_string_value(json_object_get(s->request, UHCA_CTL_FIELD));
	const json_t *value = json_object_get(s->request, UHCA_CTL_VALUE);
	uint64_t v = (uint64_t)json_integer_value(value);

	if (!field || !json_is_integer(value))
		return -EINVAL;
	if (check_field(field, v, s->o) < 0)
		return -EPERM;
	return fault_net_change(s->net, s->number, field, v);
}

static const struct {
	const char *name;
	int (*run)(const struct step *s);
	bool numbered; /* of one packet */
} actions[] = {
	{"freeze", freeze, false}, {"go", go, false},          {"list", list, false},
	{"next", next, false},     {"release", release, true}, {"drop", drop, true},
	{"change", change, true},
};
#define N_ACTIONS (sizeof(actions) / sizeof(actions[0]))

static size_t find_action(const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, UHCA_CTL_ACTION));
	size_t i = 0;

	while (i < N_ACTIONS && (!name || strcmp(actions[i].name, name) != 0))
		i++;
	return i;
}

static json_t *refuse(struct ctl_outcome *o, int error, const struct step *s, const char *action)
{
	if (error == -EPERM) /* said already */
		return NULL;
	if (error == -ENOENT)
		return io_ctl_refuse(o, "no packet %u waits", s->number);
	if (strcmp(action, "change") == 0)
		return io_ctl_refuse(o, "packet %u has no such field", s->number);
	return io_ctl_refuse(o, "step %s: %s", action, strerror(-error));
}

json_t *io_ctl_step(struct io_daemon *d, const json_t *request, struct ctl_outcome *o)
{
	const json_t *number = json_object_get(request, UHCA_CTL_NUMBER);
	struct io_device *dev = io_ctl_device_of(d, request, o);
	size_t action = find_action(request);
	struct io_port *p;
	struct step s;
	int error;

	if (!dev)
		return NULL;
	if (action == N_ACTIONS)
		return io_ctl_refuse(
			o, "step needs \"%s\": freeze, go, list, next, release, drop or change",
			UHCA_CTL_ACTION);
	if (actions[action].numbered && !json_is_integer(number))
		return io_ctl_refuse(o, "step %s needs the number of a packet",
				     actions[action].name);
	p = port_of(d, dev);
	s = (struct step){p->fault.net, request, o, (uint32_t)json_integer_value(number),
			  io_clock_now()};
	error = actions[action].run(&s);
	if (error < 0)
		return refuse(o, error, &s, actions[action].name);
	netif_flush(&p->dev.top);
	io_faults_changed(d);
	return state_of(p, s.now);
}
