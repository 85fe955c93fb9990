/* SPDX-License-Identifier: BSD-2-Clause */
/* Judgements of the doctor: from measured values to a diagnostic and its remedy. */
#include "diagnostic.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void doctor_diagnostic_set(struct doctor_diagnostic *out, enum doctor_mark mark, const char *remedy,
			   const char *format, ...)
{
	va_list args;

	out->mark = mark;
	snprintf(out->remedy, sizeof(out->remedy), "%s", remedy ? remedy : "");
	va_start(args, format);
	vsnprintf(out->text, sizeof(out->text), format, args);
	va_end(args);
}

long doctor_read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long number = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

long doctor_read_field(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	size_t length = strlen(name);
	char line[256];
	long number = -1;

	if (!file)
		return -1;
	while (number < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, name, length) == 0 && line[length] == ':' &&
		    sscanf(line + length + 1, "%ld", &number) != 1)
			number = -1;
	}
	fclose(file);
	return number;
}
