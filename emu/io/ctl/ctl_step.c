/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests of step mode (ctl.h, "step"): a person stands at the wire of devices and lets packets go
 * one by one. See ctl_handler.h.
 */
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "wire/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define WAITING_MAX 4096 /* of one device */
#define SHOWN_MAX   256  /* packets of one reply */

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

	core_burst_packet(w->burst, 0, &pkt, &offset);
	roce_print_packet(&pkt, text, sizeof(text));
	facts = json_pack("{s:I, s:s, s:s, s:o}", UHCA_CTL_NUMBER, (json_int_t)w->number,
			  UHCA_CTL_DIRECTION, w->direction == FAULT_TX ? "tx" : "rx",
			  UHCA_CTL_PACKET, text, UHCA_CTL_SINCE, number_text(now - w->since));
	if (facts && w->burst->model.has_wr)
		json_object_set_new(facts, UHCA_CTL_WR, number_text(w->burst->model.wr_id));
	return facts;
}

static json_t *state_of(const struct io_device *dev, uint64_t now)
{
	static struct fault_waiting waiting[WAITING_MAX];
	unsigned total = fault_net_waiting(dev->net, waiting, WAITING_MAX);
	json_t *list = json_array();

	for (unsigned i = 0; i < total && i < SHOWN_MAX; i++)
		json_array_append_new(list, facts_of(&waiting[i], now));
	return json_pack("{s:s, s:b, s:I, s:o}", UHCA_CTL_DEVICE, dev->id.name, UHCA_CTL_FROZEN,
			 fault_net_frozen(dev->net), UHCA_CTL_TOTAL, (json_int_t)total,
			 UHCA_CTL_WAITING, list);
}

/* ---- what is done: 0, or -errno ---- */

struct step {
	struct io_device *const *dev; /* n_devs of them, those that the request is for */
	unsigned n_devs;
	const json_t *request;
	struct ctl_outcome *o;
	uint32_t number;
	uint64_t now;
	json_t *gone; /* of "next": what it let go, the first of many */
	json_int_t n_gone;
};

static struct fault_net *net_of(const struct step *s)
{
	return s->dev[0]->net;
}

static int freeze(struct step *s)
{
	for (unsigned i = 0; i < s->n_devs; i++) {
		core_freeze(s->dev[i]->core, true, s->now);
		fault_net_freeze(s->dev[i]->net, true, s->now);
	}
	return 0;
}

/* All clocks first: what one device lets go may be an answer that another waits for. */
static int go(struct step *s)
{
	for (unsigned i = 0; i < s->n_devs; i++)
		core_freeze(s->dev[i]->core, false, s->now);
	for (unsigned i = 0; i < s->n_devs; i++)
		fault_net_freeze(s->dev[i]->net, false, s->now);
	return 0;
}

static int list(struct step *s)
{
	(void)s;
	return 0;
}

/* Of all these devices, where the packet is that has waited longest; NULL: none waits. */
static struct io_device *find_oldest(const struct step *s, struct fault_waiting *oldest)
{
	struct io_device *found = NULL;
	struct fault_waiting first;

	for (unsigned i = 0; i < s->n_devs; i++) {
		if (fault_net_waiting(s->dev[i]->net, &first, 1) == 0)
			continue;
		if (found && first.since >= oldest->since)
			continue;
		*oldest = first;
		found = s->dev[i];
	}
	return found;
}

static void let_go(struct step *s, struct io_device *dev, const struct fault_waiting *w)
{
	json_t *facts = s->n_gone < SHOWN_MAX ? facts_of(w, s->now) : NULL;

	if (facts) {
		json_object_set_new(facts, UHCA_CTL_DEVICE, json_string(dev->id.name));
		json_array_append_new(s->gone, facts);
	}
	s->n_gone++;
	fault_net_release(dev->net, w->number, s->now);
}

/* As many as are asked for, also of those that the first set off. */
static int next(struct step *s)
{
	const json_t *count = json_object_get(s->request, UHCA_CTL_COUNT);
	json_int_t n = count ? json_integer_value(count) : 1;
	struct fault_waiting oldest;
	struct io_device *dev;

	if (n < 1) {
		io_ctl_refuse(s->o, "the number of packets must be 1 or more");
		return -EPERM;
	}
	s->gone = json_array();
	for (; n > 0 && (dev = find_oldest(s, &oldest)); n--)
		let_go(s, dev, &oldest);
	if (s->n_gone > 0)
		return 0;
	json_decref(s->gone);
	return -ENOENT;
}

static int release(struct step *s)
{
	return fault_net_release(net_of(s), s->number, s->now);
}

static int drop(struct step *s)
{
	return fault_net_drop(net_of(s), s->number, s->now);
}

/* The same checks as of a rule: is there such a field, and can it be that? */
static int check_field(const char *field, uint64_t value, struct ctl_outcome *o)
{
	char text[FAULT_TEXT_MAX], field_name[FAULT_WORD_MAX];
	struct fault_error error;
	struct fault_rule rule;

	snprintf(field_name, sizeof(field_name), "%.*s", (int)strcspn(field, ":"), field);

	if (snprintf(text, sizeof(text), "set=%s:%" PRIu64, field, value) < (int)sizeof(text) &&
	    strpbrk(field, " \t\n") == NULL && fault_rule_parse(text, &rule, &error) == 0)
		return 0;
	if (fault_field_find(field_name) == FAULT_FIELDS)
		io_ctl_no_such(o, "field", field_name, fault_field_at, NULL);
	else
		io_ctl_refuse(o, "packet field '%.64s' cannot be set to %" PRIu64, field, value);
	return -EPERM;
}

static int change(struct step *s)
{
	const char *field = io_ctl_text(s->request, UHCA_CTL_FIELD);
	const json_t *value = json_object_get(s->request, UHCA_CTL_VALUE);
	uint64_t v = (uint64_t)json_integer_value(value);

	if (!field || !json_is_integer(value))
		return -EINVAL;
	if (check_field(field, v, s->o) < 0)
		return -EPERM;
	return fault_net_change(net_of(s), s->number, field, v);
}

static const struct action {
	const char *name;
	int (*run)(struct step *s);
	bool numbered; /* of one packet, whose number is of one device */
} actions[] = {
	{"freeze", freeze, false}, {"go", go, false},          {"list", list, false},
	{"next", next, false},     {"release", release, true}, {"drop", drop, true},
	{"change", change, true},
};
/* The devices that are meant: without a name all, where no packet's number needs one. */
static bool choose_devices(const struct io_services *h, const struct action *a, struct step *s)
{
	struct io_device *dev;

	if (!a->numbered && !json_object_get(s->request, UHCA_CTL_DEVICE)) {
		s->dev = h->devices->at;
		s->n_devs = h->devices->n;
		return true;
	}
	dev = io_ctl_device_of(h, s->request, s->o);
	if (!dev)
		return false;
	s->dev = &h->devices->at[dev->id.index];
	s->n_devs = 1;
	return true;
}

static json_t *refuse(const struct step *s, int error, const char *action)
{
	if (error == -EPERM) /* said already */
		return NULL;
	if (error == -ENOENT && strcmp(action, "next") == 0)
		return io_ctl_refuse(s->o, "no packet waits");
	if (error == -ENOENT)
		return io_ctl_refuse(s->o, "no packet %u waits", s->number);
	if (strcmp(action, "change") == 0)
		return io_ctl_refuse(s->o, "packet %u does not have this field", s->number);
	return io_ctl_refuse(s->o, "step %s: %s", action, strerror(-error));
}

static json_t *result_of(const struct step *s)
{
	json_t *devices;

	if (s->gone)
		return json_pack("{s:I, s:o}", UHCA_CTL_TOTAL, s->n_gone, UHCA_CTL_GONE, s->gone);
	devices = json_array();
	for (unsigned i = 0; i < s->n_devs; i++)
		json_array_append_new(devices, state_of(s->dev[i], s->now));
	return json_pack("{s:o}", UHCA_CTL_DEVICES, devices);
}

json_t *io_ctl_step(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const json_t *number = json_object_get(request, UHCA_CTL_NUMBER);
	struct step s = {.request = request, .o = o, .now = io_clock_now()};
	const struct action *a =
		words_row(WORDS_ROWS(actions), io_ctl_text(request, UHCA_CTL_ACTION));
	int error;

	if (!a)
		return io_ctl_refuse(
			o, "step needs \"%s\": freeze, go, list, next, release, drop or change",
			UHCA_CTL_ACTION);
	if (!choose_devices(h, a, &s))
		return NULL;
	if (a->numbered && !json_is_integer(number))
		return io_ctl_refuse(o, "step %s needs a packet number", a->name);
	s.number = (uint32_t)json_integer_value(number);
	error = a->run(&s);
	if (error < 0)
		return refuse(&s, error, a->name);
	for (unsigned i = 0; i < s.n_devs; i++)
		netif_flush(&s.dev[i]->top);
	io_faults_changed(h->faults);
	return result_of(&s);
}
