/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any line to the daemon's control socket: one line of JSON comes back, with a result or an
 * error. Files are one in a directory of this run, whatever the request names; "content" of a
 * request is what stands there before it comes.
 */
#include "fuzz.h"

#include "emu/abi/ctl.h"
#include "emu/io/base/log.h"
#include "emu/io/ctl/ctl_request.h"
#include "emu/io/daemon.h"

#include <jansson.h>
#include <stdio.h>
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
	FUZZ_CHECK(io_instance_open(&instance, dir, false) == 0);
	FUZZ_CHECK(io_daemon_create(&d, &s, &instance) == 0);
	atexit(stop);
}

static void fill_file(const char *path, const json_t *content)
{
	FILE *f;

	if (!json_is_string(content))
		return;
	f = fopen(path, "we");
	FUZZ_CHECK(f != NULL);
	fputs(json_string_value(content), f);
	FUZZ_CHECK(fclose(f) == 0);
}

/*
 * A request that names a file, with a file of this run in its place; NULL: it names none. The
 * caller frees it.
 */
static char *with_own_file(const char *line, size_t len)
{
	json_t *request = json_loadb(line, len, 0, NULL);
	char path[80];
	char *own = NULL;

	if (json_is_string(json_object_get(request, UHCA_CTL_FILE))) {
		snprintf(path, sizeof(path), "%s/x", dir);
		fill_file(path, json_object_get(request, "content"));
		json_object_del(request, "content");
		json_object_set_new(request, UHCA_CTL_FILE, json_string(path));
		own = json_dumps(request, JSON_COMPACT);
	}
	json_decref(request);
	return own;
}

/* Rules and what waits do not pile up over millions of requests. */
static void tidy(void)
{
	static const char *const lines[] = {
		"{\"cmd\":\"fault\",\"action\":\"clear\"}",
		"{\"cmd\":\"step\",\"device\":\"uhca0\",\"action\":\"go\"}",
		"{\"cmd\":\"step\",\"device\":\"uhca1\",\"action\":\"go\"}",
	};

	if (fault_plan_count(d.faults.plan) < 64)
		return;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		free(io_ctl_request(&d.ctl.services, lines[i], strlen(lines[i])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = (const char *)data;
	char *own;
	char *reply;
	json_t *j;

	if (!d.loop)
		start();
	own = with_own_file(line, size);
	if (own) {
		line = own;
		size = strlen(own);
	}
	reply = io_ctl_request(&d.ctl.services, line, size);
	FUZZ_CHECK(reply && strchr(reply, '\n') == reply + strlen(reply) - 1);
	j = json_loads(reply, 0, NULL);
	FUZZ_CHECK(json_is_boolean(json_object_get(j, UHCA_CTL_OK)));
	FUZZ_CHECK(!json_object_get(j, UHCA_CTL_RESULT) != !json_object_get(j, UHCA_CTL_ERROR));
	json_decref(j);
	free(reply);
	free(own);
	tidy();
	return 0;
}
