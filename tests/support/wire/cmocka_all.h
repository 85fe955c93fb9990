/* SPDX-License-Identifier: BSD-2-Clause */
/* CMocka with the headers that it expects to stand before it. */
#ifndef TESTS_SUPPORT_CMOCKA_ALL_H
#define TESTS_SUPPORT_CMOCKA_ALL_H

/* CMocka 2 renames what Debian 12's has under these names only. */
#define CMOCKA_DISABLE_DEPRECATION_WARNINGS

/* The order matters here. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
