/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs, network, processors and limits of the machine. */
#ifndef DOCTOR_MACHINE_H
#define DOCTOR_MACHINE_H

#include "diagnostic.h"
#include "doctor.h"

/* errno of binding UDP port 4791 at 127.0.0.1, and at an address that no daemon has by itself. */
void machine_judge_port(int first, int elsewhere, struct doctor_diagnostic *out);

/* errno of asking whether processes may have filters of system calls. */
void machine_judge_sandbox(int error, struct doctor_diagnostic *out);

/* errno of setting a data breakpoint; EOPNOTSUPP: it sees no access. */
void machine_judge_breakpoints(int error, struct doctor_diagnostic *out);

/* "names" of the RDMA devices that the kernel has, separated by spaces; empty: none. */
void machine_judge_devices(const char *names, struct doctor_diagnostic *out);

void machine_judge_descriptors(unsigned long long soft, unsigned long long hard,
			       struct doctor_diagnostic *out);
void machine_judge_processors(int n, struct doctor_diagnostic *out);

/* The checks. */
void machine_check_programs(const struct doctor_places *places, struct doctor_diagnostic *out);
void machine_check_folder(struct doctor_diagnostic *out);
void machine_check_proc(struct doctor_diagnostic *out);
void machine_check_libibverbs(struct doctor_diagnostic *out);
void machine_check_seccomp(struct doctor_diagnostic *out);
void machine_check_sandbox(struct doctor_diagnostic *out);
void machine_check_breakpoints(struct doctor_diagnostic *out);
void machine_check_port(struct doctor_diagnostic *out);
void machine_check_loopback(struct doctor_diagnostic *out);
void machine_check_segmentation(struct doctor_diagnostic *out);
void machine_check_buffers(struct doctor_diagnostic *out);
void machine_check_devices(struct doctor_diagnostic *out);
void machine_check_descriptors(struct doctor_diagnostic *out);
void machine_check_processors(struct doctor_diagnostic *out);

#endif
