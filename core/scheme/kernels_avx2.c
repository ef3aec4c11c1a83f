/* The loops of kernels.c, eight values at a time. */
#ifdef __x86_64__

#include "core/scheme/kernels.h"

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2,f16c")))

/* Eight fields of a word, `first` bits up. */
AVX2 static inline __m256 fields(uint32_t word, __m256i shifts, __m256i mask)
{
	return _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32((int)word), shifts), mask));
}

AVX2 static void unpack4(const uint32_t *w, size_t stride, size_t n_words, float *out)
{
	const __m256i shifts = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28), mask = _mm256_set1_epi32(15);

	for (size_t i = 0; i < n_words; i++, w += stride, out += 8)
		_mm256_storeu_ps(out, fields(*w, shifts, mask));
}

AVX2 static void unpack2(const uint32_t *w, size_t stride, size_t n_words, float *out)
{
	const __m256i shifts = _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14), mask = _mm256_set1_epi32(3);

	for (size_t i = 0; i < n_words; i++, w += stride, out += 16) {
		_mm256_storeu_ps(out, fields(*w, shifts, mask));
		_mm256_storeu_ps(out + 8, fields(*w >> 16, shifts, mask));
	}
}

AVX2 static void unpack8(const uint32_t *w, size_t stride, size_t n_words, float *out)
{
	for (size_t i = 0; i < n_words; i++, w += stride, out += 4)
		_mm_storeu_ps(out, _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_cvtsi32_si128((int)*w))));
}

/* Widths that leave bits of a word over: what is stored behind a word's values is overwritten by the next word's. */
AVX2 static void unpack_odd(const uint32_t *w, size_t stride, unsigned bits, size_t n_words, float *out)
{
	const int b = (int)bits;
	const __m256i shifts = _mm256_setr_epi32(0, b, 2 * b, 3 * b, 4 * b, 5 * b, 6 * b, 7 * b);
	const __m256i mask = _mm256_set1_epi32((1 << b) - 1);
	unsigned per_word = 32 / bits;
	size_t i = 0;

	for (; i + 3 < n_words; i++, w += stride, out += per_word) {
		_mm256_storeu_ps(out, fields(*w, shifts, mask));
		if (per_word > 8)
			_mm256_storeu_ps(out + 8, fields(*w >> 8 * bits, shifts, mask));
	}
	scheme_kernels_c.unpack(w, stride, bits, n_words - i, out);
}

AVX2 static void unpack_avx2(const uint32_t *w, size_t stride, unsigned bits, size_t n_words, float *out)
{
	if (bits == 4)
		unpack4(w, stride, n_words, out);
	else if (bits == 8)
		unpack8(w, stride, n_words, out);
	else if (bits == 2)
		unpack2(w, stride, n_words, out);
	else if (bits > 2)
		unpack_odd(w, stride, bits, n_words, out);
	else
		scheme_kernels_c.unpack(w, stride, bits, n_words, out);
}

/* 64-bit lanes, shifted so that a value is at the bottom of each, to eight 32-bit ones. */
AVX2 static void stream_avx2(const uint8_t *p, unsigned bits, size_t n_eights, float *out)
{
	const long long b = bits;
	const __m256i low = _mm256_setr_epi64x(0, b, 2 * b, 3 * b), high = _mm256_add_epi64(low,
		_mm256_set1_epi64x(4 * b));
	const __m256i mask = _mm256_set1_epi32((1 << bits) - 1), order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);

	for (size_t i = 0; i < n_eights; i++, p += bits, out += 8) {
		long long word;
		__m256i v, x, y;

		memcpy(&word, p, sizeof(word));
		v = _mm256_set1_epi64x(word);
		x = _mm256_srlv_epi64(v, low);
		y = _mm256_slli_epi64(_mm256_srlv_epi64(v, high), 32);
		x = _mm256_and_si256(_mm256_blend_epi32(x, y, 0xAA), mask); /* 0 4 1 5 2 6 3 7 */
		_mm256_storeu_ps(out, _mm256_cvtepi32_ps(_mm256_permutevar8x32_epi32(x, order)));
	}
}

AVX2 static void affine_avx2(float *x, const struct run *runs, size_t n_runs, const float *zeros, const float *scales)
{
	for (size_t i = 0; i < n_runs; i++) {
		float zero = zeros[runs[i].group], scale = scales[runs[i].group];
		const __m256 z = _mm256_set1_ps(zero), s = _mm256_set1_ps(scale);
		uint32_t c = runs[i].start, end = runs[i].end;

		for (; c + 8 <= end; c += 8)
			_mm256_storeu_ps(x + c, _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + c), z), s));
		for (; c < end; c++)
			x[c] = (x[c] - zero) * scale;
	}
}

AVX2 static void affine_by_avx2(float *x, size_t n, const uint32_t *group, const float *zeros, const float *scales)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256i g = _mm256_loadu_si256((const __m256i *)(const void *)(group + i));
		__m256 z = _mm256_i32gather_ps(zeros, g, 4), s = _mm256_i32gather_ps(scales, g, 4);

		_mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_sub_ps(_mm256_loadu_ps(x + i), z), s));
	}
	scheme_kernels_c.affine_by(x + i, n - i, group + i, zeros, scales);
}

AVX2 static void scale_groups_avx2(float *x, size_t n, size_t skip, size_t group, const float *scales)
{
	for (size_t i = 0, end = group - skip; i < n; end += group, scales++) {
		const __m256 s = _mm256_set1_ps(*scales);
		size_t stop = end < n ? end : n;

		for (; i + 8 <= stop; i += 8)
			_mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), s));
		for (; i < stop; i++)
			x[i] *= *scales;
	}
}

AVX2 static void i8_avx2(const int8_t *w, size_t n, float scale, float *out)
{
	const __m256 s = _mm256_set1_ps(scale);
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256i v = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)(w + i)));

		_mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_cvtepi32_ps(v), s));
	}
	scheme_kernels_c.i8(w + i, n - i, scale, out + i);
}

AVX2 static void lookup_avx2(const uint8_t *w, size_t n_bytes, bool high_first, const float *table, float *out)
{
	const __m256 low = _mm256_loadu_ps(table), high = _mm256_loadu_ps(table + 8);
	const __m256i shifts = high_first ? _mm256_setr_epi32(4, 0, 12, 8, 20, 16, 28, 24)
					  : _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
	size_t i = 0;

	for (; i + 4 <= n_bytes; i += 4, out += 8) {
		uint32_t word;
		__m256i code;
		__m256 x, y;

		memcpy(&word, w + i, 4);
		code = _mm256_srlv_epi32(_mm256_set1_epi32((int)word), shifts);
		x = _mm256_permutevar8x32_ps(low, code); /* of the lowest three bits */
		y = _mm256_permutevar8x32_ps(high, code);
		_mm256_storeu_ps(out, _mm256_blendv_ps(x, y, _mm256_castsi256_ps(_mm256_slli_epi32(code, 28))));
	}
	scheme_kernels_c.lookup(w + i, n_bytes - i, high_first, table, out);
}

AVX2 static void lookup2_avx2(const uint8_t *w, size_t n, unsigned shift, const float *table, float *out)
{
	const __m256 values = _mm256_broadcast_ps((const __m128 *)(const void *)table);
	const __m256i mask = _mm256_set1_epi32(3);
	const __m128i by = _mm_cvtsi32_si128((int)shift);
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		__m256i v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(w + i)));

		v = _mm256_and_si256(_mm256_srl_epi32(v, by), mask);
		_mm256_storeu_ps(out + i, _mm256_permutevar_ps(values, v));
	}
	scheme_kernels_c.lookup2(w + i, n - i, shift, table, out + i);
}

#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))

/* Eight columns of eight rows -> eight rows of eight columns. */
AVX2 INLINE void turn_over(__m256 v[8])
{
	__m256 a[8], b[8];

	UNROLL
	for (int i = 0; i < 8; i += 2) {
		a[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
		a[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
	}
	UNROLL
	for (int i = 0; i < 8; i += 4) {
		UNROLL
		for (int k = 0; k < 2; k++) {
			b[i + 2 * k] = _mm256_shuffle_ps(a[i + k], a[i + k + 2], 0x44);
			b[i + 2 * k + 1] = _mm256_shuffle_ps(a[i + k], a[i + k + 2], 0xEE);
		}
	}
	UNROLL
	for (int i = 0; i < 4; i++) {
		v[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
		v[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
	}
}

AVX2 INLINE bool all_same(const uint32_t group[8])
{
	const __m256i g = _mm256_loadu_si256((const __m256i *)(const void *)group);

	return _mm256_movemask_epi8(_mm256_cmpeq_epi32(g, _mm256_set1_epi32((int)group[0]))) == -1;
}

/* Eight columns, from the codes of which each vector has eight rows. */
AVX2 INLINE void tile_eight(const struct tile *t, size_t c, const __m256i codes[8], unsigned n_rows, float *out,
			    size_t out_pitch)
{
	const uint32_t *group = t->group + c;
	const float *zeros = t->zeros + group[0] * t->row_pitch, *scales = t->scales + group[0] * t->row_pitch;
	const bool same = all_same(group);
	__m256 v[8], zero = _mm256_loadu_ps(zeros), scale = _mm256_loadu_ps(scales);

	UNROLL
	for (int i = 0; i < 8; i++) {
		if (!same) {
			zero = _mm256_loadu_ps(t->zeros + group[i] * t->row_pitch);
			scale = _mm256_loadu_ps(t->scales + group[i] * t->row_pitch);
		}
		v[i] = _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(codes[i]), zero), scale);
	}
	turn_over(v);
	if (n_rows == 8) {
		UNROLL
		for (int i = 0; i < 8; i++)
			_mm256_storeu_ps(out + (size_t)i * out_pitch, v[i]);
		return;
	}
	for (unsigned i = 0; i < n_rows; i++)
		_mm256_storeu_ps(out + i * out_pitch, v[i]);
}

AVX2 static void tile_across(const struct tile *t, size_t n, unsigned n_rows, float *out, size_t out_pitch)
{
	const __m256i mask = _mm256_set1_epi32(15), by = _mm256_loadu_si256((const __m256i *)(const void *)t->across);
	const uint32_t *w = t->words;

	for (size_t c = 0; c < n; c += 8, out += 8) {
		__m256i codes[8];

		UNROLL
		for (int i = 0; i < 8; i++, w += t->pitch)
			codes[i] = _mm256_and_si256(_mm256_srlv_epi32(_mm256_set1_epi32((int)*w), by), mask);
		tile_eight(t, c, codes, n_rows, out, out_pitch);
	}
}

AVX2 INLINE __m256i eight_words(const uint32_t *w)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)w);
}

/* Columns that begin with a word, of which eight are whole words. */
AVX2 INLINE void tile_words(const struct tile *t, size_t n, unsigned n_rows, float *out, size_t out_pitch, int bits)
{
	const __m256i mask = _mm256_set1_epi32((1 << bits) - 1);
	const int per_word = 32 / bits;
	const uint32_t *w = t->words;

	for (size_t c = 0; c < n; c += 8, out += 8) {
		__m256i codes[8], v = eight_words(w);

		UNROLL
		for (int i = 0; i < 8; i++) {
			if (i && i % per_word == 0)
				v = eight_words(w + (size_t)(i / per_word) * t->pitch);
			codes[i] = _mm256_and_si256(_mm256_srli_epi32(v, i % per_word * bits), mask);
		}
		w += (size_t)(8 / per_word) * t->pitch;
		tile_eight(t, c, codes, n_rows, out, out_pitch);
	}
}

AVX2 static void tile_along(const struct tile *t, size_t n, unsigned n_rows, float *out, size_t out_pitch)
{
	const __m256i mask = _mm256_set1_epi32((1 << t->bits) - 1);
	const unsigned log2 = (unsigned)__builtin_ctz(32 / t->bits), in_word = 32 / t->bits - 1;

	if (!t->first && t->bits == 4) {
		tile_words(t, n, n_rows, out, out_pitch, 4);
		return;
	}
	if (!t->first && t->bits == 8) {
		tile_words(t, n, n_rows, out, out_pitch, 8);
		return;
	}
	for (size_t c = 0; c < n; c += 8, out += 8) {
		__m256i codes[8];

		UNROLL
		for (size_t i = 0; i < 8; i++) {
			size_t col = c + i + t->first;

			codes[i] = _mm256_srl_epi32(eight_words(t->words + (col >> log2) * t->pitch),
						    _mm_cvtsi32_si128((int)((col & in_word) * t->bits)));
			codes[i] = _mm256_and_si256(codes[i], mask);
		}
		tile_eight(t, c, codes, n_rows, out, out_pitch);
	}
}

AVX2 static void tile_avx2(const struct tile *t, size_t n, unsigned n_rows, float *out, size_t out_pitch)
{
	size_t whole = n & ~(size_t)7;

	if (t->across)
		tile_across(t, whole, n_rows, out, out_pitch);
	else
		tile_along(t, whole, n_rows, out, out_pitch);
	tile_columns(t, whole, n, n_rows, out, out_pitch);
}

/* Nibbles as bytes in their order: of the first eight bytes of each half, and of the others. */
AVX2 static inline void split_nibbles(const uint8_t *codes, __m256i *first, __m256i *second)
{
	const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)codes), mask = _mm256_set1_epi8(15);
	const __m256i low = _mm256_and_si256(x, mask), high = _mm256_and_si256(_mm256_srli_epi16(x, 4), mask);

	*first = _mm256_unpacklo_epi8(low, high);
	*second = _mm256_unpackhi_epi8(low, high);
}

AVX2 static void mxfp4_avx2(const uint8_t *codes, const uint8_t *scales, size_t n, uint8_t *out)
{
	size_t i = 0;

	for (; i + 2 <= n; i += 2, codes += MX_VALUES, out += 2 * MX_BYTES) {
		__m256i first, second, both;

		split_nibbles(codes, &first, &second);
		both = _mm256_or_si256(first, _mm256_slli_epi16(second, 4));
		out[0] = scales[i];
		_mm_storeu_si128((__m128i *)(void *)(out + 1), _mm256_castsi256_si128(both));
		out[MX_BYTES] = scales[i + 1];
		_mm_storeu_si128((__m128i *)(void *)(out + MX_BYTES + 1), _mm256_extracti128_si256(both, 1));
	}
	scheme_kernels_c.mxfp4(codes, scales + i, n - i, out);
}

AVX2 static void nvfp4_avx2(const uint8_t *codes, const uint8_t *scales, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++, codes += NV_VALUES / 2, scales += 4, out += NV_BYTES) {
		__m256i first, second, low, high;
		uint32_t four;

		memcpy(&four, scales, sizeof(four));
		four &= 0x7F7F7F7F;
		memcpy(out, &four, sizeof(four));
		split_nibbles(codes, &first, &second);
		low = _mm256_unpacklo_epi64(first, second);
		high = _mm256_unpackhi_epi64(first, second);
		_mm256_storeu_si256((__m256i *)(void *)(out + 4), _mm256_or_si256(low, _mm256_slli_epi16(high, 4)));
	}
}

AVX2 static inline __m256 e4m3(__m256i v)
{
	const __m256i m = _mm256_and_si256(v, _mm256_set1_epi32(0x7F));
	__m256i x = _mm256_add_epi32(_mm256_slli_epi32(m, 20), _mm256_set1_epi32(120 << 23));
	__m256i small = _mm256_castps_si256(_mm256_mul_ps(_mm256_cvtepi32_ps(m), _mm256_set1_ps(0x1p-9f)));

	x = _mm256_blendv_epi8(x, small, _mm256_cmpgt_epi32(_mm256_set1_epi32(8), m));
	x = _mm256_blendv_epi8(x, _mm256_set1_epi32(0x7FF00000), _mm256_cmpeq_epi32(m, _mm256_set1_epi32(0x7F)));
	return _mm256_castsi256_ps(_mm256_or_si256(x, _mm256_slli_epi32(_mm256_srli_epi32(v, 7), 31)));
}

AVX2 static void f8_e4m3_avx2(const uint8_t *w, size_t n, float scale, float *out)
{
	const __m256 s = _mm256_set1_ps(scale);
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(
			out + i,
			_mm256_mul_ps(e4m3(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(w + i)))), s));
	scheme_kernels_c.f8_e4m3(w + i, n - i, scale, out + i);
}

AVX2 static void f8_e5m2_avx2(const uint8_t *w, size_t n, float scale, float *out)
{
	const __m256 s = _mm256_set1_ps(scale);
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		__m128i h = _mm_unpacklo_epi8(_mm_setzero_si128(), _mm_loadl_epi64((const __m128i *)(w + i)));

		_mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_cvtph_ps(h), s));
	}
	scheme_kernels_c.f8_e5m2(w + i, n - i, scale, out + i);
}

const struct scheme_kernels scheme_kernels_avx2 = {
	.unpack = unpack_avx2, .stream = stream_avx2, .affine = affine_avx2, .affine_by = affine_by_avx2,
	.scale_groups = scale_groups_avx2, .i8 = i8_avx2, .lookup = lookup_avx2, .lookup2 = lookup2_avx2,
	.tile = tile_avx2, .mxfp4 = mxfp4_avx2, .nvfp4 = nvfp4_avx2, .f8_e4m3 = f8_e4m3_avx2, .f8_e5m2 = f8_e5m2_avx2,
};

#endif
