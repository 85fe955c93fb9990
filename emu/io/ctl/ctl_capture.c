/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures for uhcactl: one that is started and stopped, and the flight recorder's. A thread writes
 * the files; the replies wait for what it has to say of them.
 */
#include "ctl_file_request.h"
#include "ctl_handler.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "emu/io/network/network.h"
#include "emu/output/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MS   5000 /* for a file that is opened, closed or dumped to */
#define STATUS_MS 1000

static json_t *refuse_file(struct ctl_outcome *o, const char *file, int error)
{
	if (error == -EINVAL)
		return io_ctl_refuse(o, "%s is not a regular file", file);
	if (error == -EAGAIN)
		return io_ctl_refuse(o, "too many files on unresponsive file systems");
	return io_ctl_refuse(o, "%s: %s", file, output_error(error));
}

static json_t *no_answer(struct ctl_outcome *o, const char *file)
{
	return io_ctl_refuse(o, "%s: its file system does not respond", file);
}

static json_t *facts(const struct io_capture *c)
{
	int error = io_capture_error(c);
	json_t *f =
		json_pack("{s:b, s:s, s:I, s:I, s:I, s:I}", UHCA_CTL_RUNNING, io_capture_running(c),
			  UHCA_CTL_FILE, c->path, UHCA_CTL_PACKETS, (json_int_t)c->packets,
			  UHCA_CTL_BYTES, (json_int_t)c->bytes, UHCA_CTL_RECORDS,
			  (json_int_t)c->records, UHCA_CTL_LOST, (json_int_t)io_capture_lost(c));

	if (f && error < 0)
		json_object_set_new(f, UHCA_CTL_ERROR, json_string(strerror(-error)));
	return f;
}

/* What is to be captured. False: refused. */
static bool read_wish(const struct io_services *h, const json_t *request, struct ctl_outcome *o,
		      struct io_capture_wish *out)
{
	const char *device = io_ctl_text(request, UHCA_CTL_DEVICE);
	const json_t *snap = json_object_get(request, UHCA_CTL_SNAP);
	json_int_t n = json_integer_value(snap);
	const struct io_device *dev;

	*out = (struct io_capture_wish){
		.path = io_ctl_text(request, UHCA_CTL_FILE), .only = -1, .snap = IO_CAPTURE_ALL};
	if (!out->path || out->path[0] != '/')
		return io_ctl_refuse(o, "capture needs an absolute file name");
	if (snap && (!json_is_integer(snap) || n < 0 || n > 65535))
		return io_ctl_refuse(o, "\"%s\" must be a number of bytes from 0 to 65535",
				     UHCA_CTL_SNAP);
	if (snap)
		out->snap = (uint32_t)n;
	if (!device)
		return true;
	dev = io_devices_find(h->devices, device, strlen(device) + 1);
	if (!dev && h->network && io_network_port(h->network, device) >= 0) {
		io_ctl_fabric_capture(h, device, &out->only); /* not while another one runs */
		return true;
	}
	if (!dev && h->network && strchr(device, '/'))
		return io_ctl_refuse(o, "the network has no port '%.100s': show fabric lists them",
				     device);
	if (!dev)
		return io_ctl_device_of(h, request, o);
	out->only = (int)dev->pcap->interface;
	return true;
}

/* ---- what waits for the thread that writes the capture ---- */

struct capture_file_request {
	struct ctl_file_request e;
	struct io_file_writer *writer;
	int error;
	char path[PATH_MAX];
	json_t *facts; /* of a capture that is stopped */
};

static struct capture_file_request *of(struct ctl_file_request *e)
{
	return (struct capture_file_request *)e;
}

static void wait_for_writer(struct ctl_file_request *e)
{
	of(e)->error = io_file_writer_wait(of(e)->writer, e->ms);
}

static void drop_capture(struct ctl_file_request *e)
{
	io_file_writer_close(of(e)->writer);
	json_decref(of(e)->facts);
	free(e);
}

/* Takes over the writer. */
static json_t *wait_for(const struct io_services *h, const struct ctl_file_request *how,
			struct io_file_writer *writer, json_t *facts, struct ctl_outcome *o)
{
	struct capture_file_request *c = calloc(1, sizeof(*c));

	if (!c) {
		io_file_writer_close(writer);
		json_decref(facts);
		return NULL;
	}
	c->e = *how;
	c->e.work = wait_for_writer;
	c->e.drop = drop_capture;
	c->writer = writer;
	c->facts = facts;
	memcpy(c->path, h->tracer->capture->path, sizeof(c->path));
	return io_ctl_file_request_start(h, &c->e, o);
}

/* Is the capture still the one that the file_request is for? */
static bool is_running(const struct ctl_file_request *e)
{
	return e->services->tracer->capture->file.writer ==
	       ((const struct capture_file_request *)e)->writer;
}

/* ---- start ---- */

/* It never was. */
static void take_back(struct ctl_file_request *e)
{
	struct io_capture *c = e->services->tracer->capture;
	struct io_file_writer *writer;

	if (!is_running(e) && strcmp(c->path, of(e)->path) != 0)
		return;
	io_tracer_end(e->services->tracer, &writer);
	if (writer)
		io_file_writer_close(writer);
	c->file.error = 0;
}

static json_t *started(struct ctl_file_request *e, struct ctl_outcome *o)
{
	const char *path = of(e)->path;

	if (of(e)->error == 0) {
		io_log(IO_LOG_INFO, "capture to %s", path);
		return facts(e->services->tracer->capture);
	}
	take_back(e);
	return of(e)->error == -ETIMEDOUT ? no_answer(o, path) : refuse_file(o, path, of(e)->error);
}

static json_t *start_is_late(struct ctl_file_request *e, struct ctl_outcome *o)
{
	take_back(e);
	return no_answer(o, of(e)->path);
}

static json_t *start(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const struct ctl_file_request how = {
		.finish = started, .late = start_is_late, .ms = FILE_MS};
	struct io_capture *c = h->tracer->capture;
	struct io_capture_wish wish;
	int error;

	if (!read_wish(h, request, o, &wish))
		return NULL;
	wish.aside = true;
	error = io_tracer_start(h->tracer, &wish);
	if (error == -EBUSY)
		return io_ctl_refuse(o, "a capture to %s is already running", c->path);
	if (error < 0) {
		c->file.error = 0; /* the thread has failed so soon that the capture never was */
		return refuse_file(o, wish.path, error);
	}
	return wait_for(h, &how, io_file_writer_get(c->file.writer), NULL, o);
}

/* ---- stop ---- */

static json_t *ended_early(struct ctl_outcome *o, const char *path, int error)
{
	return io_ctl_refuse(o, "the capture to %s ended early: %s", path, strerror(-error));
}

static json_t *stop_is_late(struct ctl_file_request *e, struct ctl_outcome *o)
{
	return io_ctl_refuse(
		o,
		"%s: its file system does not respond; %zu captured bytes are written when it does",
		of(e)->path, io_file_writer_waiting(of(e)->writer));
}

static json_t *stopped(struct ctl_file_request *e, struct ctl_outcome *o)
{
	if (of(e)->error == -ETIMEDOUT)
		return stop_is_late(e, o);
	if (of(e)->error < 0)
		return ended_early(o, of(e)->path, of(e)->error);
	return json_incref(of(e)->facts);
}

static json_t *stop(const struct io_services *h, struct ctl_outcome *o)
{
	const struct ctl_file_request how = {
		.finish = stopped, .late = stop_is_late, .ms = FILE_MS};
	struct io_capture *c = h->tracer->capture;
	struct io_file_writer *writer = NULL;
	int error = io_capture_error(c);

	if (!io_capture_running(c) && error == 0)
		return io_ctl_refuse(o, "no capture is running");
	if (io_capture_running(c))
		error = io_tracer_end(h->tracer, &writer);
	c->file.error = 0;
	if (writer && error == 0)
		return wait_for(h, &how, writer, facts(c), o);
	if (writer)
		io_file_writer_close(writer);
	return error < 0 ? ended_early(o, c->path, error) : facts(c);
}

/* ---- status ---- */

static json_t *status_is_late(struct ctl_file_request *e, struct ctl_outcome *o)
{
	json_t *f = facts(e->services->tracer->capture);

	(void)o;
	if (f && is_running(e))
		json_object_set_new(
			f, UHCA_CTL_WAITING,
			json_integer((json_int_t)io_file_writer_waiting(of(e)->writer)));
	return f;
}

static json_t *written_out(struct ctl_file_request *e, struct ctl_outcome *o)
{
	if (of(e)->error == -ETIMEDOUT)
		return status_is_late(e, o);
	if (is_running(e))
		io_capture_flush(e->services->tracer->capture); /* it may have ended by itself */
	return facts(e->services->tracer->capture);
}

/* Who asks may read the file next: what there is so far is in it, however busy the daemon is. */
static json_t *status(const struct io_services *h, struct ctl_outcome *o)
{
	const struct ctl_file_request how = {
		.finish = written_out, .late = status_is_late, .ms = STATUS_MS};
	struct io_capture *c = h->tracer->capture;

	io_capture_flush(c);
	if (!c->file.writer)
		return facts(c);
	return wait_for(h, &how, io_file_writer_get(c->file.writer), NULL, o);
}

/* ---- the flight recorder ---- */

struct dump_file_request {
	struct ctl_file_request e;
	struct io_tracer_dump *dump;
};

static struct io_tracer_dump *dump_of(struct ctl_file_request *e)
{
	return ((struct dump_file_request *)e)->dump;
}

static void write_dump(struct ctl_file_request *e)
{
	io_tracer_dump_write(dump_of(e));
}

static json_t *dumped(struct ctl_file_request *e, struct ctl_outcome *o)
{
	const struct io_tracer_dump *d = dump_of(e);

	if (d->error < 0)
		return refuse_file(o, d->path, d->error);
	return json_pack("{s:s, s:I, s:I, s:b}", UHCA_CTL_FILE, d->path, UHCA_CTL_PACKETS,
			 (json_int_t)d->out.packets, UHCA_CTL_RECORDS, (json_int_t)d->out.records,
			 UHCA_CTL_CUT, d->out.cut);
}

static json_t *dump_is_late(struct ctl_file_request *e, struct ctl_outcome *o)
{
	return no_answer(o, dump_of(e)->path);
}

static void drop_dump(struct ctl_file_request *e)
{
	io_tracer_dump_free(dump_of(e));
	free(e);
}

static json_t *dump(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const struct ctl_file_request how = {.work = write_dump,
					     .finish = dumped,
					     .late = dump_is_late,
					     .drop = drop_dump,
					     .ms = FILE_MS};
	const char *file = io_ctl_text(request, UHCA_CTL_FILE);
	struct dump_file_request *d;
	int error;

	if (!file || file[0] != '/')
		return io_ctl_refuse(o, "capture needs an absolute file name");
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->e = how;
	error = io_tracer_dump_make(h->tracer, file, &d->dump);
	if (error == 0)
		return io_ctl_file_request_start(h, &d->e, o);
	free(d);
	return refuse_file(o, file, error);
}

json_t *io_ctl_capture(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	const char *action = io_ctl_text(request, UHCA_CTL_ACTION);

	if (action && strcmp(action, "start") == 0)
		return start(h, request, o);
	if (action && strcmp(action, "stop") == 0)
		return stop(h, o);
	if (action && strcmp(action, "status") == 0)
		return status(h, o);
	if (action && strcmp(action, "dump") == 0)
		return dump(h, request, o);
	return io_ctl_refuse(o, "capture needs \"%s\": start, stop, status or dump",
			     UHCA_CTL_ACTION);
}
