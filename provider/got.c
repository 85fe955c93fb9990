/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the relocations of libibverbs for the symbol "ioctl" and stores our function into their
 * slots (ELF gABI, "Dynamic Linking"; psABI: JUMP_SLOT and GLOB_DAT). A slot that the loader made
 * read-only is made writable and left so: in a lazily bound library the loader itself still
 * writes to that page.
 */
#include "got.h"

#include "preload/uverbs.h"

#include <elf.h>
#include <link.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
#define IS_SLOT(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif defined(__aarch64__)
#define IS_SLOT(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_SLOT(type) (0)
#endif

static const struct uhca_preload_hooks *answers;

static int patched_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (uhca_uverbs_is_ours(fd, request))
		return uhca_uverbs_ioctl(fd, arg, answers);
	return ioctl(fd, request, arg);
}

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

static unsigned store(void **slot)
{
	uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	size_t length = (uintptr_t)(slot + 1) - page;

	if (mprotect((void *)page, length, PROT_READ | PROT_WRITE))
		return 0;
	*slot = (void *)patched_ioctl;
	return 1;
}

static unsigned patch_object(const struct relocations *r, ElfW(Addr) base)
{
	unsigned patched = 0;

	for (unsigned t = 0; t < 2; t++) {
		for (size_t i = 0; r->table[t] && i < r->n[t]; i++) {
			const ElfW(Rela) *rel = &r->table[t][i];
			const char *name =
				r->strings + r->symbols[ELF64_R_SYM(rel->r_info)].st_name;
			if (IS_SLOT(ELF64_R_TYPE(rel->r_info)) && !strcmp(name, "ioctl"))
				patched += store((void **)(base + rel->r_offset));
		}
	}
	return patched;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	const ElfW(Dyn) *dynamic = NULL;
	struct relocations r;

	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "libibverbs.so"))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (!dynamic)
		return 0;
	r = read_dynamic(dynamic);
	if (r.symbols && r.strings)
		*(unsigned *)arg += patch_object(&r, info->dlpi_addr);
	return 0;
}

unsigned uhcav_got_patch(const struct uhca_preload_hooks *hooks)
{
	unsigned patched = 0;

	answers = hooks;
	dl_iterate_phdr(visit, &patched);
	return patched;
}
