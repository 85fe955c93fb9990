/* SPDX-License-Identifier: BSD-2-Clause */
/* Text in XML and HTML: JUnit files, pages. */
#include "xml.h"

#include <stdarg.h>
#include <string.h>

/* Length of the character of UTF-8 at p, 0: there is none. */
static unsigned character(const unsigned char *p)
{
	unsigned n = p[0] < 0x80    ? 1
		     : p[0] < 0xc2  ? 0
		     : p[0] < 0xe0  ? 2
		     : p[0] < 0xf0  ? 3
		     : p[0] <= 0xf4 ? 4
				    : 0;

	for (unsigned i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

void ctl_xml_put(FILE *f, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		unsigned n = character(p);

		if (n == 0)
			fputc('?', f), p++;
		else if (n > 1)
			fwrite(p, 1, n, f), p += n;
		else if (*p == '&')
			fputs("&amp;", f), p++;
		else if (*p == '<')
			fputs("&lt;", f), p++;
		else if (*p == '>')
			fputs("&gt;", f), p++;
		else if (*p == '"')
			fputs("&quot;", f), p++;
		else
			fputc(*p < ' ' && *p != '\n' && *p != '\t' ? ' ' : *p, f), p++;
	}
}

void ctl_xml_print(FILE *f, const char *format, ...)
{
	const char *at;
	va_list texts;

	va_start(texts, format);
	for (; (at = strstr(format, "%s")); format = at + 2) {
		fwrite(format, 1, (size_t)(at - format), f);
		ctl_xml_put(f, va_arg(texts, const char *));
	}
	va_end(texts);
	fputs(format, f);
}
