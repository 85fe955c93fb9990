/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that let a device meet what a real one meets: its link goes down and comes back, it
 * fails, the fabric around it changes. See ctl_handler.h.
 */
#include "ctl.h"
#include "ctl_handler.h"
#include "event.h"

#include <stdlib.h>
#include <string.h>

struct io_device *io_ctl_device_of(struct io_daemon *d, const json_t *request,
				   struct ctl_outcome *o)
{
	const char *name = json_string_value(json_object_get(request, UHCA_CTL_DEVICE));
	struct io_device *dev = NULL;

	/* Without a name: the only one. */
	if (!name && d->n_ports == 1)
		return &d->ports[0].dev;
	if (name)
		dev = io_daemon_find_device(d, name, strlen(name) + 1);
	if (!name)
		io_ctl_refuse(o, "which device? there are %u", d->n_ports);
	else if (!dev)
		io_ctl_refuse(o, "there is no device '%s'", name);
	return dev;
}

json_t *io_ctl_port(struct io_daemon *d, const json_t *request, struct ctl_outcome *o)
{
	const char *action = json_string_value(json_object_get(request, UHCA_CTL_ACTION));
	struct io_device *dev = io_ctl_device_of(d, request, o);
	bool up = action && strcmp(action, "up") == 0;
	int error;

	if (!dev)
		return NULL;
	if (!up && (!action || strcmp(action, "down") != 0))
		return io_ctl_refuse(o, "port needs \"%s\": up or down", UHCA_CTL_ACTION);
	error = io_fault_port(d, dev, up);
	if (error < 0)
		return io_ctl_refuse(o, "the files of the port: %s", strerror(-error));
	return json_pack("{s:s, s:b}", UHCA_CTL_DEVICE, dev->id.name, UHCA_CTL_UP, up);
}

json_t *io_ctl_device(struct io_daemon *d, const json_t *request, struct ctl_outcome *o)
{
	const char *action = json_string_value(json_object_get(request, UHCA_CTL_ACTION));
	struct io_device *dev = io_ctl_device_of(d, request, o);

	if (!dev)
		return NULL;
	if (!action || strcmp(action, "fatal") != 0)
		return io_ctl_refuse(o, "device needs \"%s\": fatal", UHCA_CTL_ACTION);
	return json_pack("{s:s, s:I}", UHCA_CTL_DEVICE, dev->id.name, UHCA_CTL_CLIENTS,
			 (json_int_t)io_daemon_fatal(d, dev));
}

static const struct {
	const char *name;
	uint32_t type;
} events[] = {
	{"LID_CHANGE", UHCA_ABI_EVENT_LID_CHANGE},
	{"PKEY_CHANGE", UHCA_ABI_EVENT_PKEY_CHANGE},
	{"SM_CHANGE", UHCA_ABI_EVENT_SM_CHANGE},
	{"CLIENT_REREGISTER", UHCA_ABI_EVENT_CLIENT_REREGISTER},
	{"GID_CHANGE", UHCA_ABI_EVENT_GID_CHANGE},
};

json_t *io_ctl_event(struct io_daemon *d, const json_t *request, struct ctl_outcome *o)
{
	const char *name = json_string_value(json_object_get(request, UHCA_CTL_NAME));
	struct io_device *dev = io_ctl_device_of(d, request, o);

	if (!dev)
		return NULL;
	for (size_t i = 0; name && i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].name, name) == 0 &&
		    core_port_event(dev->core, events[i].type) == 0)
			return json_pack("{s:s}", UHCA_CTL_DEVICE, dev->id.name);
	return io_ctl_refuse(o,
			     "an event is LID_CHANGE, PKEY_CHANGE, SM_CHANGE, CLIENT_REREGISTER or "
			     "GID_CHANGE");
}
