/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-run doctor: runs the checks in order and prints findings with remedies. */
#include "doctor.h"

#include "diagnostic.h"
#include "machine.h"
#include "memory.h"

#include <stdio.h>

static const struct {
	const char *name;
	void (*check)(struct doctor_diagnostic *out);
} checks[] = {
	{"libibverbs", machine_check_libibverbs},
	{"folder", machine_check_folder},
	{"proc", machine_check_proc},
	{"client memory", memory_check_ways},
	{"Yama", memory_check_yama},
	{"seccomp", machine_check_seccomp},
	{"sandbox", machine_check_sandbox},
	{"shared memory", memory_check_shared},
	{"userfaultfd", memory_check_userfaultfd},
	{"breakpoints", machine_check_breakpoints},
	{"UDP port", machine_check_port},
	{"loopback", machine_check_loopback},
	{"segmentation", machine_check_segmentation},
	{"socket buffers", machine_check_buffers},
	{"descriptors", machine_check_descriptors},
	{"locked memory", memory_check_locked},
	{"huge pages", memory_check_huge_pages},
	{"processors", machine_check_processors},
	{"other devices", machine_check_devices},
};
#define CHECKS (sizeof(checks) / sizeof(checks[0]))

static void print(const char *name, const struct doctor_diagnostic *diagnostic, unsigned *count)
{
	static const char *const marks[] = {
		[DOCTOR_GOOD] = "good",
		[DOCTOR_NOTE] = "note",
		[DOCTOR_BAD] = "bad",
	};

	count[diagnostic->mark]++;
	printf("%-4s  %-14s  %s\n", marks[diagnostic->mark], name, diagnostic->text);
	if (diagnostic->mark != DOCTOR_GOOD && diagnostic->remedy[0])
		printf("%-22s> %s\n", "", diagnostic->remedy);
}

int doctor_run(const struct doctor_places *places)
{
	unsigned count[DOCTOR_BAD + 1] = {0};
	struct doctor_diagnostic diagnostic = {0};

	machine_check_programs(places, &diagnostic);
	print("programs", &diagnostic, count);
	for (size_t i = 0; i < CHECKS; i++) {
		checks[i].check(&diagnostic);
		print(checks[i].name, &diagnostic, count);
	}
	printf("%u good, %u to note, %u bad: %s\n", count[DOCTOR_GOOD], count[DOCTOR_NOTE],
	       count[DOCTOR_BAD],
	       count[DOCTOR_BAD] ? "uhca does not work here" : "uhca works here");
	return count[DOCTOR_BAD] > 0;
}
