/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the relocations of the libraries for the symbols and stores the answers into their slots
 * (ELF gABI, "Dynamic Linking"; psABI: JUMP_SLOT and GLOB_DAT). A slot that the loader made
 * read-only is made writable and left so: in a lazily bound library the loader itself still
 * writes to that page.
 *
 * Nothing here asks the loader for a symbol: that would take its lock while dl_iterate_phdr has
 * another one, in the opposite order of a thread that loads a library.
 */
#include "got.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_SLOT(type) (0)
#endif

#define LISTS 8u /* of calls of everybody */

struct work {
	const struct uhcav_got_call *calls;
	unsigned patched;
	bool everybody;
	bool foreign;               /* a slot was somebody else's */
	uintptr_t self;             /* in our own object; of everybody */
	uintptr_t own_from, own_to; /* which is there */
	uintptr_t from, to;         /* the object at hand */
};

/* What the dynamic section says of an object's relocations. */
struct relocations {
	const ElfW(Rela) * table[2];
	size_t n[2];
	const ElfW(Sym) * symbols;
	const char *strings;
};

static struct relocations read_dynamic(const ElfW(Dyn) * d)
{
	struct relocations r = {.symbols = NULL};

	for (; d->d_tag != DT_NULL; d++) {
		switch (d->d_tag) {
		case DT_JMPREL:
			r.table[0] = (const void *)d->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			r.n[0] = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_RELA:
			r.table[1] = (const void *)d->d_un.d_ptr;
			break;
		case DT_RELASZ:
			r.n[1] = d->d_un.d_val / sizeof(ElfW(Rela));
			break;
		case DT_SYMTAB:
			r.symbols = (const void *)d->d_un.d_ptr;
			break;
		case DT_STRTAB:
			r.strings = (const void *)d->d_un.d_ptr;
			break;
		default:
			break;
		}
	}
	return r;
}

static unsigned store(void **slot, void *answer)
{
	uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	size_t length = (uintptr_t)(slot + 1) - page;

	if (__atomic_load_n(slot, __ATOMIC_RELAXED) == answer)
		return 1;
	if (mprotect((void *)page, length, PROT_READ | PROT_WRITE))
		return 0;
	__atomic_store_n(slot, answer, __ATOMIC_RELEASE);
	return 1;
}

static const struct uhcav_got_call *got_call_find(const struct uhcav_got_call *calls,
						  const char *name)
{
	for (; calls->name; calls++)
		if (!strcmp(calls->name, name))
			return calls;
	return NULL;
}

/* One that is not bound yet leads to a stub of its own object. */
static bool is_foreign(uintptr_t at, const struct uhcav_got_call *call, const struct work *w)
{
	return w->everybody && at != (uintptr_t)call->answer && at != (uintptr_t)call->behind &&
	       (at < w->from || at >= w->to);
}

/* Another list of ours stands there: we go before it, or it stands before us already. */
static void patch_ours(void **slot, uintptr_t at, struct uhcav_got_call *call, struct work *w)
{
	if (!call->active)
		call->behind = (void *)at;
	call->active = true;
	w->patched += (uintptr_t)call->behind == at ? store(slot, call->answer) : 1;
}

static void patch_slot(void **slot, const struct uhcav_got_call *call, struct work *w)
{
	uintptr_t at = (uintptr_t)__atomic_load_n(slot, __ATOMIC_RELAXED);
	struct uhcav_got_call *mine = (struct uhcav_got_call *)(uintptr_t)call;

	if (w->everybody && at >= w->own_from && at < w->own_to && at != (uintptr_t)call->answer) {
		patch_ours(slot, at, mine, w);
	} else if (is_foreign(at, call, w)) {
		w->foreign = true;
	} else {
		w->patched += store(slot, call->answer);
		if (w->everybody)
			mine->active = true;
	}
}

static void patch_object(const struct relocations *r, ElfW(Addr) base, struct work *w)
{
	for (unsigned t = 0; t < 2; t++) {
		for (size_t i = 0; r->table[t] && i < r->n[t]; i++) {
			const ElfW(Rela) *rel = &r->table[t][i];
			const char *name =
				r->strings + r->symbols[ELF64_R_SYM(rel->r_info)].st_name;
			const struct uhcav_got_call *call = IS_SLOT(ELF64_R_TYPE(rel->r_info))
								    ? got_call_find(w->calls, name)
								    : NULL;
			if (call)
				patch_slot((void **)(base + rel->r_offset), call, w);
		}
	}
}

/*
 * By the beginning of the name: packagers that bring their own copies put more behind it. libfabric
 * and its providers are asked for because of interfaces.c.
 */
static bool is_wanted(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash ? slash + 1 : path;

	return name && (!strncmp(name, "libibverbs", 10) || !strncmp(name, "librdmacm", 9) ||
			!strncmp(name, "libfabric", 9) || strstr(name, "-fi.so"));
}

/*
 * The C library's calls of its own do not go through slots; the loader's and the kernel's neither.
 */
static bool is_system(const char *path)
{
	return strstr(path, "/libc.so") || strstr(path, "/ld-linux") || strstr(path, "linux-vdso");
}

static const ElfW(Dyn) * measure(const struct dl_phdr_info *info, struct work *w)
{
	const ElfW(Dyn) *dynamic = NULL;

	w->from = UINTPTR_MAX;
	w->to = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			dynamic = (const void *)at;
		if (p->p_type == PT_LOAD && at < w->from)
			w->from = at;
		if (p->p_type == PT_LOAD && at + p->p_memsz > w->to)
			w->to = at + p->p_memsz;
	}
	return dynamic;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct work *w = arg;
	const ElfW(Dyn) *dynamic = measure(info, w);
	struct relocations r;

	(void)size;
	if (!dynamic ||
	    (w->everybody ? is_system(info->dlpi_name) || (w->self >= w->from && w->self < w->to)
			  : !is_wanted(info->dlpi_name)))
		return 0;
	r = read_dynamic(dynamic);
	if (r.symbols && r.strings)
		patch_object(&r, info->dlpi_addr, arg);
	return 0;
}

unsigned uhcav_got_patch(const struct uhcav_got_call *calls)
{
	struct work w = {.calls = calls};

	dl_iterate_phdr(visit, &w);
	return w.patched;
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds;
	return 1;
}

/* Where we are ourselves. */
static int find_self(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct work here, *w = arg;

	(void)size;
	measure(info, &here);
	if (w->self < here.from || w->self >= here.to)
		return 0;
	w->own_from = here.from;
	w->own_to = here.to;
	return 1;
}

/* What was found for a list, and how many objects had been loaded by then. */
struct round {
	const struct uhcav_got_call *calls;
	unsigned long long loads;
	bool good;
};

static struct round *round_of(const struct uhcav_got_call *calls)
{
	static struct round rounds[LISTS];
	unsigned i = 0;

	while (i + 1 < LISTS && rounds[i].calls && rounds[i].calls != calls)
		i++;
	if (rounds[i].calls != calls)
		rounds[i] = (struct round){.calls = calls};
	return &rounds[i];
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

static void hold_at_fork(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

/* Under the lock. */
static bool patch_all(struct uhcav_got_call *calls)
{
	struct round *last = round_of(calls);
	static struct work self;
	struct work w = {.calls = calls, .everybody = true};
	unsigned long long loads = 0;

	dl_iterate_phdr(count_loads, &loads);
	if (loads == last->loads)
		return last->good;
	if (!self.self) {
		self.self = (uintptr_t)&self;
		dl_iterate_phdr(find_self, &self);
	}
	w.self = self.self;
	w.own_from = self.own_from;
	w.own_to = self.own_to;
	dl_iterate_phdr(visit, &w);
	last->loads = loads;
	return last->good = !w.foreign;
}

bool uhcav_got_patch_all(struct uhcav_got_call *calls)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	bool good;

	pthread_once(&once, hold_at_fork);
	take_lock();
	good = patch_all(calls);
	give_lock();
	return good;
}
