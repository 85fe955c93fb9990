/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See symbol.h. A module is opened once and stays open. What stands in a stack is where a call
 * returns to; the call is before it.
 */
#include "symbol.h"

#include "demangle.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct module {
	SLIST_ENTRY(module) next;
	char *path;
	Dwfl *dwfl;
	Dwfl_Module *of; /* NULL: it cannot be read */
};

static SLIST_HEAD(, module) modules = SLIST_HEAD_INITIALIZER(modules);

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
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
