/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a command below a seccomp profile as container engines have it, a JSON file, as it is for a
 * container without any capability: profile FILE COMMAND... Which rules hold, and what they say, is
 * decided as the OCI runtimes do: includes and excludes, the error of each action, names of calls
 * that this machine does not have passed over. Exit status 77 when the kernel has no filters.
 */
#include <errno.h>
#include <jansson.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ARGS_MAX 6

static void die(const char *what, const char *which)
{
	fprintf(stderr, "profile: %s: %s\n", which, what);
	exit(2);
}

static const struct {
	const char *name;
	enum scmp_compare op;
} comparisons[] = {
	{"SCMP_CMP_NE", SCMP_CMP_NE},
	{"SCMP_CMP_LT", SCMP_CMP_LT},
	{"SCMP_CMP_LE", SCMP_CMP_LE},
	{"SCMP_CMP_EQ", SCMP_CMP_EQ},
	{"SCMP_CMP_GE", SCMP_CMP_GE},
	{"SCMP_CMP_GT", SCMP_CMP_GT},
	{"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ},
};

static enum scmp_compare comparison(const char *name)
{
	for (size_t i = 0; name && i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		if (strcmp(comparisons[i].name, name) == 0)
			return comparisons[i].op;
	}
	die("unknown comparison", name ? name : "none");
	return SCMP_CMP_EQ;
}

static uint32_t action_of(const json_t *object, const char *key, const char *error_key)
{
	const char *name = json_string_value(json_object_get(object, key));
	const json_t *error = json_object_get(object, error_key);

	if (name && strcmp(name, "SCMP_ACT_ALLOW") == 0)
		return SCMP_ACT_ALLOW;
	if (!name || strcmp(name, "SCMP_ACT_ERRNO") != 0)
		die("unknown action", name ? name : key);
	return SCMP_ACT_ERRNO(json_is_integer(error) ? (unsigned)json_integer_value(error) : EPERM);
}

/* ---- which rules hold here ---- */

/* What engines, which are written in Go, call this machine. */
static const char *arch_here(void)
{
	switch (seccomp_arch_native()) {
	case SCMP_ARCH_X86_64:
		return "amd64";
	case SCMP_ARCH_AARCH64:
		return "arm64";
	default:
		die("what is this machine called?", "arches");
		return NULL;
	}
}

static bool lists(const json_t *array, const char *word)
{
	size_t i;
	const json_t *value;

	json_array_foreach(array, i, value)
	{
		const char *s = json_string_value(value);

		if (s && strcmp(s, word) == 0)
			return true;
	}
	return false;
}

static bool kernel_is_at_least(const char *wanted)
{
	unsigned major, minor, our_major, our_minor;
	struct utsname here;

	if (uname(&here) < 0 || sscanf(wanted, "%u.%u", &major, &minor) != 2 ||
	    sscanf(here.release, "%u.%u", &our_major, &our_minor) != 2)
		die("what kernel is that?", wanted);
	return our_major > major || (our_major == major && our_minor >= minor);
}

/* There is no capability: what includes one does not hold, and what excludes one does. */
static bool holds(const json_t *rule)
{
	const json_t *includes = json_object_get(rule, "includes");
	const json_t *arches = json_object_get(includes, "arches");
	const char *kernel = json_string_value(json_object_get(includes, "minKernel"));

	if (json_array_size(json_object_get(includes, "caps")) > 0)
		return false;
	if (json_array_size(arches) > 0 && !lists(arches, arch_here()))
		return false;
	if (kernel && !kernel_is_at_least(kernel))
		return false;
	return !lists(json_object_get(json_object_get(rule, "excludes"), "arches"), arch_here());
}

/* ---- the filter ---- */

static unsigned conditions_of(const json_t *rule, struct scmp_arg_cmp out[ARGS_MAX])
{
	const json_t *args = json_object_get(rule, "args"), *arg;
	size_t i;

	if (json_array_size(args) > ARGS_MAX)
		die("too many arguments", "args");
	json_array_foreach(args, i, arg)
	{
		out[i].arg = (unsigned)json_integer_value(json_object_get(arg, "index"));
		out[i].op = comparison(json_string_value(json_object_get(arg, "op")));
		out[i].datum_a = (uint64_t)json_integer_value(json_object_get(arg, "value"));
		out[i].datum_b = (uint64_t)json_integer_value(json_object_get(arg, "valueTwo"));
	}
	return (unsigned)json_array_size(args);
}

static void add_rule(scmp_filter_ctx filter, uint32_t otherwise, const json_t *rule)
{
	uint32_t action = action_of(rule, "action", "errnoRet");
	struct scmp_arg_cmp conditions[ARGS_MAX];
	unsigned n = conditions_of(rule, conditions);
	const json_t *name;
	size_t i;

	if (action == otherwise)
		return;
	json_array_foreach(json_object_get(rule, "names"), i, name)
	{
		int call = seccomp_syscall_resolve_name(json_string_value(name));
		int error = call == __NR_SCMP_ERROR
				    ? 0
				    : seccomp_rule_add_array(filter, action, call, n, conditions);

		if (error < 0 && error != -EEXIST)
			die(strerror(-error), json_string_value(name));
	}
}

/* "SCMP_ARCH_X86" is x86 to the library. */
static uint32_t arch_called(const char *name)
{
	static const char prefix[] = "SCMP_ARCH_";
	char word[32];
	size_t n = 0;

	if (!name || strncmp(name, prefix, strlen(prefix)) != 0)
		die("no architecture", name ? name : "archMap");
	for (name += strlen(prefix); name[n] && n < sizeof(word) - 1; n++)
		word[n] = name[n] >= 'A' && name[n] <= 'Z' ? (char)(name[n] - 'A' + 'a') : name[n];
	word[n] = 0;
	return seccomp_arch_resolve_name(word);
}

/* Calls of 32-bit programs, too, where the profile says so. */
static void add_arches(scmp_filter_ctx filter, const json_t *profile)
{
	const json_t *entry, *sub;
	size_t i, j;

	json_array_foreach(json_object_get(profile, "archMap"), i, entry)
	{
		if (arch_called(json_string_value(json_object_get(entry, "architecture"))) !=
		    seccomp_arch_native())
			continue;
		json_array_foreach(json_object_get(entry, "subArchitectures"), j, sub)
		{
			int error = seccomp_arch_add(filter, arch_called(json_string_value(sub)));

			if (error < 0 && error != -EEXIST)
				die(strerror(-error), json_string_value(sub));
		}
	}
}

static scmp_filter_ctx filter_of(const json_t *profile)
{
	uint32_t otherwise = action_of(profile, "defaultAction", "defaultErrnoRet");
	const json_t *rules = json_object_get(profile, "syscalls"), *rule;
	scmp_filter_ctx filter = seccomp_init(otherwise);
	size_t i;

	if (!filter || json_array_size(rules) == 0)
		die("no rules", "syscalls");
	add_arches(filter, profile);
	json_array_foreach(rules, i, rule)
	{
		if (holds(rule))
			add_rule(filter, otherwise, rule);
	}
	return filter;
}

int main(int argc, char **argv)
{
	json_error_t at;
	json_t *profile;
	int error;

	if (argc < 3) {
		fprintf(stderr, "usage: profile FILE COMMAND...\n");
		return 2;
	}
	profile = json_load_file(argv[1], 0, &at);
	if (!profile)
		die(at.text, argv[1]);
	error = seccomp_load(filter_of(profile));
	if (error < 0) {
		fprintf(stderr, "profile: no filters here: %s\n", strerror(-error));
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
