/* SPDX-License-Identifier: BSD-2-Clause */
/* How the daemon would get at the memory of programs, and what limits that memory. */
#ifndef DOCTOR_MEMORY_H
#define DOCTOR_MEMORY_H

#include "diagnostic.h"

#include <stdbool.h>

/* What was found out by trying, as errno values; 0: it works. */
struct memory_ways {
	int process_vm; /* process_vm_readv(2) and process_vm_writev(2) on another process */
	int descriptor; /* a descriptor of /proc/self/mem that another process passed */
	long yama;      /* ptrace_scope, or -1: there is no Yama */
	long seccomp;   /* of /proc/self/status: 2 is a filter */
};

void memory_judge_ways(const struct memory_ways *ways, struct doctor_diagnostic *out);
void memory_judge_yama(long scope, struct doctor_diagnostic *out);

/* "error" of userfaultfd(2), 0: it works also for faults of the kernel; -1: for the user's only;
 * "filtered": a seccomp filter is there. */
void memory_judge_userfaultfd(int error, bool filtered, struct doctor_diagnostic *out);

/* The checks. */
void memory_check_ways(struct doctor_diagnostic *out);
void memory_check_yama(struct doctor_diagnostic *out);
void memory_check_shared(struct doctor_diagnostic *out);
void memory_check_userfaultfd(struct doctor_diagnostic *out);
void memory_check_locked(struct doctor_diagnostic *out);
void memory_check_huge_pages(struct doctor_diagnostic *out);

#endif
