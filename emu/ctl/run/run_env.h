/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the daemon and the preload library are, and the environment by which a command finds the
 * device. UHCA_DAEMON and UHCA_PRELOAD override the places chosen at configure time.
 */
#ifndef RUN_ENV_H
#define RUN_ENV_H

#include <stdbool.h>

/* Path of uhcad; never NULL, the file need not exist. */
const char *run_env_daemon(void);

/* The same of the preload library. */
const char *run_env_preload(void);

/* Path of uhca-sanitizer (UHCA_SANITIZER), likewise. */
const char *run_env_sanitizer(void);

/* Path of uhca-serve (UHCA_SERVER), likewise. */
const char *run_env_server(void);

/* The suppressions for stock programs and libraries (UHCA_STOCK_SUPPRESSIONS), likewise. */
const char *run_env_stock(void);

/* Where what is left of private instances goes without --keep (UHCA_KEEP), or NULL: nowhere. */
const char *run_env_keep(void);

/* Whether that is without what people can make of it later (UHCA_KEEP_RAW). */
bool run_env_keep_raw(void);

/* The instance an enclosing uhca-run or the user chose (UHCA_DIR), or NULL. */
const char *run_env_enclosing(void);

/*
 * Sets UHCA_DIR to dir and puts the preload library into LD_PRELOAD, before what is there but
 * behind the run-time library of a sanitizer, which must come first. 0, or -errno with the error
 * printed (no such library).
 */
int run_env_enter(const char *dir);

/* For the daemon: takes out what run_env_enter of an enclosing uhca-run put in. */
void run_env_leave(void);

#endif
