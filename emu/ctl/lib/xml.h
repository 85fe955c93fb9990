/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for XML and HTML. */
#ifndef CTL_XML_H
#define CTL_XML_H

#include <stdio.h>

/*
 * Writes the text as content or in quotes. What XML has no way to say is a blank, and what is not
 * UTF-8 a question mark.
 */
void ctl_xml_put(FILE *f, const char *text);

/* The format as it is, with texts so written for its "%s"; it has nothing else. */
void ctl_xml_print(FILE *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
