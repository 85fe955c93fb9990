/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See demangle.h. libstdc++ is loaded when the first such name comes, and where it is there: who
 * has programs of C++ has it, and nobody else needs it.
 */
#include "demangle.h"

#include <dlfcn.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* abi::__cxa_demangle: memory of malloc(3), or NULL. */
typedef char *demangler(const char *name, char *to, size_t *length, int *status);

static demangler *demangler_find(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	demangler *found = NULL;
	void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;

	memcpy(&found, &symbol, sizeof(found)); /* as dlsym(3) would have it */
	return found;
}

/* What was asked before: the same functions come in each stack. */
struct known {
	const char *name; /* the key: where it stands */
	const char *means;
};

static int compare(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return (x->name > y->name) - (x->name < y->name);
}

static void ask(struct known *k)
{
	static demangler *it;
	static int looked;
	const char *means;

	if (!looked++)
		it = demangler_find();
	means = it ? it(k->name, NULL, NULL, NULL) : NULL;
	k->means = means ? means : k->name;
}

const char *demangle(const char *name)
{
	static void *all;
	struct known *k, **found;

	if (strncmp(name, "_Z", 2) != 0)
		return name;
	k = calloc(1, sizeof(*k));
	if (!k)
		return name;
	k->name = name;
	found = tsearch(k, &all, compare);
	if (!found || *found != k)
		free(k);
	else
		ask(k);
	return found ? (*found)->means : name;
}
