/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main() of a fuzz target where no fuzzing engine is linked: runs every input of the target's
 * corpus, then FUZZ_RUNS (an environment variable; 20000 by default, see fuzz.h) random mutations
 * of them. UHCA_SEED repeats a run. With file names as arguments it runs just these.
 *
 * An input that aborts, crashes, takes more than ten seconds of a processor or does not end is
 * written to crash-NAME in the current folder, to be given as an argument. It is no match for an
 * engine that sees coverage: it makes sure that targets build, that what was once found stays
 * fixed, and finds the shallow.
 */
#include "config.h"

#include "fuzz.h"

#include "tests/support/wire/prng.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define DEFAULT_RUNS      20000
#define INPUT_LIMIT       65536
#define INPUT_COUNT_LIMIT 4096
#define WORK_SECONDS      10  /* of a processor: others may have it for longer */
#define HANG_SECONDS      100 /* who waits takes none */
#define MAX_MUTATIONS     6

struct input {
	uint8_t *bytes;
	size_t len;
};

static struct input inputs[INPUT_COUNT_LIMIT];
static size_t input_count;

/* What a handler of a fatal signal can still tell. */
static struct input current;
static char crash_path[256];

/* Present where a sanitizer is linked: its reports end the program without a signal. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void save_as(const char *why)
{
	const char *parts[] = {"input written to ", crash_path, why, "\n"};
	const int fd = open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, current.bytes, current.len) != (ssize_t)current.len)
		parts[0] = "could not write the input to ";
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
			break;
}

static void save_current(void)
{
	save_as("");
}

static const char *name_of(int sig)
{
	switch (sig) {
	case SIGPROF:
		return ": it takes more than 10 seconds of a processor";
	case SIGALRM:
		return ": it does not end";
	case SIGABRT:
		return ": it aborts";
	default:
		return ": it touches what is not there, or computes what cannot be";
	}
}

static void on_fatal_signal(int sig)
{
	signal(sig, SIG_DFL);
	save_as(name_of(sig));
	raise(sig);
}

/* A sanitizer's own handlers say more about a bad access: they stay. */
static void catch_signals(void)
{
	static const int fatal[] = {SIGABRT, SIGALRM, SIGPROF, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	const size_t wanted = __sanitizer_set_death_callback ? 3 : sizeof(fatal) / sizeof(fatal[0]);

	for (size_t i = 0; i < wanted; i++)
		signal(fatal[i], on_fatal_signal);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(save_current);
}

static void *checked_malloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p) {
		fputs("out of memory\n", stderr);
		exit(2);
	}
	return p;
}

/* 0: none. */
static void limit(int work, unsigned hang)
{
	const struct itimerval t = {.it_value.tv_sec = work};

	setitimer(ITIMER_PROF, &t, NULL);
	alarm(hang);
}

/* Runs one input, in a block of exactly its size. */
static void run(const uint8_t *bytes, size_t len)
{
	current.bytes = checked_malloc(len);
	current.len = len;
	if (len)
		memcpy(current.bytes, bytes, len);
	limit(WORK_SECONDS, HANG_SECONDS);
	LLVMFuzzerTestOneInput(current.bytes, len);
	limit(0, 0);
	free(current.bytes);
	current = (struct input){NULL, 0};
}

/* Adds a file to the inputs; whatever keeps it from being read ends the program. */
static void load(const char *path)
{
	uint8_t *bytes = checked_malloc(INPUT_LIMIT);
	FILE *f = fopen(path, "rb");

	if (!f || input_count == INPUT_COUNT_LIMIT) {
		fprintf(stderr, "%s: %s\n", path, f ? "too many inputs" : strerror(errno));
		exit(2);
	}
	const size_t len = fread(bytes, 1, INPUT_LIMIT, f);

	if (ferror(f)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	fclose(f);
	inputs[input_count++] = (struct input){bytes, len};
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* All files of the folder, in the order of their names so that a seed means the same everywhere. */
static void load_folder(const char *folder)
{
	struct dirent **entries;
	const int n = scandir(folder, &entries, not_hidden, alphasort);

	if (n <= 0) {
		fprintf(stderr, "%s: %s\n", folder, n ? strerror(errno) : "no inputs");
		exit(2);
	}
	for (int i = 0; i < n; i++) {
		const size_t cap = strlen(folder) + 1 + strlen(entries[i]->d_name) + 1;
		char *path = checked_malloc(cap);

		snprintf(path, cap, "%s/%s", folder, entries[i]->d_name);
		load(path);
		free(path);
		free(entries[i]);
	}
	free(entries);
}

/* Overwrites up to eight bytes with a number that sits on some boundary. */
static void put_boundary(struct prng *r, uint8_t *bytes, size_t len)
{
	static const uint64_t numbers[] = {
		0,          1,          2,          3,         4,          0x7f,    0x80,
		0xff,       0x100,      0x7fff,     0x8000,    0xffff,     0x10000, 0xffffff,
		0x7fffffff, 0x80000000, 0xffffffff, INT64_MAX, UINT64_MAX,
	};
	const uint64_t v = numbers[prng_below(r, sizeof(numbers) / sizeof(numbers[0]))];
	const size_t width = (size_t)1 << prng_below(r, 4);
	const bool big_endian = prng_bits(r, 1);

	if (len < width)
		return;
	uint8_t *p = bytes + prng_below(r, (uint32_t)(len - width + 1));

	for (size_t i = 0; i < width; i++)
		p[i] = (uint8_t)(v >> 8 * (big_endian ? width - 1 - i : i));
}

/* Moves a piece of another input over this one, at any place of each. */
static void splice_other(struct prng *r, struct input *in)
{
	const struct input *other = &inputs[prng_below(r, (uint32_t)input_count)];

	if (other->len == 0 || in->len == 0)
		return;
	const size_t from = prng_below(r, (uint32_t)other->len);
	const size_t to = prng_below(r, (uint32_t)in->len);
	const size_t room = in->len - to < other->len - from ? in->len - to : other->len - from;

	memcpy(in->bytes + to, other->bytes + from, 1 + prng_below(r, (uint32_t)room));
}

/* Inserts (or, when in->len is at its limit, leaves) up to 64 random bytes at any place. */
static void insert_random(struct prng *r, struct input *in)
{
	const size_t n = 1 + prng_below(r, 64);
	const size_t at = prng_below(r, (uint32_t)in->len + 1);

	if (in->len + n > INPUT_LIMIT)
		return;
	memmove(in->bytes + at + n, in->bytes + at, in->len - at);
	prng_fill(r, in->bytes + at, n);
	in->len += n;
}

static void erase_piece(struct prng *r, struct input *in)
{
	if (in->len == 0)
		return;
	const size_t at = prng_below(r, (uint32_t)in->len);
	const size_t n = 1 + prng_below(r, (uint32_t)(in->len - at));

	memmove(in->bytes + at, in->bytes + at + n, in->len - at - n);
	in->len -= n;
}

static void mutate_once(struct prng *r, struct input *in)
{
	switch (prng_below(r, 8)) {
	case 0:
	case 1:
		if (in->len)
			in->bytes[prng_below(r, (uint32_t)in->len)] ^=
				(uint8_t)(1u << prng_below(r, 8));
		break;
	case 2:
	case 3:
		if (in->len)
			in->bytes[prng_below(r, (uint32_t)in->len)] = (uint8_t)prng_bits(r, 8);
		break;
	case 4:
		put_boundary(r, in->bytes, in->len);
		break;
	case 5:
		splice_other(r, in);
		break;
	case 6:
		insert_random(r, in);
		break;
	case 7:
		erase_piece(r, in);
		break;
	}
}

static void run_mutations(struct prng *r, unsigned long runs)
{
	struct input scratch = {checked_malloc(INPUT_LIMIT), 0};

	for (unsigned long i = 0; i < runs; i++) {
		const struct input *from = &inputs[prng_below(r, (uint32_t)input_count)];

		memcpy(scratch.bytes, from->bytes, from->len);
		scratch.len = from->len;
		for (unsigned n = 1 + prng_below(r, MAX_MUTATIONS); n > 0; n--)
			mutate_once(r, &scratch);
		run(scratch.bytes, scratch.len);
	}
	free(scratch.bytes);
}

static unsigned long runs_wanted(void)
{
	const char *text = getenv("FUZZ_RUNS");
	char *end;

	if (!text || !*text)
		return &fuzz_runs ? fuzz_runs : DEFAULT_RUNS;
	errno = 0;
	const unsigned long runs = strtoul(text, &end, 0);

	if (errno || *end) {
		fprintf(stderr, "FUZZ_RUNS is not a number: %s\n", text);
		exit(2);
	}
	return runs;
}

/* ".../fuzz_packet" -> "packet"; libtool's wrapper runs ".libs/lt-fuzz_packet". */
static const char *target_name(const char *argv0)
{
	const char *at = strstr(argv0, "fuzz_");
	const char *name = argv0;

	for (; at; at = strstr(at + 1, "fuzz_"))
		name = at + strlen("fuzz_");
	return name;
}

int main(int argc, char **argv)
{
	const char *name = target_name(argv[0]);
	const char *srcdir = getenv("UHCA_SRCDIR");
	struct prng rng = prng_start(name);
	unsigned long mutations = 0;

	snprintf(crash_path, sizeof(crash_path), "crash-%s", name);
	catch_signals();
	for (int i = 1; i < argc; i++)
		load(argv[i]);
	if (argc == 1) {
		char folder[4096];

		snprintf(folder, sizeof(folder), "%s/tests/fuzz/corpus/%s", srcdir ? srcdir : ".",
			 name);
		load_folder(folder);
		mutations = runs_wanted();
	}
	for (size_t i = 0; i < input_count; i++)
		run(inputs[i].bytes, inputs[i].len);
	run_mutations(&rng, mutations);
	printf("%s: %zu inputs and %lu mutations of them\n", name, input_count, mutations);
	for (size_t i = 0; i < input_count; i++)
		free(inputs[i].bytes);
	return 0;
}
