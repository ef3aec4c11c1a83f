/*
 * Messages: one line each, "hfgguf: …" on stderr, or in the system log once a mount is in the background.
 * The latest ones are kept for .hfgguf/log. Thread safe.
 */
#ifndef FS_SAY_H
#define FS_SAY_H

#include <stdarg.h>

void say_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_verror(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* From now on to syslog: nobody reads stderr any more. */
void say_to_syslog(void);

/* For errors a client can repeat without end: the first few in any ten seconds are said, the number of the others comes
 * with the next one. Not kept: the core's log has them. */
void say_repeated(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The messages kept, oldest first, with their time: malloc'ed, NULL when memory is out. */
char *say_recent(void);

#endif
