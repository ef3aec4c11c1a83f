/* The lanes of lanes.h with AVX-512 F, BW, DQ, VL: sixteen. Only for files compiled with these. */
#ifndef CORE_QUANT_LANES_AVX512_H
#define CORE_QUANT_LANES_AVX512_H

#include "core/quant/kernels.h"

#include <immintrin.h>

#define LANES 16
#define TIER(name) name##_avx512

typedef __m512 vf;
typedef __m512i vi;
typedef __mmask16 vm;

#define v_zero _mm512_setzero_ps
#define v_set _mm512_set1_ps
#define v_load _mm512_loadu_ps
#define v_store _mm512_storeu_ps
#define v_add _mm512_add_ps
#define v_sub _mm512_sub_ps
#define v_mul _mm512_mul_ps
#define v_div _mm512_div_ps
#define v_sqrt _mm512_sqrt_ps
#define v_min _mm512_min_ps
#define v_max _mm512_max_ps
#define v_abs _mm512_abs_ps
#define v_bits _mm512_castps_si512
#define v_of_bits _mm512_castsi512_ps
#define v_of_int _mm512_cvtepi32_ps
#define v_gt(a, b) _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ)
#define v_lt(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define v_eq(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define v_differ(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NEQ_UQ)
#define v_not_gt(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NGT_UQ)
#define v_not_lt(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ)
#define v_not_ge(a, b) _mm512_cmp_ps_mask(a, b, _CMP_NGE_UQ)
#define i_set _mm512_set1_epi32
#define i_add _mm512_add_epi32
#define i_sub _mm512_sub_epi32
#define i_and _mm512_and_si512
#define i_or _mm512_or_si512
#define i_min _mm512_min_epi32
#define i_max _mm512_max_epi32
#define i_srl(v, n) _mm512_srli_epi32(v, n)
#define i_sll(v, n) _mm512_slli_epi32(v, n)
#define i_eq _mm512_cmpeq_epi32_mask
#define i_gt _mm512_cmpgt_epi32_mask

static inline vf v_negate(vf v)
{
	return _mm512_xor_ps(v, v_set(-0.0f));
}

static inline vi i_load(const int32_t *p)
{
	return _mm512_loadu_si512(p);
}

static inline void i_store(int32_t *p, vi v)
{
	_mm512_storeu_si512(p, v);
}

/* To nearest, ties to even. */
static inline vf v_round(vf v)
{
	return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Exact for whole numbers below 2^31. */
static inline vi v_int(vf v)
{
	return _mm512_cvtps_epi32(v);
}

/* Toward zero, below 2^31. */
static inline vi v_truncate(vf v)
{
	return _mm512_cvttps_epi32(v);
}

static inline vf v_select(vm mask, vf yes, vf no)
{
	return _mm512_mask_blend_ps(mask, no, yes);
}

/* v where the mask holds, elsewhere 0. */
static inline vf v_keep(vm mask, vf v)
{
	return _mm512_maskz_mov_ps(mask, v);
}

/* 0 where the mask holds, elsewhere v. */
static inline vf v_clear(vm mask, vf v)
{
	return _mm512_maskz_mov_ps((vm)~mask, v);
}

static inline vi i_select(vm mask, vi yes, vi no)
{
	return _mm512_mask_blend_epi32(mask, no, yes);
}

static inline vi i_keep(vm mask, vi v)
{
	return _mm512_maskz_mov_epi32(mask, v);
}

static inline vi i_clear(vm mask, vi v)
{
	return _mm512_maskz_mov_epi32((vm)~mask, v);
}

/* v, and one more where the mask holds. */
static inline vi i_count(vi v, vm mask)
{
	return _mm512_mask_add_epi32(v, mask, v, i_set(1));
}

static inline vm m_none(void)
{
	return 0;
}

static inline vm m_and(vm a, vm b)
{
	return a & b;
}

static inline vm m_or(vm a, vm b)
{
	return a | b;
}

/* a and not b. */
static inline vm m_without(vm a, vm b)
{
	return (vm)(a & ~b);
}

/* Bit k: lane k. */
static inline unsigned m_bits(vm m)
{
	return m;
}

static inline bool m_any(vm m)
{
	return m != 0;
}

static inline bool m_all(vm m)
{
	return m == 0xffff;
}

static inline float v_greatest(vf v)
{
	return _mm512_reduce_max_ps(v);
}

static inline float v_least(vf v)
{
	return _mm512_reduce_min_ps(v);
}

static inline int i_greatest(vi v)
{
	return _mm512_reduce_max_epi32(v);
}

/* Tables of 8 and 16 floats, looked up by index lanes in that range. */
typedef __m512 v_table8, v_table16;

#define v_load_table16 _mm512_loadu_ps

static inline v_table8 v_load_table8(const float p[8])
{
	return _mm512_castps256_ps512(_mm256_loadu_ps(p));
}

static inline vf v_lookup16(v_table16 t, vi index)
{
	return _mm512_permutexvar_ps(index, t);
}

#define v_lookup8 v_lookup16

/* binary16 of a float that is no NaN. */
static inline uint16_t half(float f)
{
	return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT);
}

/* Columns within each of the four quarters: r[4 i + j] quarter q = rows 4 i .. 4 i + 3 of column 4 q + j. */
ALWAYS_INLINE void transpose_quarters(vf r[16])
{
	for (int i = 0; i < 16; i += 4) {
		vf a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
		vf c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);

		r[i] = _mm512_shuffle_ps(a, c, 0x44);
		r[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
		r[i + 2] = _mm512_shuffle_ps(b, d, 0x44);
		r[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
	}
}

/* r[j] lane k = r[k] lane j. */
ALWAYS_INLINE void v_transpose(vf r[16])
{
	transpose_quarters(r);
	for (int j = 0; j < 4; j++) {
		vf a = _mm512_shuffle_f32x4(r[j], r[4 + j], 0x44), b = _mm512_shuffle_f32x4(r[j], r[4 + j], 0xee);
		vf c = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0x44),
		   d = _mm512_shuffle_f32x4(r[8 + j], r[12 + j], 0xee);

		r[j] = _mm512_shuffle_f32x4(a, c, 0x88);
		r[4 + j] = _mm512_shuffle_f32x4(a, c, 0xdd);
		r[8 + j] = _mm512_shuffle_f32x4(b, d, 0x88);
		r[12 + j] = _mm512_shuffle_f32x4(b, d, 0xdd);
	}
}

/* 16 ints of 8 bits' range -> bytes. */
static inline void store_bytes16(const vi v[16 / LANES], uint8_t *out)
{
	_mm_storeu_si128((__m128i *)out, _mm512_cvtepi32_epi8(v[0]));
}

/* Bit k: value k is at least 0. */
static inline void store_signs128(const float *x, uint8_t out[16])
{
	for (int j = 0; j < 8; j++) {
		uint16_t bits = _mm512_cmp_ps_mask(v_load(x + 16 * j), v_zero(), _CMP_GE_OQ);

		memcpy(out + 2 * j, &bits, sizeof(bits));
	}
}

/* Bit 4 of each byte. */
static inline void store_fifth_bits(const uint8_t q[32], uint8_t qh[4])
{
	uint32_t bits = _mm256_test_epi8_mask(_mm256_loadu_si256((const __m256i *)q), _mm256_set1_epi8(16));

	memcpy(qh, &bits, sizeof(bits));
}

static inline vf v_load_half(const uint16_t *p)
{
	return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

static inline void v_store_half(uint16_t *p, vf v)
{
	_mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

static inline vi i_load_u16(const uint16_t *p)
{
	return _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
}

/* The low halves of a and b. */
static inline void i_store_u16(uint16_t *p, vi a, vi b)
{
	_mm256_storeu_si256((__m256i *)p, _mm512_cvtepi32_epi16(a));
	_mm256_storeu_si256((__m256i *)(p + 16), _mm512_cvtepi32_epi16(b));
}

#endif
