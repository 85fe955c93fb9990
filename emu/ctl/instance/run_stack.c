/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of other processes by libdw; see run_stack.h. uhca-run does not link libdw: the few that
 * ask for a stack wait for it to be loaded, and nobody else.
 */
#include "run_stack.h"

#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MAX 32

#define FUNCTIONS_(X)                                                                              \
	X(dwfl_begin)                                                                              \
	X(dwfl_end)                                                                                \
	X(dwfl_report_end)                                                                         \
	X(dwfl_linux_proc_report)                                                                  \
	X(dwfl_linux_proc_attach)                                                                  \
	X(dwfl_linux_proc_find_elf)                                                                \
	X(dwfl_standard_find_debuginfo)                                                            \
	X(dwfl_getthread_frames)                                                                   \
	X(dwfl_frame_pc)                                                                           \
	X(dwfl_addrmodule)                                                                         \
	X(dwfl_module_addrname)                                                                    \
	X(dwfl_module_getsrc)                                                                      \
	X(dwfl_module_info)                                                                        \
	X(dwfl_lineinfo)

#define POINTER_(name) __typeof__(name) *name;
struct library {
	FUNCTIONS_(POINTER_)
};

struct run_stack {
	Dwfl *dwfl;
	const struct library *dw;
	Dwfl_Callbacks callbacks;
	unsigned n; /* frames of the thread so far */
};

static bool load(struct library *l)
{
	void *file = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL), *found;

	if (!file)
		return false;
#define FIND_(name)                                                                                \
	found = dlsym(file, #name);                                                                \
	if (!found)                                                                                \
		return false;                                                                      \
	memcpy(&l->name, &found, sizeof(found)); /* as dlsym(3) would have it */
	FUNCTIONS_(FIND_)
	return true;
}

static const struct library *library(void)
{
	static struct library it;
	static bool asked, there;

	if (!asked)
		there = load(&it);
	asked = true;
	return there ? &it : NULL;
}

static bool attach(struct run_stack *s, pid_t pid)
{
	/* No server is asked for debug information: a report is not to wait for a network. */
	unsetenv("DEBUGINFOD_URLS");
	s->callbacks.find_elf = s->dw->dwfl_linux_proc_find_elf;
	s->callbacks.find_debuginfo = s->dw->dwfl_standard_find_debuginfo;
	s->dwfl = s->dw->dwfl_begin(&s->callbacks);
	return s->dwfl && s->dw->dwfl_linux_proc_report(s->dwfl, pid) == 0 &&
	       s->dw->dwfl_report_end(s->dwfl, NULL, NULL) == 0 &&
	       s->dw->dwfl_linux_proc_attach(s->dwfl, pid, false) == 0;
}

struct run_stack *run_stack_open(pid_t pid, const char **why)
{
	struct run_stack *s = calloc(1, sizeof(*s));

	*why = "no memory";
	if (!s)
		return NULL;
	s->dw = library();
	*why = s->dw ? "the process cannot be looked at" : "libdw.so.1 of elfutils is not there";
	if (s->dw && attach(s, pid))
		return s;
	run_stack_close(s);
	return NULL;
}

static const char *base_of(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void print_place(const struct run_stack *s, Dwfl_Module *of, Dwarf_Addr pc)
{
	const char *function = s->dw->dwfl_module_addrname(of, pc), *file = NULL;
	Dwfl_Line *at = s->dw->dwfl_module_getsrc(of, pc);
	Dwarf_Addr start = 0;
	const char *module =
		s->dw->dwfl_module_info(of, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	int line = 0;

	if (function)
		fprintf(stderr, "%s", function);
	else
		fprintf(stderr, "+0x%" PRIx64, (uint64_t)(pc - start));
	if (at)
		file = s->dw->dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL);
	if (file)
		fprintf(stderr, " %s:%d", base_of(file), line);
	fprintf(stderr, " (%s)\n", module ? base_of(module) : "no file");
}

static int print_frame(Dwfl_Frame *frame, void *arg)
{
	struct run_stack *s = arg;
	bool activation = false;
	Dwfl_Module *of;
	Dwarf_Addr pc;

	if (s->n == FRAMES_MAX || !s->dw->dwfl_frame_pc(frame, &pc, &activation))
		return DWARF_CB_ABORT;
	if (!activation) /* what stands there is where the call returns to */
		pc--;
	fprintf(stderr, "uhca-run:     #%u ", s->n++);
	of = s->dw->dwfl_addrmodule(s->dwfl, pc);
	if (of)
		print_place(s, of, pc);
	else
		fprintf(stderr, "0x%" PRIx64 " (no file)\n", (uint64_t)pc);
	return DWARF_CB_OK;
}

void run_stack_print(struct run_stack *stack, pid_t thread)
{
	stack->n = 0;
	/* It fails where a stack ends without saying so, too: what there was has been told. */
	(void)stack->dw->dwfl_getthread_frames(stack->dwfl, thread, print_frame, stack);
}

void run_stack_close(struct run_stack *stack)
{
	if (stack->dwfl)
		stack->dw->dwfl_end(stack->dwfl);
	free(stack);
}
