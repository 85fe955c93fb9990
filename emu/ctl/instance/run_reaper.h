/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process between uhca-run and a command that nothing outlives: what the command starts and
 * leaves becomes the reaper's (PR_SET_CHILD_SUBREAPER), which ends it when the command has ended.
 */
#ifndef RUN_REAPER_H
#define RUN_REAPER_H

/*
 * To be called by the child that is to become the command, with the signals of run_command.c
 * blocked. Returns in a child of it. The caller itself stays, passes signals on, and ends with the
 * command's status (128+N for signal N). SIGTERM, also at the death of uhca-run, ends all of them.
 */
void run_reaper_begin(void);

#endif
