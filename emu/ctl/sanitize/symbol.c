/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See symbol.h. A module is opened once and stays open. What stands in a stack is where a call
 * returns to; the call is before it.
 */
#include "symbol.h"

#include "demangle.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

struct module {
	SLIST_ENTRY(module) next;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *of; /* NULL: it cannot be read */
};

static SLIST_HEAD(, module) modules = SLIST_HEAD_INITIALIZER(modules);

/*
 * Whether dwfl_standard_find_debuginfo would find a file by its name: by that in .gnu_debuglink,
 * else by the module's with ".debug" behind it.
 */
static bool named_file_is_there(const char *module, const char *link)
{
	static const char *const places[] = {"%.*s/%s%s", "%.*s/.debug/%s%s",
					     "/usr/lib/debug%.*s/%s%s"};
	const char *slash = strrchr(module, '/');
	char path[PATH_MAX];

	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++) {
		int n = snprintf(path, sizeof(path), places[i], (int)(slash - module), module,
				 link ? link : slash + 1, link ? "" : ".debug");

		if (n > 0 && (size_t)n < sizeof(path) && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/*
 * Debug information in a file of its own, by build ID or by name. Where it finds none, elfutils'
 * function loads libdebuginfod with 30 more libraries, though no server is set: so it is called
 * only for what it will find.
 */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
			   const char *path, const char *link, GElf_Word crc, char **found)
{
	int fd = dwfl_build_id_find_debuginfo(module, data, name, base, path, link, crc, found);

	if (fd >= 0 || !path || !named_file_is_there(path, link))
		return fd;
	return dwfl_standard_find_debuginfo(module, data, name, base, path, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debug_file,
	.section_address = dwfl_offline_section_address,
};

static void open_module(struct module *m)
{
	/* No server is asked for debug information: a report is not to wait for a network. */
	unsetenv("DEBUGINFOD_URLS");
	m->dwfl = dwfl_begin(&callbacks);
	if (!m->dwfl)
		return;
	dwfl_report_begin(m->dwfl);
	m->of = dwfl_report_elf(m->dwfl, m->path, m->path, -1, 0, true);
	dwfl_report_end(m->dwfl, NULL, NULL);
}

static Dwfl_Module *find_module(const char *path)
{
	struct module *m;
	SLIST_FOREACH(m, &modules, next)
	{
		if (strcmp(m->path, path) == 0)
			return m->of;
	}
	m = calloc(1, sizeof(*m));
	if (m)
		m->path = strdup(path);
	if (!m || !m->path) {
		free(m);
		return NULL;
	}
	open_module(m);
	SLIST_INSERT_HEAD(&modules, m, next);
	return m->of;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attr));
}

/* Where the function that "inlined" stands for was called: what its caller's frame is about. */
static void name_call(Dwarf_Die *unit, Dwarf_Die *inlined, struct found_frame *caller)
{
	Dwarf_Attribute attr;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t n;
	if (dwarf_getsrcfiles(unit, &files, &n) == 0 &&
	    dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attr), &file) == 0 && file < n)
		caller->file = dwarf_filesrc(files, file, NULL, NULL);
	if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attr), &line) == 0)
		caller->line = (int)line;
}

/* The first frame has file and line of the call; makes of it one for each function there. */
static unsigned unfold(Dwfl_Module *module, Dwarf_Addr call, struct found_frame *frame,
		       unsigned max)
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = dwfl_module_addrdie(module, call, &bias), *scopes = NULL;
	unsigned n = 1;
	int n_scopes = unit ? dwarf_getscopes(unit, call - bias, &scopes) : 0;
	for (int i = 0; i < n_scopes && n < max; i++) {
		if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
			continue;
		frame[n] = frame[n - 1];
		frame[n - 1].symbol = NULL;
		frame[n - 1].function = name_of(&scopes[i]);
		name_call(unit, &scopes[i], &frame[n++]);
	}
	free(scopes);
	return n;
}

unsigned symbol_look_up(struct found_frame *frame, unsigned max)
{
	Dwfl_Module *module = *frame->module ? find_module(frame->module) : NULL;
	Dwarf_Addr call = frame->address - 1;
	if (!module)
		return 1;
	frame->symbol = dwfl_module_addrname(module, call);
	frame->function = frame->symbol ? demangle(frame->symbol) : NULL;
	Dwfl_Line *line = dwfl_module_getsrc(module, call);
	if (!line)
		return 1;
	frame->file = dwfl_lineinfo(line, NULL, &frame->line, NULL, NULL, NULL);
	return unfold(module, call, frame, max);
}
