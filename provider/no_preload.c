/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One implementation for both modes: that of the preload library, which lies beside us. Loaded so
 * late and not for everybody (RTLD_LOCAL) it stands in front of nobody; its functions are put
 * into the slots of the libraries (got.h).
 */
#include "no_preload.h"

#include "provider/base/base.h"
#include "provider/preload/preload.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libuhca_preload.so"

static struct uhcav_got_call calls[] = {
#define X(symbol) {.name = #symbol},
	UHCA_FUNCTIONS(X) UHCA_STAT_FUNCTIONS(X)
#undef X
		{.name = NULL},
};

static DIR *(*opendir_behind)(const char *path);

/*
 * libibverbs opens the folder of devices whenever it is asked for them. The first thing that
 * librdmacm does is to ask, so one that was loaded after us (UCX does that) is found here in time.
 */
static DIR *opendir_and_look(const char *path)
{
	uhcav_got_patch(calls);
	return opendir_behind(path);
}

static bool library_path(char *path, size_t size)
{
	const char *slash;
	Dl_info self;
	int n;

	if (!dladdr((void *)&library_path, &self) || !self.dli_fname)
		return false;
	slash = strrchr(self.dli_fname, '/');
	n = snprintf(path, size, "%.*s" LIBRARY, slash ? (int)(slash + 1 - self.dli_fname) : 0,
		     self.dli_fname);
	return n > 0 && (size_t)n < size;
}

const char *uhcav_no_preload(const struct uhca_preload_hooks *hooks)
{
	uhca_preload_register_fn *register_hooks;
	char path[PATH_MAX];
	void *library;

	if (!secure_getenv("UHCA_DIR"))
		return "UHCA_DIR does not name the instance";
	if (!library_path(path, sizeof(path)))
		return "the provider cannot find its own path";
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
	*(void **)&register_hooks = dlsym(library, UHCA_PRELOAD_REGISTER);
	if (!register_hooks || register_hooks(hooks))
		return LIBRARY " beside the provider is of another release";
	for (struct uhcav_got_call *c = calls; c->name; c++) {
		c->answer = dlsym(library, c->name);
		if (!strcmp(c->name, "opendir")) {
			*(void **)&opendir_behind = c->answer;
			c->answer = (void *)opendir_and_look;
		}
	}
	return uhcav_got_patch(calls) ? NULL : "the calls of libibverbs cannot be redirected";
}
