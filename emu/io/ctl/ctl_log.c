/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Request "log" (ctl.h): the reply comes when a thread has written what was logged before it.
 * See ctl_handler.h.
 */
#include "ctl_file_request.h"
#include "ctl_handler.h"
#include "emu/io/base/base.h"

#include <stdlib.h>

#define LOG_MS 1000

static void wait_for_log(struct ctl_file_request *e)
{
	io_log_flush(e->ms);
}

static json_t *written(struct ctl_file_request *e, struct ctl_outcome *o)
{
	(void)e;
	(void)o;
	return json_object();
}

static void drop(struct ctl_file_request *e)
{
	free(e);
}

json_t *io_ctl_log(const struct io_services *h, const json_t *request, struct ctl_outcome *o)
{
	struct ctl_file_request *e = calloc(1, sizeof(*e));

	(void)request;
	if (!e)
		return NULL;
	*e = (struct ctl_file_request){
		.work = wait_for_log,
		.finish = written,
		.late = written, /* a log that cannot be written holds up nothing */
		.drop = drop,
		.ms = LOG_MS};
	return io_ctl_file_request_start(h, e, o);
}
