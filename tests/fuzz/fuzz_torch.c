/*
 * Files of torch.save: the input once as a pickle in an archive that is right, once as the archive itself. What is
 * accepted must lie within the file and be readable. Start it with -dict=tests/fuzz/fuzz_torch.dict.
 */
#include "core/source/torch_file.h"
#include "core/tensor/tensor.h"
#include "tests/unit/torch_writer.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first and the last elements of a tensor. */
static void read_ends(struct source *s, uint32_t index)
{
	struct err err = ERR_INIT;
	struct build b = { s->arena, &err };
	const struct tensor *t = t_source(&b, s, index);
	struct tensor_ctx ctx = { s, scratch_new(), &err };
	unsigned char out[64 * 8];
	uint64_t n;

	if (t && ctx.scratch) {
		n = t->n < 64 ? t->n : 64;
		if (tensor_read(t, 0, n, out, &ctx) || tensor_read(t, t->n - n, n, out, &ctx))
			abort();
	}
	scratch_free(ctx.scratch);
}

static void check_tensors(struct source *s, const tensor_vec *tensors)
{
	s->tensors = tensors->v;
	s->n_tensors = (uint32_t)tensors->n;
	for (uint32_t i = 0; i < s->n_tensors; i++) {
		const struct source_tensor *t = &s->tensors[i];

		if (t->offset > s->files[0].size_bytes || t->size_bytes > s->files[0].size_bytes - t->offset)
			abort();
		if (t->name && i < 256)
			read_ends(s, i);
	}
}

static void read_file(const void *p, size_t n)
{
	struct source_file file = { .name = "fuzz.bin", .fd = memfd_create("fuzz", MFD_CLOEXEC), .size_bytes = n };
	struct source s = { .arena = arena_new(), .path = "/", .files = &file, .n_files = 1 };
	tensor_vec tensors = VEC_INIT, others = VEC_INIT;
	struct pickle_value root;
	struct err err = ERR_INIT;
	struct stat st;

	if (file.fd >= 0 && s.arena && write(file.fd, p, n) == (ssize_t)n && !fstat(file.fd, &st)) {
		file.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		if (!torch_read(&file, 0, s.arena, &tensors, &err))
			check_tensors(&s, &tensors);
		err_clear(&err);
		if (!torch_read_value(&file, 0, s.arena, 0, &root, &others, &err))
			check_tensors(&s, &others);
	}
	vec_free(&tensors);
	vec_free(&others);
	arena_free(s.arena);
	if (file.fd >= 0)
		close(file.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char storage[48];
	struct zip_writer z = { 0 };

	zip_add(&z, "a/data.pkl", data, size);
	zip_add(&z, "a/data/0", storage, sizeof(storage));
	zip_end(&z);
	if (!z.out.failed)
		read_file(z.out.p, z.out.n);
	zip_writer_free(&z);
	read_file(data, size);
	return 0;
}
