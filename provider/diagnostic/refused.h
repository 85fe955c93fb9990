/* SPDX-License-Identifier: BSD-2-Clause */
/* A call that fails, and why: a note of the sanitizer (check call-refused). */
#ifndef UHCAV_DIAGNOSTIC_REFUSED_H
#define UHCAV_DIAGNOSTIC_REFUSED_H

/*
 * "why" names the call and says why it fails with err, an errno value: "modify_qp: it is ..."; what
 * stands before the name is in "library". Tells of it once for each place that calls. The stack is
 * the thread's, from the caller of our libraries on. Nothing where the check is off. Keeps errno.
 */
void uhcav_diagnostic_refused(const char *library, const char *why, int err);

/*
 * Something has failed: a call (uhcav_diagnostic_refused says so by itself) or a request. How
 * often, for who asks what the program did after it.
 */
void uhcav_diagnostic_trouble(void);
unsigned uhcav_diagnostic_troubles(void);

#endif
