/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures for uhcactl: one that is started and stopped, and the flight recorder's.
 */
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "emu/output/output.h"

#include <errno.h>
#include <string.h>

static const char *text_of(const json_t *request, const char *name)
{
	return json_string_value(json_object_get(request, name));
}

static json_t *refuse_file(struct ctl_outcome *o, const char *file, int error)
{
	if (error == -EINVAL)
		return io_ctl_refuse(o, "%s is not a regular file", file);
	return io_ctl_refuse(o, "%s: %s", file, output_error(error));
}

static json_t *facts(const struct io_capture *c)
{
	int error = io_capture_error(c);
	json_t *f = json_pack("{s:b, s:s, s:I, s:I, s:I}", UHCA_CTL_RUNNING, io_capture_running(c),
			      UHCA_CTL_FILE, c->path, UHCA_CTL_PACKETS, (json_int_t)c->packets,
			      UHCA_CTL_BYTES, (json_int_t)c->bytes, UHCA_CTL_RECORDS,
			      (json_int_t)c->records);

	if (f && error < 0)
		json_object_set_new(f, UHCA_CTL_ERROR, json_string(strerror(-error)));
	return f;
}

/* What is to be captured. False: refused. */
static bool read_wish(const struct io_house *h, const json_t *request, struct ctl_outcome *o,
		      struct io_capture_wish *out)
{
	const char *device = text_of(request, UHCA_CTL_DEVICE);
	const json_t *snap = json_object_get(request, UHCA_CTL_SNAP);
	json_int_t n = json_integer_value(snap);
	const struct io_device *dev;

	*out = (struct io_capture_wish){
		.path = text_of(request, UHCA_CTL_FILE), .only = -1, .snap = IO_CAPTURE_ALL};
	if (!out->path || out->path[0] != '/')
		return io_ctl_refuse(o, "capture needs an absolute file name");
	if (snap && (!json_is_integer(snap) || n < 0 || n > 65535))
		return io_ctl_refuse(o, "\"%s\" is a number of bytes from 0 to 65535",
				     UHCA_CTL_SNAP);
	if (snap)
		out->snap = (uint32_t)n;
	if (!device)
		return true;
	dev = io_devices_find(h->devices, device, strlen(device) + 1);
	if (!dev)
		return io_ctl_refuse(o, "there is no device '%s'", device);
	out->only = (int)dev->pcap->interface;
	return true;
}

static json_t *start(const struct io_house *h, const json_t *request, struct ctl_outcome *o)
{
	struct io_capture_wish wish;
	int error;

	if (!read_wish(h, request, o, &wish))
		return NULL;
	error = io_teller_start(h->teller, &wish);
	if (error == -EBUSY)
		return io_ctl_refuse(o, "a capture to %s is running", h->teller->capture->path);
	if (error < 0)
		return refuse_file(o, wish.path, error);
	io_log(IO_LOG_INFO, "capture to %s", wish.path);
	return facts(h->teller->capture);
}

static json_t *stop(const struct io_house *h, struct ctl_outcome *o)
{
	int error = io_capture_error(h->teller->capture);

	if (!io_capture_running(h->teller->capture) && error == 0)
		return io_ctl_refuse(o, "no capture is running");
	if (io_capture_running(h->teller->capture))
		error = io_teller_stop(h->teller);
	h->teller->capture->file.error = 0;
	if (error < 0)
		return io_ctl_refuse(o, "the capture to %s ended early: %s",
				     h->teller->capture->path, strerror(-error));
	return facts(h->teller->capture);
}

static json_t *dump(const struct io_house *h, const json_t *request, struct ctl_outcome *o)
{
	const char *file = text_of(request, UHCA_CTL_FILE);
	struct io_recorder_dump done;
	int error;

	if (!file || file[0] != '/')
		return io_ctl_refuse(o, "capture needs an absolute file name");
	error = io_teller_dump(h->teller, file, &done);
	if (error < 0)
		return refuse_file(o, file, error);
	return json_pack("{s:s, s:I, s:I, s:b}", UHCA_CTL_FILE, file, UHCA_CTL_PACKETS,
			 (json_int_t)done.packets, UHCA_CTL_RECORDS, (json_int_t)done.records,
			 UHCA_CTL_CUT, done.cut);
}

/* Who asks may read the file next: what there is so far is in it, however busy the daemon is. */
static json_t *status(const struct io_house *h)
{
	io_capture_flush(h->teller->capture);
	return facts(h->teller->capture);
}

json_t *io_ctl_capture(const struct io_house *h, const json_t *request, struct ctl_outcome *o)
{
	const char *action = text_of(request, UHCA_CTL_ACTION);

	if (action && strcmp(action, "start") == 0)
		return start(h, request, o);
	if (action && strcmp(action, "stop") == 0)
		return stop(h, o);
	if (action && strcmp(action, "status") == 0)
		return status(h);
	if (action && strcmp(action, "dump") == 0)
		return dump(h, request, o);
	return io_ctl_refuse(o, "capture needs \"%s\": start, stop, status or dump",
			     UHCA_CTL_ACTION);
}
