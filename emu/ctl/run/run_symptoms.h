/* SPDX-License-Identifier: BSD-2-Clause */
/* Which command finds what, by symptom: docs/how-to/troubleshooting.md in a few lines. */
#ifndef RUN_SYMPTOMS_H
#define RUN_SYMPTOMS_H

/*
 * The command ended with this status, and the sanitizer found nothing: tells on standard error what
 * to run next. Nothing for 0, and for a command that was not run at all.
 */
void run_symptoms_print(int status);

#endif
