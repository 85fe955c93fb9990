/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any command line, its words separated by NUL: it is taken, with every value within its limits,
 * or refused with one line that says why.
 */
#include "fuzz.h"

#include "emu/conf.h"

#include <errno.h>
#include <string.h>

#define WORDS_MAX 64

static void check_taken(const struct conf *c)
{
	FUZZ_CHECK(c->io.devices >= 1 && c->io.devices <= IO_MAX_DEVICES);
	FUZZ_CHECK(c->next_device <= c->io.devices);
	for (unsigned i = 0; i < IO_MAX_DEVICES; i++)
		FUZZ_CHECK(c->io.addresses[i].count <= IO_MAX_ADDRESSES);
	FUZZ_CHECK(memchr(c->io.dir, '\0', sizeof(c->io.dir)) && c->io.dir[0]);
	FUZZ_CHECK(memchr(c->io.netdev, '\0', sizeof(c->io.netdev)));
	FUZZ_CHECK(memchr(c->log_file, '\0', sizeof(c->log_file)));
	FUZZ_CHECK(c->io.idle_timeout <= 86400 && c->io.ready_fd >= -1);
	FUZZ_CHECK(c->io.mem <= IO_MEM_PROC_MEM && c->io.icrc <= IO_ICRC_OFF);
	FUZZ_CHECK(c->io.wire <= IO_WIRE_NEVER && c->log_level <= IO_LOG_DEBUG);
	FUZZ_CHECK(c->log_target <= IO_LOG_SYSLOG);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct conf c;
	char *text = malloc(size + 1);
	char *argv[WORDS_MAX + 2] = {(char *)(uintptr_t) "uhcad"};
	char error[64];
	int argc = 1;
	int status;

	FUZZ_CHECK(text != NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = 0; at < size && argc <= WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	memset(error, 'x', sizeof(error));
	status = conf_parse(&c, argc, argv, error, sizeof(error));
	if (status == 0)
		check_taken(&c);
	else
		FUZZ_CHECK(status == -EINVAL && error[0] && memchr(error, '\0', sizeof(error)));
	free(text);
	return 0;
}
