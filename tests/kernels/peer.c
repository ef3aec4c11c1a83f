/* dlopen of libggml-base. Its aborts are caught: it asserts on blocks where no grid point wins. */
#include "tests/kernels/peer.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>

struct peer_traits { /* struct ggml_type_traits of ggml.h */
	const char *type_name;
	int64_t blck_size, blck_size_interleave;
	size_t type_size;
	bool is_quantized;
	void (*to_float)(const void *src, float *dst, int64_t n);
	void (*from_float)(const float *src, void *dst, int64_t n);
};

static size_t (*quantize_chunk)(int type, const float *src, void *dst, int64_t start, int64_t n_rows, int64_t n_per_row,
				const float *weights);
static const struct peer_traits *(*get_type_traits)(int type);
static jmp_buf on_abort;

static void leave(const char *message)
{
	(void)message;
	longjmp(on_abort, 1);
}

static void *symbol(void *lib, const char *name)
{
	void *p = dlsym(lib, name);

	if (!p)
		fprintf(stderr, "check_kernels: %s\n", dlerror());
	return p;
}

bool peer_load(const char *path)
{
	void *lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	void *(*set_abort)(void (*)(const char *));

	if (!lib) {
		fprintf(stderr, "check_kernels: %s\n", dlerror());
		return false;
	}
	*(void **)&quantize_chunk = symbol(lib, "ggml_quantize_chunk");
	*(void **)&get_type_traits = symbol(lib, "ggml_get_type_traits");
	*(void **)&set_abort = symbol(lib, "ggml_set_abort_callback");
	if (!quantize_chunk || !get_type_traits || !set_abort)
		return false;
	set_abort(leave);
	return true;
}

bool peer_loaded(void)
{
	return quantize_chunk != NULL;
}

bool peer_quantize(enum ggml_type t, const float *src, void *dst, size_t n_rows, size_t n_per_row, const float *weights)
{
	if (setjmp(on_abort))
		return false;
	quantize_chunk((int)t, src, dst, 0, (int64_t)n_rows, (int64_t)n_per_row, weights);
	return true;
}

bool peer_dequantize(enum ggml_type t, const void *src, float *dst, size_t n_values)
{
	const struct peer_traits *traits = get_type_traits((int)t);

	if (!traits->to_float)
		return false;
	traits->to_float(src, dst, (int64_t)n_values);
	return true;
}
