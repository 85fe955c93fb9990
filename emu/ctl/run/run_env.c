/* SPDX-License-Identifier: BSD-2-Clause */
/* Environment of commands and daemons started by uhca-run. */
#include "run_env.h"

#include "emu/ctl/instance/instance.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD_SEPARATORS " :" /* ld.so(8) */

static const char *from_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	return value && *value ? value : otherwise;
}

const char *run_env_daemon(void)
{
	return from_environment("UHCA_DAEMON", UHCA_SBINDIR "/uhcad");
}

const char *run_env_sanitizer(void)
{
	return from_environment("UHCA_SANITIZER", UHCA_PKGLIBEXECDIR "/uhca-sanitizer");
}

const char *run_env_server(void)
{
	return from_environment("UHCA_SERVER", UHCA_PKGLIBEXECDIR "/uhca-serve");
}

const char *run_env_stock(void)
{
	return from_environment("UHCA_STOCK_SUPPRESSIONS", UHCA_PKGDATADIR "/stock.supp");
}

const char *run_env_preload(void)
{
	return from_environment("UHCA_PRELOAD", UHCA_PKGLIBDIR "/libuhca_preload.so");
}

const char *run_env_keep(void)
{
	return from_environment("UHCA_KEEP", NULL);
}

bool run_env_keep_raw(void)
{
	return from_environment("UHCA_KEEP_RAW", NULL) != NULL;
}

const char *run_env_enclosing(void)
{
	return from_environment("UHCA_DIR", NULL);
}

/* libasan.so.8, libtsan.so.2, libclang_rt.asan-x86_64.so, ... */
static bool is_sanitizer(const char *library)
{
	const char *base = strrchr(library, '/');
	base = base ? base + 1 : library;
	return strncmp(base, "libclang_rt.", 12) == 0 || strncmp(base, "libasan.", 8) == 0 ||
	       strncmp(base, "libtsan.", 8) == 0 || strncmp(base, "libubsan.", 9) == 0 ||
	       strncmp(base, "liblsan.", 8) == 0;
}

static void append(char *list, const char *library)
{
	if (*list)
		strcat(list, ":");
	strcat(list, library);
}

/*
 * The list without "library", and with it (when asked) behind the leading sanitizers. NULL when
 * memory is short; the caller frees it.
 */
static char *rebuild_list(const char *list, const char *library, bool insert)
{
	char *copy = strdup(list), *out = calloc(1, strlen(list) + strlen(library) + 3);
	if (copy && out) {
		char *save, *word = strtok_r(copy, PRELOAD_SEPARATORS, &save);
		for (; word; word = strtok_r(NULL, PRELOAD_SEPARATORS, &save)) {
			if (strcmp(word, library) == 0)
				continue;
			if (insert && !is_sanitizer(word)) {
				append(out, library);
				insert = false;
			}
			append(out, word);
		}
		if (insert)
			append(out, library);
	} else {
		free(out);
		out = NULL;
	}
	free(copy);
	return out;
}

/*
 * A program built with AddressSanitizer insists that its run-time library be the first one
 * loaded and refuses to start behind a preloaded library; this option of it lifts that.
 */
static int allow_sanitized_commands(void)
{
	const char *options = getenv("ASAN_OPTIONS");
	if (options && strstr(options, "verify_asan_link_order"))
		return 0;
	char *longer = NULL;
	if (asprintf(&longer, "%s%sverify_asan_link_order=0", options ? options : "",
		     options && *options ? ":" : "") < 0)
		return -ENOMEM;
	int ret = setenv("ASAN_OPTIONS", longer, 1) < 0 ? -errno : 0;
	free(longer);
	return ret;
}

int run_env_enter(const char *dir)
{
	const char *library = run_env_preload();
	if (access(library, R_OK) < 0) {
		int e = errno;
		fprintf(stderr, "uhca-run: preload library %s: %s\n", library, strerror(e));
		return -e;
	}
	if (strpbrk(library, PRELOAD_SEPARATORS)) {
		fprintf(stderr,
			"uhca-run: preload library %s: LD_PRELOAD cannot name a path with a space "
			"or colon; move uhca elsewhere\n",
			library);
		return -EINVAL;
	}
	char *list = rebuild_list(from_environment("LD_PRELOAD", ""), library, true);
	if (!list || setenv("LD_PRELOAD", list, 1) < 0 || setenv("UHCA_DIR", dir, 1) < 0 ||
	    run_addr_export(dir) < 0 || allow_sanitized_commands() < 0) {
		free(list);
		fprintf(stderr, "uhca-run: out of memory for the environment\n");
		return -ENOMEM;
	}
	free(list);
	/* Whoever set it meant the files of another instance, without a preload library. */
	unsetenv("SYSFS_PATH");
	return 0;
}

void run_env_leave(void)
{
	char *list = rebuild_list(from_environment("LD_PRELOAD", ""), run_env_preload(), false);
	if (list && *list)
		setenv("LD_PRELOAD", list, 1);
	else
		unsetenv("LD_PRELOAD");
	free(list);
	unsetenv("UHCA_DIR");
}
