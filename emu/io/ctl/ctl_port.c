/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that let a device meet what a real one meets: its link goes down and comes back, it
 * fails, the fabric around it changes. See ctl_handler.h.
 */
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/fault/rule/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

json_t *io_ctl_port(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *action = io_ctl_text(request, UHCA_CTL_ACTION);
	struct io_device *dev = io_ctl_device_of(h, request, o);
	static const char *const ways[] = {"up", "down", NULL};
	bool up = action && strcmp(action, "up") == 0;
	int error;

	if (!dev)
		return NULL;
	if (!action)
		return io_ctl_refuse(o, "port needs \"%s\": up or down", UHCA_CTL_ACTION);
	if (!up && strcmp(action, "down") != 0)
		return io_ctl_no_such(o, "port action", action, words_at, ways);
	error = io_fault_port(h->faults, dev, up);
	if (error < 0)
		return io_ctl_refuse(o, "the port's sysfs files: %s", strerror(-error));
	return json_pack("{s:s, s:b}", UHCA_CTL_DEVICE, dev->id.name, UHCA_CTL_UP, up);
}

json_t *io_ctl_device(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *action = io_ctl_text(request, UHCA_CTL_ACTION);
	struct io_device *dev = io_ctl_device_of(h, request, o);

	if (!dev)
		return NULL;
	if (!action || strcmp(action, "fatal") != 0)
		return io_ctl_refuse(o, "device needs \"%s\": fatal", UHCA_CTL_ACTION);
	return json_pack("{s:s, s:I}", UHCA_CTL_DEVICE, dev->id.name, UHCA_CTL_CLIENTS,
			 (json_int_t)h->faults->env.fatal(h->faults->env.user, dev));
}

static const char *limit_at(const void *table, unsigned i)
{
	(void)table;
	return core_limit_name(i);
}

static json_t *refuse_limit(struct ctl_outcome *o, const char *name, json_int_t value)
{
	uint64_t least, most;
	unsigned i = 0;

	while (strcmp(core_limit_name(i), name) != 0)
		i++;
	core_limit_range(i, &least, &most);
	if (value >= 0 && (uint64_t)value >= least && (uint64_t)value <= most)
		return io_ctl_refuse(o, "%s=%lld: the daemon started with a lower limit", name,
				     (long long)value);
	return io_ctl_refuse(o, "%s=%lld is not in the range %llu to %llu", name, (long long)value,
			     (unsigned long long)least, (unsigned long long)most);
}

json_t *io_ctl_limit(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *name = io_ctl_text(request, UHCA_CTL_NAME);
	const json_t *value = json_object_get(request, UHCA_CTL_VALUE);
	struct io_device *dev = io_ctl_device_of(h, request, o);
	int error;

	if (!dev)
		return NULL;
	if (!name || !json_is_integer(value) || json_integer_value(value) < 0)
		return io_ctl_refuse(o, "limit needs \"%s\" and a number \"%s\"", UHCA_CTL_NAME,
				     UHCA_CTL_VALUE);
	error = core_inject_limit(dev->core, name, (uint64_t)json_integer_value(value));
	if (error == -EINVAL)
		return io_ctl_no_such(o, "limit", name, limit_at, NULL);
	if (error < 0)
		return refuse_limit(o, name, json_integer_value(value));
	return json_pack("{s:s, s:s, s:O}", UHCA_CTL_DEVICE, dev->id.name, UHCA_CTL_NAME, name,
			 UHCA_CTL_VALUE, value);
}

/* "qp=0x12": what an event is of. False: it is nothing of the kind. */
static bool read_object(const char *text, struct core_event_of *of)
{
	const struct {
		const char *name;
		uint32_t *number;
	} kinds[] = {{"qp=", &of->qpn}, {"cq=", &of->cq}, {"srq=", &of->srq}, {"wq=", &of->wq}};
	char *end;

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].name);
		unsigned long value;

		if (strncmp(text, kinds[i].name, n) != 0)
			continue;
		value = strtoul(text + n, &end, 0);
		*kinds[i].number = (uint32_t)value;
		return end != text + n && !*end && value > 0 && value <= UINT32_MAX;
	}
	return false;
}

json_t *io_ctl_event(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *name = io_ctl_text(request, UHCA_CTL_NAME);
	const char *object = io_ctl_text(request, UHCA_CTL_OF);
	struct io_device *dev = io_ctl_device_of(h, request, o);
	const struct fault_constant *event;
	struct core_event_of of = {0};
	int error;

	if (!dev)
		return NULL;
	event = name ? fault_constant_find(&fault_events, (struct fault_piece){name, strlen(name)})
		     : NULL;
	if (!name)
		return io_ctl_refuse(o, "event needs \"%s\"", UHCA_CTL_NAME);
	if (!event)
		return io_ctl_no_such(o, "event", name, fault_constant_at, fault_events.table);
	if (object && !read_object(object, &of))
		return io_ctl_refuse(o,
				     "'%s' is not qp=NUMBER, cq=HANDLE, srq=HANDLE or "
				     "wq=HANDLE",
				     object);
	if (object && core_event_of_device((uint32_t)event->value))
		return io_ctl_refuse(o, "%s is an event of the whole device: leave out %s",
				     event->name, object);
	error = core_inject_event(dev->core, (uint32_t)event->value, &of);
	if (error < 0 && !object)
		return io_ctl_refuse(o,
				     "%s belongs to a QP, CQ, SRQ or WQ: give qp=, cq=, srq= or "
				     "wq=",
				     event->name);
	if (error < 0)
		return io_ctl_refuse(o, "%s: %s has no such object as %s", event->name,
				     dev->id.name, object);
	return json_pack("{s:s}", UHCA_CTL_DEVICE, dev->id.name);
}
