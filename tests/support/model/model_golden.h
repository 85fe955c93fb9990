/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts that were looked at: tests/golden/model/NAME.txt. With UHCA_GOLDEN_UPDATE=1 they are
 * written anew, to be looked at again.
 */
#ifndef TESTS_SUPPORT_MODEL_GOLDEN_H
#define TESTS_SUPPORT_MODEL_GOLDEN_H

/* Fails the running test when the text is not that of the file. */
void model_golden(const char *name, const char *text);

#endif
