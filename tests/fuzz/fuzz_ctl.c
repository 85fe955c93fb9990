/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any line to the daemon's control socket: one line of JSON comes back, with a result or an
 * error. Captures go to a file in a directory of this run, whatever the request names.
 */
#include "fuzz.h"

#include "ctl.h"
#include "emu/io/ctl_request.h"
#include "emu/io/daemon.h"
#include "emu/io/log.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

static struct io_daemon d;
static char dir[64];

static void stop(void)
{
	char path[80];

	io_daemon_destroy(&d);
	snprintf(path, sizeof(path), "%s/x", dir);
	unlink(path);
	rmdir(dir);
}

static void start(void)
{
	struct io_settings s = {.devices = 2, .ready_fd = -1, .wire = IO_WIRE_NEVER};
	struct io_instance instance;

	strcpy(dir, "/tmp/uhca-fuzz-XXXXXX");
	FUZZ_CHECK(mkdtemp(dir) != NULL);
	FUZZ_CHECK(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null") == 0);
	FUZZ_CHECK(io_instance_open(&instance, dir) == 0);
	FUZZ_CHECK(io_daemon_create(&d, &s, &instance) == 0);
	atexit(stop);
}

/* True when the line would have the daemon make a file somewhere else. */
static bool names_a_file(const char *line, size_t len)
{
	json_t *request = json_loadb(line, len, 0, NULL);
	const char *file = json_string_value(json_object_get(request, UHCA_CTL_FILE));
	bool elsewhere = file != NULL;

	json_decref(request);
	return elsewhere;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data;
	char own[160];
	char *reply;
	json_t *j;

	if (!d.loop)
		start();
	if (names_a_file(line, size)) {
		snprintf(own, sizeof(own),
			 "{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"%s/x\"}", dir);
		line = own;
		size = strlen(own);
	}
	reply = io_ctl_request(&d, line, size);
	FUZZ_CHECK(reply && strchr(reply, '\n') == reply + strlen(reply) - 1);
	j = json_loads(reply, 0, NULL);
	FUZZ_CHECK(json_is_boolean(json_object_get(j, UHCA_CTL_OK)));
	FUZZ_CHECK(!json_object_get(j, UHCA_CTL_RESULT) != !json_object_get(j, UHCA_CTL_ERROR));
	json_decref(j);
	free(reply);
	return 0;
}
