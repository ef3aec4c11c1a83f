/*
 * Messages: one line each, "hfgguf: …" on stderr, or in the system log once a mount is in the background.
 * The latest ones are kept for .hfgguf/log. Thread safe.
 */
#ifndef FS_SAY_H
#define FS_SAY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_verror(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* From now on to syslog: nobody reads stderr any more. */
void say_to_syslog(void);

/* For errors a client can repeat without end: true for the first few in any ten seconds. The number left out is
 * reported with the next one let through. */
bool say_allowed(void);

/* The messages kept, oldest first, with their time: malloc'ed, NULL when memory is out. */
char *say_recent(void);

#endif
