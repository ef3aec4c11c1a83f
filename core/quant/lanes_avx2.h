/* The lanes of lanes.h with AVX2: eight. Only for files compiled with AVX2. */
#ifndef CORE_QUANT_LANES_AVX2_H
#define CORE_QUANT_LANES_AVX2_H

#include "core/quant/kernels.h"

#include <immintrin.h>

#define LANES 8
#define TIER(name) name##_avx2

typedef __m256 vf, vm; /* a mask's lanes are all ones or all zeros */
typedef __m256i vi;

#define v_zero _mm256_setzero_ps
#define v_set _mm256_set1_ps
#define v_load _mm256_loadu_ps
#define v_store _mm256_storeu_ps
#define v_add _mm256_add_ps
#define v_sub _mm256_sub_ps
#define v_mul _mm256_mul_ps
#define v_div _mm256_div_ps
#define v_sqrt _mm256_sqrt_ps
#define v_min _mm256_min_ps
#define v_max _mm256_max_ps
#define v_bits _mm256_castps_si256
#define v_of_bits _mm256_castsi256_ps
#define v_of_int _mm256_cvtepi32_ps
#define v_gt(a, b) _mm256_cmp_ps(a, b, _CMP_GT_OQ)
#define v_lt(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define v_eq(a, b) _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define v_differ(a, b) _mm256_cmp_ps(a, b, _CMP_NEQ_UQ)
#define v_not_gt(a, b) _mm256_cmp_ps(a, b, _CMP_NGT_UQ)
#define v_not_lt(a, b) _mm256_cmp_ps(a, b, _CMP_NLT_UQ)
#define v_not_ge(a, b) _mm256_cmp_ps(a, b, _CMP_NGE_UQ)
#define i_set _mm256_set1_epi32
#define i_add _mm256_add_epi32
#define i_sub _mm256_sub_epi32
#define i_and _mm256_and_si256
#define i_or _mm256_or_si256
#define i_min _mm256_min_epi32
#define i_max _mm256_max_epi32
#define i_srl(v, n) _mm256_srli_epi32(v, n)
#define i_sll(v, n) _mm256_slli_epi32(v, n)
#define i_eq(a, b) _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b))
#define i_gt(a, b) _mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b))
#define m_none _mm256_setzero_ps
#define m_and _mm256_and_ps
#define m_or _mm256_or_ps

static inline vf v_abs(vf v)
{
	return _mm256_andnot_ps(v_set(-0.0f), v);
}

static inline vf v_negate(vf v)
{
	return _mm256_xor_ps(v, v_set(-0.0f));
}

static inline vi i_load(const int32_t *p)
{
	return _mm256_loadu_si256((const __m256i *)p);
}

static inline void i_store(int32_t *p, vi v)
{
	_mm256_storeu_si256((__m256i *)p, v);
}

/* To nearest, ties to even. */
static inline vf v_round(vf v)
{
	return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Exact for whole numbers below 2^31. */
static inline vi v_int(vf v)
{
	return _mm256_cvtps_epi32(v);
}

/* Toward zero, below 2^31. */
static inline vi v_truncate(vf v)
{
	return _mm256_cvttps_epi32(v);
}

static inline vf v_select(vm mask, vf yes, vf no)
{
	return _mm256_blendv_ps(no, yes, mask);
}

/* v where the mask holds, elsewhere 0. */
static inline vf v_keep(vm mask, vf v)
{
	return _mm256_and_ps(mask, v);
}

/* 0 where the mask holds, elsewhere v. */
static inline vf v_clear(vm mask, vf v)
{
	return _mm256_andnot_ps(mask, v);
}

static inline vi i_select(vm mask, vi yes, vi no)
{
	return _mm256_blendv_epi8(no, yes, _mm256_castps_si256(mask));
}

static inline vi i_keep(vm mask, vi v)
{
	return _mm256_and_si256(_mm256_castps_si256(mask), v);
}

static inline vi i_clear(vm mask, vi v)
{
	return _mm256_andnot_si256(_mm256_castps_si256(mask), v);
}

/* v, and one more where the mask holds. */
static inline vi i_count(vi v, vm mask)
{
	return _mm256_sub_epi32(v, _mm256_castps_si256(mask));
}

/* a and not b. */
static inline vm m_without(vm a, vm b)
{
	return _mm256_andnot_ps(b, a);
}

/* Bit k: lane k. */
static inline unsigned m_bits(vm m)
{
	return (unsigned)_mm256_movemask_ps(m);
}

static inline bool m_any(vm m)
{
	return m_bits(m) != 0;
}

static inline bool m_all(vm m)
{
	return m_bits(m) == 255;
}

static inline float v_greatest(vf v)
{
	__m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

	m = _mm_max_ps(m, _mm_movehl_ps(m, m));
	return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

static inline float v_least(vf v)
{
	__m128 m = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

	m = _mm_min_ps(m, _mm_movehl_ps(m, m));
	return _mm_cvtss_f32(_mm_min_ss(m, _mm_movehdup_ps(m)));
}

static inline int i_greatest(vi v)
{
	__m128i m = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	m = _mm_max_epi32(m, _mm_shuffle_epi32(m, 0x4e));
	return _mm_cvtsi128_si32(_mm_max_epi32(m, _mm_shuffle_epi32(m, 0xb1)));
}

/* Tables of 8 and 16 floats, looked up by index lanes in that range. */
typedef __m256 v_table8;
typedef struct {
	__m256 low, high;
} v_table16;

#define v_load_table8 _mm256_loadu_ps

static inline v_table16 v_load_table16(const float p[16])
{
	return (v_table16){ v_load(p), v_load(p + 8) };
}

static inline vf v_lookup8(v_table8 t, vi index)
{
	return _mm256_permutevar8x32_ps(t, index);
}

static inline vf v_lookup16(v_table16 t, vi index)
{
	return v_select(v_of_bits(i_sll(index, 28)), v_lookup8(t.high, index), v_lookup8(t.low, index));
}

/* binary16 of a float that is no NaN. */
static inline uint16_t half(float f)
{
	return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
}


/* Four rows' halves -> one column in each half: lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7. */
ALWAYS_INLINE void transpose4(__m256 r[4])
{
	__m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
	__m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);

	r[0] = _mm256_shuffle_ps(a, c, 0x44);
	r[1] = _mm256_shuffle_ps(a, c, 0xee);
	r[2] = _mm256_shuffle_ps(b, d, 0x44);
	r[3] = _mm256_shuffle_ps(b, d, 0xee);
}

/* r[j] lane k = r[k] lane j. */
ALWAYS_INLINE void v_transpose(vf r[8])
{
	__m256 top[4] = { r[0], r[1], r[2], r[3] }, bottom[4] = { r[4], r[5], r[6], r[7] };

	transpose4(top);
	transpose4(bottom);
	for (int k = 0; k < 4; k++) {
		r[k] = _mm256_permute2f128_ps(top[k], bottom[k], 0x20);
		r[4 + k] = _mm256_permute2f128_ps(top[k], bottom[k], 0x31);
	}
}

/* 32 ints of 8 bits' range -> bytes in order. */
static inline __m256i bytes32(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i r = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));

	return _mm256_permutevar8x32_epi32(r, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* 16 ints of 8 bits' range -> bytes. */
static inline void store_bytes16(const vi v[16 / LANES], uint8_t *out)
{
	__m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(v[0], v[1]), 0xd8);

	_mm_storeu_si128((__m128i *)out, _mm_packs_epi16(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1)));
}

/* Bit k: value k is at least 0. */
static inline void store_signs128(const float *x, uint8_t out[16])
{
	for (int j = 0; j < 16; j++)
		out[j] = (uint8_t)m_bits(_mm256_cmp_ps(v_load(x + 8 * j), v_zero(), _CMP_GE_OQ));
}

/* Bit 4 of each byte. */
static inline void store_fifth_bits(const uint8_t q[32], uint8_t qh[4])
{
	__m256i v = _mm256_loadu_si256((const __m256i *)q);
	uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(v, 3));

	memcpy(qh, &bits, sizeof(bits));
}

static inline vf v_load_half(const uint16_t *p)
{
	return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

static inline void v_store_half(uint16_t *p, vf v)
{
	_mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

static inline vi i_load_u16(const uint16_t *p)
{
	return _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
}

/* The low halves of a and b. */
static inline void i_store_u16(uint16_t *p, vi a, vi b)
{
	_mm256_storeu_si256((__m256i *)p, _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8));
}

#endif
