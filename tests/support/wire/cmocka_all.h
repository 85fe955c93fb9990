/* SPDX-License-Identifier: BSD-2-Clause */
/* CMocka with the headers that it expects to stand before it. */
#ifndef TESTS_SUPPORT_CMOCKA_ALL_H
#define TESTS_SUPPORT_CMOCKA_ALL_H

/* The order matters here. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

#endif
