/* SPDX-License-Identifier: BSD-2-Clause */
/* What handlers share. See ctl_handler.h. */
#include "ctl_handler.h"

#include "emu/abi/ctl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

json_t *io_ctl_refuse(struct ctl_outcome *o, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(o->error, sizeof(o->error), format, ap);
	va_end(ap);
	return NULL;
}

json_t *io_ctl_no_such(struct ctl_outcome *o, const char *what, const char *word, words_names names,
		       const void *table)
{
	words_refuse(o->error, sizeof(o->error), what, word, names, table);
	return NULL;
}

static const char *device_at(const void *table, unsigned i)
{
	const struct io_devices *all = table;

	return i < all->n ? all->at[i]->id.name : NULL;
}

struct io_device *io_ctl_device_of(const struct io_services *h, const json_t *request,
				   struct ctl_outcome *o)
{
	const char *name = io_ctl_text(request, UHCA_CTL_DEVICE);
	struct io_device *dev = NULL;

	/* Without a name: the only one. */
	if (!name && h->devices->n == 1)
		return h->devices->at[0];
	if (name)
		dev = io_devices_find(h->devices, name, strlen(name) + 1);
	if (!name)
		io_ctl_refuse(o, "the device is missing: name one of %u devices", h->devices->n);
	else if (!dev)
		io_ctl_no_such(o, "device", name, device_at, h->devices);
	return dev;
}
