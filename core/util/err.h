/*
 * Errors: one sentence to the user, with the file or tensor, the cause and the remedy.
 *
 * Every function that can fail takes a `struct err *` as its last argument and returns 0 (or a
 * pointer) on success, a negative `enum hfgguf_status` (or NULL) on failure. The first error set
 * stays: later err_set calls on a struct that already holds one return its code and change nothing,
 * so unwinding code cannot hide the cause. `err` may not be NULL.
 */
#ifndef CORE_UTIL_ERR_H
#define CORE_UTIL_ERR_H

#include "hfgguf/error.h"

#include <stdarg.h>

struct err {
	int code; /* 0, or a negative enum hfgguf_status */
	char msg[2048];
};

#define ERR_INIT { 0, "" }

/* Sets code and message unless an error is there already; returns the (negative) code held. */
int err_set(struct err *err, enum hfgguf_status code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Same, for the failure of an allocation. */
int err_nomem(struct err *err);

/* err_set with ": strerror(errno)" after the text; ENOMEM gives HFGGUF_NOMEM. */
int err_errno(struct err *err, enum hfgguf_status code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "context: " before a message that is already there (no-op without one). */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void err_clear(struct err *err);

#endif
